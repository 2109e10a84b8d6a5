import { unknownModel } from '../catalogue/answers.ts'
import { operationOf } from '../catalogue/operations.ts'
import { jsonOf, jsonValue, type Open, open } from '../harness/journal/index.ts'
import { type Finding, shapeFinding } from '../harness/run/index.ts'
import { getAt, isObject, parsedJson } from '../schemas/json.ts'
import { newAjv } from '../schemas/validate.ts'
import { type Case, controlCase, inMember } from './checks/case.ts'
import { atRole, valueAt } from './checks/changes.ts'
import { byRecord } from './checks/faults.ts'
import { granted, grantedBy, type GrantedCheck, respelled } from './checks/granted.ts'
import { suite } from './checks/suite.ts'
import { type Basis, type OfTarget } from './checks/valid-request.ts'
import { insideBounds } from './query-config.ts'

const chat = 'chat.create'

/** The value that the declared body has at a role. */
const declaredAt = (known: OfTarget, role: string): unknown =>
  valueAt(known, chat, role, known.target.operations[chat]?.body)

/** §2.8. The spec does not show the form of a stream. A request with tools may get tool calls in place of content. */
const hasContent: GrantedCheck = (given, exchange) => {
  const sent = jsonOf(exchange.probe)
  if (valueAt(given, chat, 'stream', sent) === true) {
    const reason =
      'the scenario requests a stream, like the declared body: add "stream": null to its merge'
    return { reason }
  }
  const calls = getAt(jsonValue(exchange.response), '/choices/0/message/tool_calls')
  const hasCalls = Array.isArray(calls) && calls.length > 0
  return hasCalls && valueAt(given, chat, 'tools', sent) !== undefined
    ? undefined
    : shapeFinding(exchange, 'chat-completion')
}

/** Like `hasContent`, and tells what the tool was asked. */
const hasToolData: GrantedCheck = (given, exchange) =>
  hasContent(given, exchange) ?? shapeFinding(exchange, 'llm-tool-completion')

const moreParts = ['Answer in one line.', 'Be brief.']

function asTextParts(message: Record<string, unknown>, parts: number): unknown {
  const { content } = message
  const texts = [content, ...moreParts].slice(0, parts)
  return typeof content === 'string'
    ? { ...message, content: texts.map((text) => ({ type: 'text', text })) }
    : message
}

const textParts = grantedBy(
  (material) => {
    const messages = valueAt(material, chat, 'messages', jsonOf(material.valid))
    if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isObject))
      return open('declare operations.chat.create.body.messages, an array of messages')
    return [1, 2, 3].map((parts) => ({
      what: `with content given as ${parts} text part${parts === 1 ? '' : 's'}`,
      faults: [inMember('inside', '/messages/*/content')],
      effect: material.valid.effect,
      change(valid) {
        const changed = messages.map((message) => asTextParts(message, parts))
        const probe = atRole(material, valid, 'messages', changed)
        return parts === 2 ? respelled(probe) : probe
      },
    }))
  },
  { check: hasContent, inScenario: 'with content given as 1 text part' },
)

function withDeclaredTools(known: Basis): Case['change'] | Open {
  const tools = declaredAt(known, 'tools')
  if (tools === undefined)
    return open('declare tools in operations.chat.create.body, or a scenario')
  return (probe) => atRole(known, atRole(known, probe, 'tools', tools), 'tool_choice', 'auto')
}

const malformedToolChoice = byRecord({
  besides(known, valid) {
    const tools = declaredAt(known, 'tools')
    return tools === undefined ? valid : atRole(known, valid, 'tools', tools)
  },
})

const invalidStreamOptions = byRecord({
  besides: (known, valid) => atRole(known, valid, 'stream', true),
})

function withResponseFormat(known: Basis): Case['change'] | Open {
  const format = declaredAt(known, 'response_format')
  if (getAt(format, '/type') !== 'json_schema')
    return open(
      'declare a response_format of type json_schema in operations.chat.create.body, or a scenario',
    )
  return (probe) => atRole(known, probe, 'response_format', format)
}

/**
 * The target's schemas are not registered by their `$id`. Keywords of a wrong type are refused without the meta-schema,
 * which takes longer to compile than hundreds of requests.
 */
const options = {
  strict: false,
  allErrors: false,
  logger: false,
  addUsedSchema: false,
  validateSchema: false,
} as const

/** What a value lacks to fit a schema of the target. */
function misfit(schema: Record<string, unknown>, value: unknown): Finding | undefined {
  const { $schema: _dialect, ...rest } = schema
  try {
    const validate = newAjv(options, { withFormats: true }).compile(rest)
    if (validate(value)) return undefined
    const [problem] = validate.errors ?? []
    return {
      expected: 'content that fits the schema of the request (strict is true)',
      actual: `content ${problem?.instancePath ?? ''} ${problem?.message ?? 'does not fit'}`,
    }
  } catch (error) {
    return { reason: `the declared schema cannot be compiled: ${(error as Error).message}` }
  }
}

const hasStructuredOutput: GrantedCheck = (given, exchange) => {
  const wrong = hasContent(given, exchange)
  if (wrong) return wrong
  const format = valueAt(given, chat, 'response_format', jsonOf(exchange.probe))
  const content = getAt(jsonValue(exchange.response), '/choices/0/message/content')
  if (typeof content !== 'string' || content === '')
    return { reason: 'the generated answer is empty' }
  const value = parsedJson(content)
  if (value === undefined)
    return {
      expected: 'content that is JSON text',
      actual: `content ${JSON.stringify(content.slice(0, 80))}`,
    }
  const schema = getAt(format, '/json_schema/schema')
  const isStrict = getAt(format, '/json_schema/strict') === true && isObject(schema)
  return isStrict ? misfit(schema, value) : undefined
}

const completion = grantedBy(() => [controlCase], {
  check: hasContent,
  control: {
    expected: 'a 2xx with choices[0].message.content',
    tries: operationOf('chat.create').tries - 1,
  },
})

/** An unknown model; one that is not a string may also count as malformed (§7.3). */
const unsupportedModel = byRecord({
  otherTypes: {
    at: '/model',
    expects: [[400, 'InvalidInputParameters', 'BadRequest'], unknownModel],
  },
})

// Chat completion (§2.8, §7.3)

export const chatCreate = suite('chat.create', () => ({
  '200-completion': completion,
  '200-text-parts': textParts,
  '200-image-parts': granted('with an image in a data URL', undefined, hasContent),
  '200-image-url': granted('with an image at a web address', undefined, hasContent),
  '200-tool-choice-auto': granted('with tools and tool_choice auto', withDeclaredTools, hasContent),
  '200-structured-output': granted(
    'with response_format json_schema',
    withResponseFormat,
    hasStructuredOutput,
  ),
  // Only a scenario guarantees that the tool runs.
  '200-llm-tool': granted('with an llm tool', undefined, hasToolData),
  '200-query-config': insideBounds(hasContent),
  '400-query-config': byRecord(),
  '400-malformed-messages': byRecord(),
  '400-invalid-role': byRecord(),
  '400-unsupported-model': unsupportedModel,
  '400-malformed-tools': byRecord(),
  '400-malformed-tool-choice': malformedToolChoice,
  '400-invalid-stream': byRecord(),
  '400-invalid-stream-options': invalidStreamOptions,
  '400-malformed-response-format': byRecord(),
}))
