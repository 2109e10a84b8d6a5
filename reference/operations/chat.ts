import { type Answer, type Call, isAbsent, isMembers, type Members } from '../world/call.ts'
import { generated, guard, isModel, refuseTroubledModel } from '../world/preloaded.ts'
import type { Operation } from '../world/operation.ts'
import { countUp } from '../world/world.ts'
import { checkGraphs, checkMessages, checkTools, llmFunctionOf, partsOf } from './chat-checks.ts'

/** A number, or nothing; under `requests/values-coerced` also what can be made a number. */
function isNumber(call: Call, value: unknown): boolean {
  if (typeof value === 'number' || isAbsent(value)) return true
  if (!call.varied('requests/values-coerced')) return false
  return (
    typeof value === 'boolean' ||
    (typeof value === 'string' && value.trim() !== '' && isFinite(Number(value)))
  )
}

function checkCompletion(call: Call): void {
  const { model, prompt, temperature, max_tokens: most, top_p: share } = call.body
  if (typeof model !== 'string') call.refuse('400-malformed-request', '400-BadRequest')
  if (!isModel(call, model)) call.refuse('400-unsupported-model', '400-BadRequest')
  if (typeof prompt !== 'string') call.refuse('400-malformed-request', '400-BadRequest')
  if (prompt === '') call.refuse('400-empty-prompt', '400-InvalidInputParameters')
  if (!isNumber(call, temperature)) call.refuse('400-invalid-temperature', '400-InvalidContentType')
  if (!isNumber(call, most)) call.refuse('400-invalid-max-tokens', '400-InvalidContentType')
  if (typeof most === 'number' && most < 1 && !call.varied('tokens/below-zero-granted'))
    call.reject(
      call.varied('tokens/below-zero-bad-request')
        ? '400-BadRequest'
        : '400-InvalidInputParameters',
    )
  if (!isNumber(call, share)) call.refuse('400-invalid-parameter', '400-InvalidContentType')
}

/** §4.4 */
export const completion: Operation = {
  id: 'completion.create',
  paths: ['/v1/completion'],
  members: ['model', 'prompt', 'temperature', 'max_tokens', 'top_p'],
  check: checkCompletion,
  run: (call) => {
    const { model } = call.body
    refuseTroubledModel(call, model)
    const prompt = String(call.body['prompt'])
    guard(call, prompt, 'model-unsafe-request')
    return {
      status: 200,
      body: { model, choices: [{ text: generated(call, `${prompt} Indeed.`) }] },
    }
  },
  grant: () => ({ status: 200, body: { choices: [{ text: '' }] } }),
}

function isResponseFormat(format: unknown): boolean {
  if (isAbsent(format)) return true
  if (!isMembers(format)) return false
  const { type, json_schema: wanted } = format
  return (
    type === 'text' || (type === 'json_schema' && isMembers(wanted) && isMembers(wanted['schema']))
  )
}

function checkChat(call: Call): void {
  const { model, stream, stream_options: options, response_format: format } = call.body
  if (!isModel(call, model)) call.refuse('400-unsupported-model', '400-InvalidInputParameters')
  checkMessages(call)
  checkTools(call)
  if (!isAbsent(stream) && typeof stream !== 'boolean')
    call.refuse('400-invalid-stream', '400-BadRequest')
  if (!isAbsent(options) && !isMembers(options))
    call.refuse('400-invalid-stream-options', '400-BadRequest')
  if (!isResponseFormat(format)) call.refuse('400-malformed-response-format', '400-BadRequest')
}

function textOf(call: Call): string {
  return partsOf(call)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('\n')
}

/** Turns of recursion after which optional members are left out, so that recursive schemas come to an end. */
const deepest = 6

const formats: Readonly<Record<string, string>> = {
  'date-time': '2025-01-31T10:00:00Z',
  date: '2025-01-31',
  time: '10:00:00Z',
  uuid: '2e8d7a10-6c0b-4b9f-8f2d-5d3c9b7e2001',
  email: 'tea@example.com',
  uri: 'https://example.com/',
}

function text({
  format,
  minLength = 0,
  maxLength = Math.max(3, Number(minLength)),
}: Members): string {
  return formats[String(format)] ?? 'tea'.padEnd(Number(minLength), 'a').slice(0, Number(maxLength))
}

/** The least number of a range; a multiple of `step`, or of what the schema names. */
function number(
  { exclusiveMinimum, minimum, maximum = Infinity, multipleOf }: Members,
  step: number,
): number {
  const unit = Number(multipleOf ?? step)
  const least = Number(
    minimum ?? (exclusiveMinimum === undefined ? 0 : Number(exclusiveMinimum) + step),
  )
  return Math.ceil(Math.min(least, Number(maximum)) / unit) * unit
}

function definition(root: Members, reference: string): unknown {
  const [, container = '', name = ''] = reference.split('/')
  const definitions = root[container]
  return isMembers(definitions) ? definitions[name] : undefined
}

/** A small value that fits a JSON Schema (of its usual keywords); what a model would generate for it. */
export function jsonInstance(
  schema: unknown,
  root: Members = isMembers(schema) ? schema : {},
  depth = 0,
): unknown {
  if (!isMembers(schema) || depth > 4 * deepest) return 'tea'
  const inner = (part: unknown): unknown => jsonInstance(part, root, depth + 1)
  const listed = (name: string): readonly unknown[] =>
    Array.isArray(schema[name]) ? schema[name] : []
  if (typeof schema['$ref'] === 'string') return inner(definition(root, schema['$ref']))
  for (const name of ['const', 'default']) if (name in schema) return schema[name]
  for (const value of [...listed('enum'), ...listed('examples')]) return value
  const parts = [
    ...listed('anyOf').slice(0, 1),
    ...listed('oneOf').slice(0, 1),
    ...listed('allOf'),
  ] as Members[]
  if (parts.length > 0)
    return inner(Object.assign({ ...schema, anyOf: [], oneOf: [], allOf: [] }, ...parts))
  switch ([schema['type']].flat()[0]) {
    case 'string':
      return text(schema)
    case 'integer':
      return number(schema, 1)
    case 'number':
      return number(schema, schema['exclusiveMinimum'] === undefined ? 1 : 0.5)
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array': {
      const usual = depth > deepest ? 0 : Math.min(1, Number(schema['maxItems'] ?? 1))
      return Array.from({ length: Math.max(Number(schema['minItems'] ?? 0), usual) }, () =>
        inner(schema['items']),
      )
    }
    default: {
      const properties = isMembers(schema['properties']) ? schema['properties'] : {}
      const required = listed('required').map(String)
      const names =
        depth > deepest ? required : [...new Set([...Object.keys(properties), ...required])]
      return Object.fromEntries(names.map((name) => [name, inner(properties[name])]))
    }
  }
}

/** Every second time under `generation/varying`: a model does not always do as it is told. */
function errs(call: Call, kind: string): boolean {
  return call.varied('generation/varying') && countUp(call.world, kind) % 2 === 1
}

function contentOf(call: Call): string {
  const { response_format: format } = call.body
  if (!isMembers(format) || !isMembers(format['json_schema']))
    return generated(call, `You said: ${textOf(call).slice(0, 200)}`)
  if (call.broken('200-structured-output') || errs(call, 'structured'))
    return 'Here is your answer: tea'
  if (call.broken('200-structured-output#schema')) return JSON.stringify([17])
  return JSON.stringify(jsonInstance(format['json_schema']['schema']))
}

function messageOf(call: Call): Members {
  const message = { role: 'assistant', content: contentOf(call) }
  const llm = llmFunctionOf(call)
  if (!llm || errs(call, 'llm') || call.broken('200-llm-tool#missing')) return message
  const prompt = call.broken('200-llm-tool') ? {} : { prompt: llm['description'] ?? '' }
  const model = call.broken('200-llm-tool#model') ? { id: llm['model'] } : String(llm['model'])
  return { ...message, llm_data: { ...prompt, model } }
}

/** Whether the request is about none of the things that have a requirement of their own. */
function isPlain({ body }: Call): boolean {
  const messages = body['messages'] as readonly Members[]
  const texts = messages.every(({ content }) => typeof content === 'string')
  return texts && body['tools'] === undefined && body['response_format'] === undefined
}

/** Whether the answer has its content as parts, as the request had. */
function echoesParts(call: Call): boolean {
  const parts = partsOf(call).filter(({ type }) => type !== undefined)
  const image = parts.find(({ type }) => type === 'image_url')?.['image_url'] as Members | undefined
  if (image)
    return call.broken(
      `200-image-${String(image['url']).startsWith('data:') ? 'parts' : 'url'}#echoed`,
    )
  if (parts.length > 0) return call.broken('200-text-parts#echoed')
  if (call.body['tool_choice'] === 'auto') return call.broken('200-tool-choice-auto#parts')
  return call.body['tools'] !== undefined && call.broken('200-query-config#parts')
}

function completed(call: Call, message: Members): Members {
  if (isPlain(call) && call.broken('200-completion#no-choices')) return { message }
  if (isPlain(call) && call.broken('200-completion#empty-choices')) return { choices: [] }
  const isObject = (isPlain(call) && call.broken('200-completion')) || echoesParts(call)
  const shown = isObject ? { ...message, content: { text: message['content'] } } : message
  return {
    id: 'chat-1',
    model: call.body['model'],
    choices: [{ index: 0, finish_reason: 'stop', message: shown }],
  }
}

function streamed({ body: { model } }: Call, delta: Members): Answer {
  const events = [{ delta }, { delta: {}, finish_reason: 'stop' }].map((choice) => {
    return JSON.stringify({ model, choices: [{ index: 0, ...choice }] })
  })
  const value = [...events, '[DONE]'].map((event) => `data: ${event}\n\n`).join('')
  return { status: 200, text: { type: 'text/event-stream', value } }
}

/** §4.4, §2.8 */
export const chat: Operation = {
  id: 'chat.create',
  paths: ['/v1/chat/completions', '/v1/chat'],
  members: [
    'model',
    'messages',
    'tools',
    'tool_choice',
    'stream',
    'stream_options',
    'response_format',
  ],
  requirement: (call) => (isPlain(call) ? '200-completion' : undefined),
  check: checkChat,
  fit: checkGraphs,
  run: (call) => {
    refuseTroubledModel(call, call.body['model'])
    guard(call, textOf(call), '400-unsafe-request')
    const message = messageOf(call)
    if (call.body['stream'] === true) return streamed(call, message)
    return { status: 200, body: completed(call, message) }
  },
  grant: () => ({
    status: 200,
    body: { choices: [{ message: { role: 'assistant', content: '' } }] },
  }),
}
