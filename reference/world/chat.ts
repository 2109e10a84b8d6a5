import { isMembers, jsonType, kindsOf, type Call, type Members, isAbsent } from './call.ts'
import { checkGraphAccess, checkQueryConfig } from './files.ts'
import { inArray, lengthened, isSettling } from './created.ts'

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool'])

function isImageAddress(part: Members): boolean {
  const address = isMembers(part['image_url']) ? part['image_url']['url'] : undefined
  return typeof address === 'string' && /^(https?:\/\/|data:image\/[a-z+.-]+;base64,)/i.test(address)
}

function checkPart(call: Call, part: unknown, places: readonly string[]): void {
  if (!isMembers(part))
    return call.refuse('400-malformed-messages', 400, 'BadRequest', {
      description: 'A part is an object',
      kind: ['part', ...(part === null ? ['part-null'] : []), ...places],
    })
  const malformed = (kind: string) =>
    call.refuse('400-malformed-messages', 400, 'BadRequest', {
      description: 'A part is as shown',
      kind: [kind, ...places],
    })
  const { type, text, image_url: image } = part
  if (type === undefined) return malformed('no-type')
  if (type === 'text' && text === undefined) return malformed('no-text')
  if (type === 'text' && typeof text !== 'string') return malformed('text-type')
  if (type === 'text') return
  if (type === 'image_url' && image === undefined) return malformed('no-image')
  if (type === 'image_url' && typeof image === 'string') return malformed('image-text')
  if (type === 'image_url' && isMembers(image) && image['url'] === undefined) return malformed('no-url')
  if (part['type'] === 'image_url' && isImageAddress(part)) {
    const asData = String((part['image_url'] as Members)['url']).startsWith('data:')
    if (call.broken('200-image-parts') && asData) call.reject(400, 'BadRequest', 'Images are given by address')
    if (call.broken('200-image-url') && !asData) call.reject(400, 'BadRequest', 'Images are given as data')
    return
  }
  return malformed('other-part')
}

function checkMessage(call: Call, message: unknown, places: readonly string[]): void {
  const malformed = (description: string, ...kind: string[]) =>
    call.refuse('400-malformed-messages', 400, 'BadRequest', { description, kind: [...kind, ...places] })
  if (!isMembers(message)) return malformed('A message is an object', message === null ? 'item-null' : 'item')
  const { role, content } = message
  if (role === undefined) return malformed('A message has a role', 'no-role')
  if (typeof role !== 'string' || !roles.has(role)) {
    call.refuse('400-invalid-role', 400, 'BadRequest', {
      description: `No role ${JSON.stringify(role)}`,
      kind: [jsonType(role), ...lengthened(role, roles), ...(inArray(role, roles) ? ['in-array'] : []), ...places],
    })
  }
  if (Array.isArray(content)) {
    for (const [at, part] of content.entries()) checkPart(call, part, at > 0 ? [...places, 'later-part'] : places)
    const onlyText = content.every((part: Members) => part['type'] === 'text')
    if (call.broken('200-text-parts#two') && onlyText && content.length > 1)
      call.reject(400, 'BadRequest', 'content is one part')
    const isTypeLater = content.some((part: Members) => Object.keys(part)[0] !== 'type')
    if (call.broken('200-text-parts#type-first') && onlyText && isTypeLater)
      call.reject(400, 'BadRequest', 'A part begins with its type')
    if (call.broken('200-text-parts') && onlyText) call.reject(400, 'BadRequest', 'content is a string')
  } else if (typeof content !== 'string' && content !== null) {
    const alone = isMembers(content) && 'type' in content ? ['one-part'] : []
    malformed('content is a string or an array of parts', `content-${jsonType(content)}`, ...alone)
  }
}

/** Checks `messages` (§2.8). */
export function checkMessages(call: Call): void {
  const { messages } = call.body
  if (!Array.isArray(messages) || messages.length === 0) {
    return call.refuse('400-malformed-messages', 400, 'BadRequest', {
      description: 'messages is an array',
      kind: [jsonType(messages), ...(isMembers(messages) && '0' in messages ? ['by-index'] : [])],
    })
  }
  for (const [at, message] of messages.entries()) {
    const places = [...(at < messages.length - 1 ? ['earlier'] : []), ...(at > 0 ? ['second'] : [])]
    checkMessage(call, message, places)
  }
}

export function textOfMessages(call: Call): string {
  const messages = call.body['messages'] as readonly Members[]
  const parts = messages.flatMap(({ content }) =>
    Array.isArray(content) ? (content as Members[]) : [{ text: content }],
  )
  return parts.map((part) => (typeof part['text'] === 'string' ? part['text'] : '')).join('\n')
}

const choices = new Set(['auto', 'none', 'required'])

function checkTool(call: Call, tool: unknown, at: number): void {
  const malformed = (description: string, kind: string) =>
    call.refuse('400-malformed-tools', 400, 'InvalidContentType', {
      description,
      kind: at > 0 ? [kind, 'second'] : [kind],
    })
  if (!isMembers(tool)) return malformed('A tool is an object', 'item')
  if (tool['type'] === undefined) return malformed('A tool has a type', 'no-type')
  if (typeof tool['type'] !== 'string') return malformed('The type of a tool is a string', 'type')
  const { function: own } = tool
  if (isMembers(own) && Object.keys(own).length === 0) return malformed('A function has members', 'empty-function')
  if (!isMembers(tool['function'])) return malformed('A tool has a function', 'function')
  const { model, description, query_config: config } = tool['function']
  if (tool['type'] === 'llm') {
    if (model === undefined) return malformed('An llm tool has a model', 'no-model')
    if (typeof model !== 'string') return malformed('model is a string', 'model-type')
    if (typeof description !== 'string' && !isAbsent(description)) {
      return malformed('description is a string', 'description-type')
    }
  }
  if (tool['type'] === 'graph') checkQueryConfig(call, config, '200-query-config')
}

/** Checks `tools` and `tool_choice` (§2.8). */
export function checkTools(call: Call): void {
  const { tools, tool_choice: choice } = call.body
  if (!isAbsent(tools) && !Array.isArray(tools)) {
    return call.refuse('400-malformed-tools', 400, 'InvalidContentType', {
      description: 'tools is an array',
      kind: [...kindsOf(tools), ...(isMembers(tools) && 'type' in tools ? ['one-tool'] : [])],
    })
  }
  if (Array.isArray(tools)) for (const [at, tool] of tools.entries()) checkTool(call, tool, at)
  if (isAbsent(choice)) return
  if (!(typeof choice === 'string' && choices.has(choice)) && !isMembers(choice)) {
    call.refuse('400-malformed-tool-choice', 400, 'InvalidContentType', { kind: kindsOf(choice) })
  }
  if (call.broken('200-tool-choice-auto') && choice === 'auto' && Array.isArray(tools)) {
    call.reject(400, 'InvalidContentType', 'tool_choice is required')
  }
}

/** Checks that the key may have the graphs asked which the tools name (§5.3). */
export function checkGraphs(call: Call): void {
  const { tools } = call.body
  for (const tool of Array.isArray(tools) ? (tools as Members[]) : []) {
    const ids: unknown = isMembers(tool['function']) ? tool['function']['graph_ids'] : undefined
    for (const id of Array.isArray(ids) ? (ids as unknown[]) : []) {
      const graph = call.world.store.graphs.get(String(id))
      if (!graph || isSettling(call.world, 'graphs', graph))
        return call.reject(404, 'ResourceNotFound', 'No such graph')
      checkGraphAccess(call, graph)
    }
  }
}

/** The llm tool of the request, if it has one; the reference always lets it run. */
export function llmToolOf(call: Call): Members | undefined {
  const { tools, tool_choice: choice } = call.body
  if (!Array.isArray(tools) || choice === 'none') return undefined
  return (tools as Members[]).find((tool) => tool['type'] === 'llm')
}

/** Turns of recursion after which optional members are left out, so that recursive schemas come to an end. */
const deepest = 6

function resolve(root: Members, reference: string): unknown {
  const steps = reference.replace(/^#\/?/, '').split('/').filter(Boolean)
  return steps.reduce<unknown>((node, step) => {
    return isMembers(node) ? node[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  }, root)
}

const formats: Readonly<Record<string, string>> = {
  'date-time': '2025-01-31T10:00:00Z',
  date: '2025-01-31',
  time: '10:00:00Z',
  uuid: '2e8d7a10-6c0b-4b9f-8f2d-5d3c9b7e2001',
  email: 'tea@example.com',
  uri: 'https://example.com/',
}

function text({ format, minLength = 0, maxLength = Math.max(3, Number(minLength)) }: Members): string {
  return formats[String(format)] ?? 'tea'.padEnd(Number(minLength), 'a').slice(0, Number(maxLength))
}

function number({ exclusiveMinimum, minimum, maximum = Infinity, multipleOf }: Members, step: number): number {
  const least = minimum ?? (typeof exclusiveMinimum === 'number' ? exclusiveMinimum + step : 0)
  const unit = Number(multipleOf ?? step)
  const value = Math.min(Number(least), Number(maximum))
  return Number.isInteger(value / unit) ? value : Math.ceil(value / unit) * unit
}

/** A small value that fits a JSON Schema (of its usual keywords); what a model would generate for it. */
export function jsonInstance(schema: unknown, root: Members = isMembers(schema) ? schema : {}, depth = 0): unknown {
  if (!isMembers(schema) || depth > 4 * deepest) return 'tea'
  const inner = (part: unknown): unknown => jsonInstance(part, root, depth + 1)
  const listed = (name: string): readonly unknown[] => (Array.isArray(schema[name]) ? schema[name] : [])
  if (typeof schema['$ref'] === 'string') return inner(resolve(root, schema['$ref']))
  for (const name of ['const', 'default']) if (name in schema) return schema[name]
  for (const value of [...listed('enum'), ...listed('examples')]) return value
  const parts = [...listed('anyOf').slice(0, 1), ...listed('oneOf').slice(0, 1), ...listed('allOf')] as Members[]
  if (parts.length > 0) return inner(Object.assign({ ...schema, anyOf: [], oneOf: [], allOf: [] }, ...parts))
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
      return Array.from({ length: Math.max(Number(schema['minItems'] ?? 0), usual) }, () => inner(schema['items']))
    }
    default: {
      const properties = isMembers(schema['properties']) ? schema['properties'] : {}
      const required = listed('required').map(String)
      const names = depth > deepest ? required : [...new Set([...Object.keys(properties), ...required])]
      return Object.fromEntries(names.map((name) => [name, inner(properties[name])]))
    }
  }
}
