import { type Answer, type Call, isAbsent, isMembers, type Members, ok } from '../world/call.ts'
import { generated, guard, isModel, refuseTroubledModel } from '../world/preloaded.ts'
import type { Operation } from '../world/operation.ts'
import { countUp } from '../world/world.ts'
import { graphNamed } from './files.ts'
import { checkQueryConfig } from './graphs.ts'

/** A number or absent; with `requests/values-coerced` also anything convertible. */
function isNumber(call: Call, value: unknown): boolean {
  if (typeof value === 'number' || isAbsent(value)) return true
  if (!call.varied('requests/values-coerced')) return false
  if (typeof value === 'boolean') return true
  return typeof value === 'string' && value.trim() !== '' && isFinite(Number(value))
}

function checkCompletion(call: Call): void {
  const { model, prompt, temperature, max_tokens: most, top_p: share } = call.body
  if (typeof model !== 'string') call.refuse('400-malformed-request')
  if (!isModel(call, model)) call.refuse('400-unsupported-model')
  if (typeof prompt !== 'string') call.refuse('400-malformed-request')
  if (prompt === '') call.refuse('400-empty-prompt', '400-InvalidInputParameters')
  if (!isNumber(call, temperature)) call.refuse('400-invalid-temperature', '400-InvalidContentType')
  if (!isNumber(call, most)) call.refuse('400-invalid-max-tokens', '400-InvalidContentType')
  if (typeof most === 'number' && most < 1 && !call.varied('tokens/below-zero-granted')) {
    const isBad = call.varied('tokens/below-zero-bad-request')
    call.reject(isBad ? '400-BadRequest' : '400-InvalidInputParameters')
  }
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
    return ok({ model, choices: [{ text: generated(call, `${prompt} Indeed.`) }] })
  },
}

function isResponseFormat(format: unknown): boolean {
  if (isAbsent(format)) return true
  if (!isMembers(format)) return false
  const { type, json_schema: wanted } = format
  if (type === 'text') return true
  return type === 'json_schema' && isMembers(wanted) && isMembers(wanted['schema'])
}

function checkChat(call: Call): void {
  const { model, stream, stream_options: options, response_format: format } = call.body
  if (!isModel(call, model)) call.refuse('400-unsupported-model', '400-InvalidInputParameters')
  checkMessages(call)
  checkTools(call)
  if (!isAbsent(stream) && typeof stream !== 'boolean') call.refuse('400-invalid-stream')
  if (!isAbsent(options) && !isMembers(options)) call.refuse('400-invalid-stream-options')
  if (!isResponseFormat(format)) call.refuse('400-malformed-response-format')
}

function textOf(call: Call): string {
  return partsOf(call)
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : ''))
    .join('\n')
}

/** A value that fits a schema of objects, arrays, texts, numbers and choices. */
function jsonInstance(schema: unknown): unknown {
  if (!isMembers(schema)) return 'tea'
  const { enum: choices, type, properties, items, minimum = 0, minItems = 1 } = schema
  if (Array.isArray(choices)) return choices[0] as unknown
  if (type === 'array') return Array.from({ length: Number(minItems) }, () => jsonInstance(items))
  if (type === 'object') {
    const all = Object.entries(isMembers(properties) ? properties : {})
    return Object.fromEntries(all.map(([name, one]) => [name, jsonInstance(one)]))
  }
  if (type === 'boolean') return true
  return type === 'integer' || type === 'number' ? minimum : 'tea'
}

/** Every second time under `generation/varying`: a model does not always obey. */
function errs(call: Call, kind: string): boolean {
  return call.varied('generation/varying') && countUp(call.world, kind) % 2 === 1
}

function contentOf(call: Call): string {
  const { response_format: format } = call.body
  if (!isMembers(format) || !isMembers(format['json_schema']))
    return generated(call, `You said: ${textOf(call).slice(0, 200)}`)
  if (call.varied('generation/empty')) return ''
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
  const content = call.broken('200-llm-tool#content') ? null : message.content
  return { ...message, content, llm_data: { ...prompt, model: String(llm['model']) } }
}

function isPlain(call: Call): boolean {
  const messages = call.body['messages'] as readonly Members[]
  const texts = messages.every((message) => typeof message.content === 'string')
  return texts && call.body['tools'] === undefined && call.body['response_format'] === undefined
}

function echoesParts(call: Call): boolean {
  const parts = partsOf(call).filter((part) => part['type'] !== undefined)
  const image = parts.find((part) => part['type'] === 'image_url')?.['image_url']
  if (isMembers(image)) {
    const isData = String(image['url']).startsWith('data:')
    return call.broken(isData ? '200-image-parts#echoed' : '200-image-url#echoed')
  }
  if (parts.length > 0) return call.broken('200-text-parts#echoed')
  if (call.body['tool_choice'] === 'auto') return call.broken('200-tool-choice-auto#parts')
  return call.body['tools'] !== undefined && call.broken('200-query-config#parts')
}

function completed(call: Call, message: Members): Members {
  const isObject = (isPlain(call) && call.broken('200-completion')) || echoesParts(call)
  const shown = isObject ? { ...message, content: { text: message['content'] } } : message
  return {
    id: 'chat-1',
    model: call.body['model'],
    choices: [{ index: 0, finish_reason: 'stop', message: shown }],
  }
}

function streamed(call: Call, delta: Members): Answer {
  const { model } = call.body
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
  // oxfmt-ignore
  members: ['model', 'messages', 'tools', 'tool_choice', 'stream', 'stream_options', 'response_format'],
  requirement: (call) => (isPlain(call) ? '200-completion' : undefined),
  check: checkChat,
  fit: checkGraphs,
  run: (call) => {
    refuseTroubledModel(call, call.body['model'])
    guard(call, textOf(call), '400-unsafe-request')
    const message = messageOf(call)
    if (call.body['stream'] === true) return streamed(call, message)
    return ok(completed(call, message))
  },
  grant: () => ok({ choices: [{ message: { role: 'assistant', content: '' } }] }),
}

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool'])

function isPart(part: unknown): part is Members {
  if (!isMembers(part)) return false
  const { type, text, image_url: image } = part
  if (type === 'text') return typeof text === 'string'
  const url = isMembers(image) ? image['url'] : undefined
  const isAddress = /^(https?:\/\/|data:image\/[a-z+.-]+;base64,)/i
  return type === 'image_url' && typeof url === 'string' && isAddress.test(url)
}

function checkParts(call: Call, parts: readonly unknown[]): void {
  if (!parts.every(isPart)) return call.refuse('400-malformed-messages')
  for (const part of parts) {
    if (part['type'] !== 'image_url') continue
    const isData = String((part['image_url'] as Members)['url']).startsWith('data:')
    call.rejectIf(isData ? '200-image-parts' : '200-image-url', true)
  }
  if (!parts.every((part) => part.type === 'text')) return
  call.rejectIf('200-text-parts#two', parts.length > 1)
  call.rejectIf('200-text-parts#three', parts.length > 2)
  const hasTypeLater = parts.some((part) => Object.keys(part)[0] !== 'type')
  call.rejectIf('200-text-parts#type-first', hasTypeLater)
  call.rejectIf('200-text-parts', true)
}

function checkMessage(call: Call, message: unknown): void {
  const { role, content } = isMembers(message) ? message : {}
  if (role === undefined) call.refuse('400-malformed-messages')
  if (typeof role !== 'string' || !roles.has(role)) call.refuse('400-invalid-role')
  if (Array.isArray(content)) checkParts(call, content)
  else if (typeof content !== 'string' && content !== null) call.refuse('400-malformed-messages')
}

function withArrays(body: Members): Members {
  const arrayOf = (value: unknown, member: string): unknown =>
    isMembers(value) && member in value ? [value] : value
  const given = arrayOf(body['messages'], 'role')
  const withParts = (message: unknown): unknown =>
    isMembers(message) ? { ...message, content: arrayOf(message['content'], 'type') } : message
  const messages = Array.isArray(given) ? given.map(withParts) : given
  return { ...body, messages, tools: arrayOf(body['tools'], 'type') }
}

/** §2.8 */
export function checkMessages(call: Call): void {
  if (call.varied('requests/values-coerced')) call.body = withArrays(call.body)
  const { messages } = call.body
  if (!Array.isArray(messages) || messages.length === 0)
    return call.refuse('400-malformed-messages')
  for (const message of messages) checkMessage(call, message)
}

export function partsOf(call: Call): readonly Members[] {
  const messages = call.body['messages'] as readonly Members[]
  return messages.flatMap((message) =>
    Array.isArray(message.content) ? (message.content as Members[]) : [{ text: message.content }],
  )
}

const choices = new Set(['auto', 'none', 'required'])

function isTool(tool: unknown): tool is Members {
  if (!isMembers(tool) || typeof tool['type'] !== 'string' || !isMembers(tool['function']))
    return false
  const { model, description } = tool['function']
  if (tool['type'] !== 'llm') return Object.keys(tool['function']).length > 0
  return typeof model === 'string' && (typeof description === 'string' || isAbsent(description))
}

/** §2.8 */
export function checkTools(call: Call): void {
  const { tools, tool_choice: choice } = call.body
  for (const tool of toolsOf(call).filter(isMembers))
    // In JavaScript, `null` is an object, too.
    call.breakIf(
      'bad-input-no-5xx#graph-tool',
      tool['type'] === 'graph' && tool['function'] === null,
    )
  if (!isAbsent(tools) && !(Array.isArray(tools) && tools.every(isTool)))
    call.refuse('400-malformed-tools', '400-InvalidContentType')
  for (const tool of toolsOf(call))
    if (tool['type'] === 'graph')
      checkQueryConfig(call, functionOf(tool)['query_config'], '200-query-config')
  if (isAbsent(choice)) return
  if (!(typeof choice === 'string' && choices.has(choice)) && !isMembers(choice))
    call.refuse('400-malformed-tool-choice', '400-InvalidContentType')
  const isAuto = choice === 'auto' && Array.isArray(tools)
  call.rejectIf('200-tool-choice-auto', isAuto, '400-InvalidContentType')
}

function toolsOf(call: Call): readonly Members[] {
  const { tools } = call.body
  return Array.isArray(tools) ? (tools as Members[]) : []
}

function functionOf(tool: Members): Members {
  return isMembers(tool['function']) ? tool['function'] : {}
}

export function checkGraphs(call: Call): void {
  for (const { graph_ids: ids } of toolsOf(call).map(functionOf)) {
    for (const id of Array.isArray(ids) ? (ids as unknown[]) : []) graphNamed(call, String(id))
  }
}

export function llmFunctionOf(call: Call): Members | undefined {
  const tool = toolsOf(call).find((one) => one.type === 'llm')
  return tool && call.body['tool_choice'] !== 'none' ? functionOf(tool) : undefined
}
