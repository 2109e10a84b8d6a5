import type { Answer } from '../world/answer.ts'
import type { Call, Members } from '../world/call.ts'
import type { Operation } from '../world/operation.ts'

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
