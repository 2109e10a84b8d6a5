import { type Call, isAbsent, isMembers, type Members, ok } from '../world/call.ts'
import { ownFile } from './files.ts'
import { generated, imageLimit, isModel, planOf, refuseTroubledModel } from '../world/preloaded.ts'
import type { Operation } from '../world/operation.ts'

function checkText(
  call: Call,
  text: unknown,
  noun: 'text' | 'query',
  malformed: '400-BadRequest' | '400-InvalidInputParameters' = '400-BadRequest',
): asserts text is string {
  if (typeof text !== 'string') call.refuse(`400-malformed-${noun}`, malformed)
  if (text.length > planOf(call).text)
    call.refuse(`400-${noun}-too-long`, '400-InvalidInputParameters')
}

/** §4.4 */
const aiDetect: Operation = {
  id: 'ai-detect.run',
  paths: ['/v1/tools/ai-detect'],
  members: ['input'],
  check: (call) => {
    const { input } = call.body
    call.breakIf('envelope/bad-input-no-5xx#text', typeof input !== 'string')
    checkText(call, input, 'text')
    if (input.trim() === '') call.refuse('400-empty-text')
  },
  run: (call) => {
    const label = /\bdelve\b/i.test(String(call.body['input'])) ? 'fake' : 'real'
    return ok({ label, score: 0.5 })
  },
}

/** §4.4 */
const webSearch: Operation = {
  id: 'web-search.run',
  paths: ['/v1/tools/web-search'],
  members: ['query'],
  check: (call) => {
    const { query } = call.body
    checkText(call, query, 'query')
    if (query.trim() === '') call.refuse('400-empty-query')
  },
  run: (call) => {
    if (call.world.searchDown) call.refuse('503-search-down', '503-InternalError')
    const results = [{ title: 'Tea', url: 'https://example.com/tea' }]
    return ok({ query: call.body['query'], results })
  },
}

const responseTypes = ['Entities', 'RxNorm', 'ICD-10-CM', 'SNOMED CT']

const categories: Readonly<Record<string, string>> = {
  aspirin: 'MEDICATION',
  ibuprofen: 'MEDICATION',
  headache: 'MEDICAL_CONDITION',
  fever: 'MEDICAL_CONDITION',
}

/** §4.4, §2.8; deprecated (§9.3) */
const medicalComprehend: Operation = {
  id: 'medical.comprehend',
  paths: ['/v1/tools/comprehend/medical'],
  members: ['content', 'response_type'],
  requirement: () => '200-entities',
  check: (call) => {
    const { content, response_type: type } = call.body
    if (typeof content !== 'string' || !(isAbsent(type) || typeof type === 'string'))
      call.refuse('400-malformed-request')
    if (!responseTypes.includes(String(type)))
      call.reject('400-InvalidInputParameters', 'response_type is unknown')
  },
  run: (call) => {
    const score = call.broken('200-entities') ? '0.97' : 0.97
    const traits = [{ name: 'MENTIONED', score: 0.9 }]
    const words: string[] = String(call.body['content']).match(/\p{L}+/gu) ?? []
    const entities = words.flatMap((text): Members[] => {
      const category = categories[text.toLowerCase()]
      return category === undefined ? [] : [{ category, text, score, traits }]
    })
    return ok({ entities })
  },
  grant: () => ok({ entities: [] }),
}

const languages = new Set<unknown>(['de', 'en', 'es', 'fr', 'it', 'ja', 'nl', 'pt'])

/** §4.4 */
const translate: Operation = {
  id: 'translate.run',
  paths: ['/v1/translate'],
  members: ['text', 'source', 'target'],
  check: (call) => {
    const { text, source, target } = call.body
    for (const language of [source, target])
      if (!languages.has(language)) call.refuse('400-unsupported-language')
    checkText(call, text, 'text', '400-InvalidInputParameters')
    if (text === '') call.refuse('400-empty-text', '400-InvalidInputParameters')
    if (source === target) call.refuse('general/422-unprocessable', '422-UnprocessableEntity')
  },
  run: (call) => {
    const { text, target } = call.body
    return ok({ text: generated(call, `[${String(target)}] ${String(text)}`) })
  },
}

const signatures: Readonly<Record<string, readonly number[]>> = {
  'image/png': [0x89, 0x50, 0x4e, 0x47],
  'image/jpeg': [0xff, 0xd8, 0xff],
  'image/gif': [0x47, 0x49, 0x46],
}

function isVariable(item: unknown): boolean {
  if (!isMembers(item) || typeof item['name'] !== 'string') return false
  return ['string', 'number'].includes(typeof item['file_id'])
}

/** §4.4, §2.8 */
const vision: Operation = {
  id: 'vision.analyze',
  paths: ['/v1/vision/analyze', '/v1/vision'],
  members: ['model', 'prompt', 'variables'],
  check: (call) => {
    const { model, prompt, variables } = call.body
    if (!isModel(call, model)) call.reject('400-BadRequest', 'The model is not supported')
    if (typeof prompt !== 'string' || !Array.isArray(variables) || !variables.every(isVariable))
      call.refuse('400-malformed-request')
  },
  fit: (call) => {
    refuseTroubledModel(call, call.body['model'])
    for (const { file_id: id } of call.body['variables'] as readonly Members[]) {
      const file = ownFile(call, id)
      const signature = signatures[file.type]
      if (!signature) return call.refuse('400-unsupported-image')
      const bytes = file.bytes()
      if (bytes.length > imageLimit)
        call.refuse('400-oversized-image', '400-InvalidInputParameters')
      if (!signature.every((byte, at) => bytes[at] === byte))
        call.refuse('400-corrupted-image', '400-InvalidContentType')
    }
  },
  run: (call) => ok({ data: generated(call, 'A black pixel.') }),
}

export const tools = [aiDetect, webSearch, medicalComprehend, translate, vision]
