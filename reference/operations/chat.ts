import { type Call, isAbsent, isMembers, jsonType, kindsOf, type Members } from '../world/call.ts'
import { generated, guard, isModel, kindOfModel, refuseTroubledModel } from '../world/models.ts'
import type { Operation } from '../world/operation.ts'
import type { Answer } from '../world/answer.ts'
import { checkGraphs, checkMessages, checkTools, jsonInstance, llmToolOf, textOfMessages } from '../world/chat.ts'
import { countUp } from '../world/world.ts'

/** Under `requests/values-coerced` also what can be made a number. */
function isNumber(call: Call, value: unknown): boolean {
  if (typeof value === 'number') return true
  if (!call.varied('requests/values-coerced')) return false
  return (
    typeof value === 'boolean' || (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)))
  )
}

function checkCompletion(call: Call): void {
  const { model, prompt, temperature, max_tokens: most, top_p: share } = call.body
  if (typeof model !== 'string')
    call.refuse('400-malformed-request', 400, 'BadRequest', {
      description: 'model is a string',
      kind: ['model', ...(Array.isArray(model) && isModel(call, model[0]) ? ['model-in-array'] : [])],
    })
  if (!isModel(call, model))
    call.refuse('400-unsupported-model', 400, 'BadRequest', {
      description: 'The model is not supported',
      kind: kindOfModel(call, model),
    })
  if (typeof prompt !== 'string') {
    call.refuse('400-malformed-request', 400, 'BadRequest', {
      description: 'prompt is a string',
      at: 'prompt',
      kind: 'prompt',
    })
  }
  if (prompt === '') call.refuse('400-empty-prompt', 400, 'InvalidInputParameters')
  if (!isAbsent(temperature) && !isNumber(call, temperature)) {
    call.refuse('400-invalid-temperature', 400, 'InvalidContentType', { kind: jsonType(temperature) })
  }
  if (!isAbsent(most) && !isNumber(call, most)) {
    call.refuse('400-invalid-max-tokens', 400, 'InvalidContentType', { kind: jsonType(most) })
  }
  if (typeof most === 'number' && most < 1 && !call.varied('tokens/below-zero-granted')) {
    call.reject(400, call.varied('tokens/below-zero-bad-request') ? 'BadRequest' : 'InvalidInputParameters')
  }
  if (!isAbsent(share) && !isNumber(call, share)) call.refuse('400-invalid-parameter', 400, 'InvalidContentType')
}

/** §4.4 */
export const completion: Operation = {
  id: 'completion.create',
  paths: ['/v1/completion'],
  members: ['model', 'prompt', 'temperature', 'max_tokens', 'top_p'],
  check: checkCompletion,
  run: (call: Call) => {
    refuseTroubledModel(call, call.body['model'])
    const prompt = String(call.body['prompt'])
    guard(call, prompt, 'model-unsafe-request')
    return {
      status: 200,
      body: { model: call.body['model'], choices: [{ text: generated(call, `${prompt} Indeed.`) }] },
    }
  },
  grant: () => ({ status: 200, body: { choices: [{ text: '' }] } }),
}

function isResponseFormat(format: unknown): boolean {
  if (isAbsent(format)) return true
  if (!isMembers(format)) return false
  const wanted = format['json_schema']
  return (
    format['type'] === 'text' || (format['type'] === 'json_schema' && isMembers(wanted) && isMembers(wanted['schema']))
  )
}

function checkChat(call: Call): void {
  const { model, stream, stream_options: options, response_format: format } = call.body
  if (!isModel(call, model))
    call.refuse('400-unsupported-model', 400, 'InvalidInputParameters', {
      kind: kindOfModel(call, model),
    })
  checkMessages(call)
  checkTools(call)
  if (!isAbsent(stream) && typeof stream !== 'boolean') {
    call.refuse('400-invalid-stream', 400, 'BadRequest', { kind: jsonType(stream) })
  }
  if (!isAbsent(options) && !isMembers(options)) {
    call.refuse('400-invalid-stream-options', 400, 'BadRequest', { kind: kindsOf(options) })
  }
  if (!isResponseFormat(format)) {
    call.refuse('400-malformed-response-format', 400, 'BadRequest', { kind: kindsOf(format) })
  }
}

/** Every second time under `generation/varying`: a model does not always do as it is told. */
function erring(call: Call, kind: string): boolean {
  return call.varied('generation/varying') && countUp(call.world, kind) % 2 === 1
}

function contentOf(call: Call): string {
  const { response_format: format } = call.body
  if (!isMembers(format) || !isMembers(format['json_schema'])) {
    return generated(call, `You said: ${textOfMessages(call).slice(0, 200)}`)
  }
  if (call.broken('200-structured-output') || erring(call, 'structured')) return 'Here is your answer: tea'
  if (call.broken('200-structured-output#schema')) return JSON.stringify([17])
  return JSON.stringify(jsonInstance(format['json_schema']['schema']))
}

function messageOf(call: Call): Members {
  const content = contentOf(call)
  const tool = llmToolOf(call)
  if (!tool || erring(call, 'llm')) return { role: 'assistant', content }
  const { model, description } = tool['function'] as Members
  const llm: Record<string, unknown> = {
    prompt: typeof description === 'string' ? description : '',
    model: String(model),
  }
  if (call.broken('200-llm-tool')) delete llm['prompt']
  if (call.broken('200-llm-tool#model')) llm['model'] = { id: model }
  if (call.broken('200-llm-tool#missing')) return { role: 'assistant', content }
  return { role: 'assistant', content, llm_data: llm }
}

/** Whether the request is about none of the things that have a requirement of their own. */
function isPlain({ body }: Call): boolean {
  const messages = body['messages'] as readonly Members[]
  const texts = messages.every(({ content }) => typeof content === 'string')
  return texts && body['tools'] === undefined && body['response_format'] === undefined
}

/** Whether the answer has its content as parts, as the request had. */
function echoesParts(call: Call): boolean {
  const messages = call.body['messages'] as readonly Members[]
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as readonly Members[]) : []))
  const image = parts.find(({ type }) => type === 'image_url')?.['image_url'] as Members | undefined
  if (image) return call.broken(`200-image-${String(image['url']).startsWith('data:') ? 'parts' : 'url'}#echoed`)
  if (parts.length > 0) return call.broken('200-text-parts#echoed')
  if (call.body['tool_choice'] === 'auto') return call.broken('200-tool-choice-auto#parts')
  return call.body['tools'] !== undefined && call.broken('200-query-config#parts')
}

function completed(call: Call, message: Members): Members {
  if (call.broken('200-completion#no-choices') && isPlain(call)) return { message }
  if (call.broken('200-completion#empty-choices') && isPlain(call)) return { choices: [] }
  const isObject = (call.broken('200-completion') && isPlain(call)) || echoesParts(call)
  const shown = isObject ? { ...message, content: { text: message['content'] } } : message
  return { id: 'chat-1', model: call.body['model'], choices: [{ index: 0, finish_reason: 'stop', message: shown }] }
}

/** Writes the answer as server-sent events. */
function streamed(call: Call, message: Members): Answer {
  const events = [
    { choices: [{ index: 0, delta: message }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]
  const value = events.map((event) => `data: ${JSON.stringify({ model: call.body['model'], ...event })}\n\n`).join('')
  return { status: 200, text: { type: 'text/event-stream', value: `${value}data: [DONE]\n\n` } }
}

/** §4.4, §2.8 */
export const chat: Operation = {
  id: 'chat.create',
  paths: ['/v1/chat/completions', '/v1/chat'],
  members: ['model', 'messages', 'tools', 'tool_choice', 'stream', 'stream_options', 'response_format'],
  requirement: (call) => (isPlain(call) ? '200-completion' : undefined),
  check: checkChat,
  fit: checkGraphs,
  run: (call: Call) => {
    refuseTroubledModel(call, call.body['model'])
    guard(call, textOfMessages(call), '400-unsafe-request')
    const message = messageOf(call)
    if (call.body['stream'] === true) return streamed(call, message)
    return { status: 200, body: completed(call, message) }
  },
  grant: () => ({ status: 200, body: { choices: [{ message: { role: 'assistant', content: '' } }] } }),
}
