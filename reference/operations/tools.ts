import type { Call, Members } from '../world/call.ts'
import type { Operation } from '../world/operation.ts'
import { planOf } from '../world/plan.ts'
import type { Answer } from '../world/answer.ts'

/** §4.4 */
export const aiDetect: Operation = {
  id: 'ai-detect.run',
  method: 'POST',
  paths: ['/v1/tools/ai-detect'],
  body: 'json',
  members: ['input'],
  check: (call: Call) => {
    const { input } = call.body
    if (typeof input !== 'string' && call.world.switches.broken('envelope/bad-input-no-5xx#text'))
      throw new Error('text')
    if (typeof input !== 'string') call.refuse('400-malformed-text', 400, 'BadRequest')
    if (input.trim() === '') call.refuse('400-empty-text', 400, 'BadRequest')
    if (input.length > planOf(call).text) call.refuse('400-text-too-long', 400, 'InvalidInputParameters')
  },
  run: (call) => ({
    status: 200,
    body: { label: /\bdelve\b/i.test(String(call.body['input'])) ? 'fake' : 'real', score: 0.5 },
  }),
  grant: () => ({ status: 200, body: { label: 'real', score: 0 } }),
}

/** §4.4 */
export const webSearch: Operation = {
  id: 'web-search.run',
  method: 'POST',
  paths: ['/v1/tools/web-search'],
  body: 'json',
  members: ['query'],
  check: (call: Call) => {
    const { query } = call.body
    if (typeof query !== 'string') call.refuse('400-malformed-query', 400, 'BadRequest')
    if (query.trim() === '') call.refuse('400-empty-query', 400, 'BadRequest')
    if (query.length > planOf(call).text) call.refuse('400-query-too-long', 400, 'InvalidInputParameters')
  },
  run: (call: Call) => {
    if (call.world.searchDown) call.refuse('503-search-down', 503, 'InternalError')
    return {
      status: 200,
      body: { query: call.body['query'], results: [{ title: 'Tea', url: 'https://example.com/tea' }] },
    }
  },
  grant: () => ({ status: 200, body: { query: '', results: [] } }),
}

const responseTypes = ['Entities', 'RxNorm', 'ICD-10-CM', 'SNOMED CT']

const categories: Readonly<Record<string, string>> = {
  aspirin: 'MEDICATION',
  ibuprofen: 'MEDICATION',
  headache: 'MEDICAL_CONDITION',
  fever: 'MEDICAL_CONDITION',
}

function run(call: Call): Answer {
  const words: string[] = String(call.body['content']).match(/\p{L}+/gu) ?? []
  const entities: Members[] = words.flatMap((text): Members[] => {
    const category = categories[text.toLowerCase()]
    if (category === undefined) return []
    const entity = { category, text, score: 0.97, traits: [{ name: 'MENTIONED', score: 0.9 }] }
    if (call.broken('200-entities')) return [{ ...entity, score: '0.97' }]
    if (call.broken('200-entities#traits')) return [{ category, text, score: 0.97 }]
    return [entity]
  })
  return { status: 200, body: call.broken('200-entities#missing') ? { result: entities } : { entities } }
}

/** §4.4, §2.8; deprecated (§9.3) */
export const medicalComprehend: Operation = {
  id: 'medical.comprehend',
  method: 'POST',
  paths: ['/v1/tools/comprehend/medical'],
  body: 'json',
  members: ['content', 'response_type'],
  row: () => '200-entities',
  check: (call: Call) => {
    const { content, response_type: type } = call.body
    if (typeof content !== 'string') call.refuse('400-malformed-request', 400, 'BadRequest')
    if (!responseTypes.includes(String(type))) call.reject(400, 'InvalidInputParameters', 'response_type')
  },
  run,
  grant: () => ({ status: 200, body: { entities: [] } }),
}
