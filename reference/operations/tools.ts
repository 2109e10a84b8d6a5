import { type Call, isMembers, type Members } from '../world/call.ts'
import type { Operation } from '../world/operation.ts'
import { imageLimit, planOf, generated, isModel, refuseTroubledModel } from '../world/models.ts'
import type { Answer } from '../world/answer.ts'
import { inArray, lengthened, ofForm } from '../world/created.ts'
import { countUp } from '../world/world.ts'
import { fileNamed } from '../world/files.ts'

/** §4.4 */
export const aiDetect: Operation = {
  id: 'ai-detect.run',
  paths: ['/v1/tools/ai-detect'],
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
  paths: ['/v1/tools/web-search'],
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

function comprehend(call: Call): Answer {
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
  paths: ['/v1/tools/comprehend/medical'],
  members: ['content', 'response_type'],
  requirement: () => '200-entities',
  check: (call: Call) => {
    const { content, response_type: type } = call.body
    if (typeof content !== 'string') call.refuse('400-malformed-request', 400, 'BadRequest')
    if (!responseTypes.includes(String(type))) call.reject(400, 'InvalidInputParameters', 'response_type')
  },
  run: comprehend,
  grant: () => ({ status: 200, body: { entities: [] } }),
}

const languages = new Set(['de', 'en', 'es', 'fr', 'it', 'ja', 'nl', 'pt'])

function checkTranslation(call: Call): void {
  const { text, source, target } = call.body
  for (const [kind, language] of Object.entries({ source, target })) {
    if (typeof language !== 'string' || !languages.has(language)) {
      const again = countUp(call.world, `${kind} ${String(language)}`) > 1
      call.refuse('400-unsupported-language', 400, 'BadRequest', {
        description: `No ${kind} ${String(language)}`,
        kind:
          typeof language === 'string'
            ? [kind, ...lengthened(language, languages), ...ofForm(language, languages), ...(again ? ['again'] : [])]
            : [kind, 'type', ...(inArray(language, languages) ? ['in-array'] : [])],
      })
    }
  }
  if (typeof text !== 'string') call.refuse('400-malformed-text', 400, 'InvalidInputParameters')
  if (text === '') call.refuse('400-empty-text', 400, 'InvalidInputParameters')
  if (text.length > planOf(call).text) call.refuse('400-text-too-long', 400, 'InvalidInputParameters')
  // Semantically invalid (§7.2): there is nothing to translate.
  if (source === target) call.refuse('general/422-unprocessable', 422, 'UnprocessableEntity')
}

/** §4.4 */
export const translate: Operation = {
  id: 'translate.run',
  paths: ['/v1/translate'],
  members: ['text', 'source', 'target'],
  check: checkTranslation,
  run: (call) => ({
    status: 200,
    body: { text: generated(call, `[${String(call.body['target'])}] ${String(call.body['text'])}`) },
  }),
  grant: () => ({ status: 200, body: { text: '' } }),
}

const signatures: Readonly<Record<string, readonly number[]>> = {
  'image/png': [0x89, 0x50, 0x4e, 0x47],
  'image/jpeg': [0xff, 0xd8, 0xff],
  'image/gif': [0x47, 0x49, 0x46],
}

interface Variable {
  readonly name: string
  readonly file_id: string | number
}

function isVariable(item: unknown): item is Variable {
  if (!isMembers(item) || typeof item['name'] !== 'string') return false
  return typeof item['file_id'] === 'string' || typeof item['file_id'] === 'number'
}

function checkImage(call: Call): void {
  const { model, prompt, variables } = call.body
  if (!isModel(call, model)) call.reject(400, 'BadRequest', 'model is not supported')
  if (typeof prompt !== 'string') call.refuse('400-malformed-request', 400, 'BadRequest', { kind: 'prompt' })
  if (!(Array.isArray(variables) && variables.every(isVariable)))
    call.refuse('400-malformed-request', 400, 'BadRequest', { kind: 'variables' })
}

function fitImage(call: Call): void {
  refuseTroubledModel(call, call.body['model'])
  for (const variable of call.body['variables'] as readonly Variable[]) {
    const file = fileNamed(call, variable.file_id, `${variable.name} names no file`)
    const signature = signatures[file.type]
    if (!signature) call.refuse('400-unsupported-image', 400, 'BadRequest')
    const bytes = file.bytes()
    if (bytes.length > imageLimit) call.refuse('400-oversized-image', 400, 'InvalidInputParameters')
    if (!signature.every((byte, at) => bytes[at] === byte)) {
      call.refuse('400-corrupted-image', 400, 'InvalidContentType')
    }
  }
}

/** §4.4, §2.8 */
export const vision: Operation = {
  id: 'vision.analyze',
  paths: ['/v1/vision/analyze', '/v1/vision'],
  members: ['model', 'prompt', 'variables'],
  check: checkImage,
  fit: fitImage,
  run: (call) => ({ status: 200, body: { data: generated(call, 'A black pixel.') } }),
  grant: () => ({ status: 200, body: { data: '' } }),
}
