import { kindsIf } from '../switches/defects.ts'
import { type Call, isAbsent, isMembers, jsonType, kindsOf, type Members } from '../world/call.ts'
import { isSettling, likenessOfWord } from '../world/created.ts'
import { checkAccess } from '../world/operation.ts'
import { checkQueryConfig } from './graphs.ts'

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool'])

function isImageAddress(url: unknown): boolean {
  return typeof url === 'string' && /^(https?:\/\/|data:image\/[a-z+.-]+;base64,)/i.test(url)
}

function faultsOfPart(part: unknown): readonly string[] {
  if (!isMembers(part)) return ['part', ...kindsIf({ 'part-null': part === null })]
  const { type, text, image_url: image } = part
  if (type === undefined) return ['no-type']
  if (type === 'text')
    return text === undefined ? ['no-text'] : typeof text === 'string' ? [] : ['text-type']
  if (type === 'image_url' && image === undefined) return ['no-image']
  if (type === 'image_url' && typeof image === 'string') return ['image-text']
  if (type !== 'image_url' || !isMembers(image)) return ['other-part']
  return image['url'] === undefined
    ? ['no-url']
    : isImageAddress(image['url'])
      ? []
      : ['other-part']
}

function checkParts(call: Call, parts: readonly Members[], places: readonly string[]): void {
  for (const [at, part] of parts.entries()) {
    const faults = faultsOfPart(part)
    const kinds = [...faults, ...places, ...kindsIf({ 'later-part': at > 0 })]
    if (faults.length > 0) call.refuse('400-malformed-messages', '400-BadRequest', kinds)
    if (part['type'] !== 'image_url') continue
    const isData = String((part['image_url'] as Members)['url']).startsWith('data:')
    call.rejectIf(isData ? '200-image-parts' : '200-image-url', true)
  }
  if (!parts.every(({ type }) => type === 'text')) return
  call.rejectIf('200-text-parts#two', parts.length > 1)
  call.rejectIf(
    '200-text-parts#type-first',
    parts.some((part) => Object.keys(part)[0] !== 'type'),
  )
  call.rejectIf('200-text-parts', true)
}

function checkMessage(call: Call, message: unknown, places: readonly string[]): void {
  const malformed = (...kinds: string[]) =>
    call.refuse('400-malformed-messages', '400-BadRequest', [...kinds, ...places])
  if (!isMembers(message)) return malformed(message === null ? 'item-null' : 'item')
  const { role, content } = message
  if (role === undefined) return malformed('no-role')
  if (typeof role !== 'string' || !roles.has(role)) {
    const kinds = [jsonType(role), ...likenessOfWord(call, 'role', role, roles), ...places]
    call.refuse('400-invalid-role', '400-BadRequest', kinds)
  }
  if (Array.isArray(content)) checkParts(call, content as Members[], places)
  else if (typeof content !== 'string' && content !== null)
    malformed(`content-${jsonType(content)}`)
}

/** The body with an array of one in place of a single message, tool or part. */
function withArrays(body: Members): Members {
  const arrayOf = (value: unknown, member: string): unknown =>
    isMembers(value) && member in value ? [value] : value
  const messages = arrayOf(body['messages'], 'role')
  const whole = Array.isArray(messages)
    ? messages.map((message: unknown) =>
        isMembers(message) ? { ...message, content: arrayOf(message['content'], 'type') } : message,
      )
    : messages
  return { ...body, messages: whole, tools: arrayOf(body['tools'], 'type') }
}

/** Checks `messages` (§2.8). */
export function checkMessages(call: Call): void {
  if (call.varied('requests/values-coerced')) call.body = withArrays(call.body)
  const { messages } = call.body
  if (!Array.isArray(messages) || messages.length === 0) {
    const kinds = [
      jsonType(messages),
      ...kindsIf({ 'by-index': isMembers(messages) && '0' in messages }),
    ]
    return call.refuse('400-malformed-messages', '400-BadRequest', kinds)
  }
  for (const [at, message] of messages.entries())
    checkMessage(call, message, kindsIf({ earlier: at < messages.length - 1, second: at > 0 }))
}

/** All parts of all messages; a text alone is one. */
export function partsOf(call: Call): readonly Members[] {
  const messages = call.body['messages'] as readonly Members[]
  return messages.flatMap(({ content }) =>
    Array.isArray(content) ? (content as Members[]) : [{ text: content }],
  )
}

const choices = new Set(['auto', 'none', 'required'])

function faultOfTool(tool: unknown): string | undefined {
  if (!isMembers(tool)) return 'item'
  const { type, function: own } = tool
  if (type === undefined) return 'no-type'
  if (typeof type !== 'string') return 'type'
  if (!isMembers(own)) return 'function'
  if (Object.keys(own).length === 0) return 'empty-function'
  const { model, description } = own
  if (type !== 'llm') return undefined
  if (typeof model !== 'string') return model === undefined ? 'no-model' : 'model-type'
  return typeof description === 'string' || isAbsent(description) ? undefined : 'description-type'
}

/** Checks `tools` and `tool_choice` (§2.8). */
export function checkTools(call: Call): void {
  const { tools, tool_choice: choice } = call.body
  const malformed = (kinds: readonly string[]) =>
    call.refuse('400-malformed-tools', '400-InvalidContentType', kinds)
  if (!isAbsent(tools) && !Array.isArray(tools)) malformed(kindsOf(tools))
  for (const [at, tool] of toolsOf(call).entries()) {
    const fault = faultOfTool(tool)
    if (fault !== undefined) malformed([fault, ...kindsIf({ second: at > 0 })])
    if (tool['type'] === 'graph')
      checkQueryConfig(call, functionOf(tool)['query_config'], '200-query-config')
  }
  if (isAbsent(choice)) return
  if (!(typeof choice === 'string' && choices.has(choice)) && !isMembers(choice))
    call.refuse('400-malformed-tool-choice', '400-InvalidContentType', kindsOf(choice))
  call.rejectIf(
    '200-tool-choice-auto',
    choice === 'auto' && Array.isArray(tools),
    '400-InvalidContentType',
  )
}

function toolsOf({ body: { tools } }: Call): readonly Members[] {
  return Array.isArray(tools) ? (tools as Members[]) : []
}

function functionOf(tool: Members): Members {
  return isMembers(tool['function']) ? tool['function'] : {}
}

/** Checks that the key may have the graphs asked which the tools name (§5.3). */
export function checkGraphs(call: Call): void {
  for (const { graph_ids: ids } of toolsOf(call).map(functionOf)) {
    for (const id of Array.isArray(ids) ? (ids as unknown[]) : []) {
      const graph = call.world.store.graphs.get(String(id))
      if (!graph) return call.refuse('4xx-unknown-graph', '404-ResourceNotFound')
      if (isSettling(call.world, 'graphs', graph))
        return call.reject('404-ResourceNotFound', 'No such graph yet')
      checkAccess(call, graph, '403-graph-access')
    }
  }
}

/** Arguments for the llm tool of the request, if it has one; the reference always lets it run. */
export function llmFunctionOf(call: Call): Members | undefined {
  const tool = toolsOf(call).find(({ type }) => type === 'llm')
  return tool && call.body['tool_choice'] !== 'none' ? functionOf(tool) : undefined
}
