import { type Call, isAbsent, isMembers, type Members } from '../world/call.ts'
import { graphNamed } from './files.ts'
import { checkQueryConfig } from './graphs.ts'

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
  if (!parts.every(({ type }) => type === 'text')) return
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
  return messages.flatMap(({ content }) =>
    Array.isArray(content) ? (content as Members[]) : [{ text: content }],
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

function toolsOf({ body: { tools } }: Call): readonly Members[] {
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
  const tool = toolsOf(call).find(({ type }) => type === 'llm')
  return tool && call.body['tool_choice'] !== 'none' ? functionOf(tool) : undefined
}
