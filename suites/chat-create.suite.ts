import { controlCase } from './checks/case.ts'
import type { Given } from '../harness/client/index.ts'
import type { ValidateFunction } from 'ajv'
import { isObject, getAt, parsedJson } from '../schemas/json.ts'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { newAjv } from '../schemas/ajv.ts'
import { atRole, valueAt } from './checks/changes.ts'
import { bodyOf } from './checks/valid-request.ts'
import { byRecord } from './checks/conditions.ts'
import { granted, grantedBy, type GrantedCheck, respelled } from './checks/granted.ts'
import type { Known, OfTarget } from './checks/values.ts'
import { suite } from './checks/suite.ts'
import {
  type Exchange,
  jsonOf,
  jsonValue,
  NotExercised,
  type Probe,
} from '../harness/journal/index.ts'
import { type Finding, shapeFinding } from '../harness/run/index.ts'
import { triesOf } from '../catalogue/operations.ts'
import { unknownModel } from '../catalogue/expected.ts'
import { insideBounds } from './query-config.ts'

const hasContent: GrantedCheck = (given, exchange) =>
  streamed(given, exchange) ?? shapeFinding(exchange, 'chat-completion')

/** The spec does not show the form of a stream. */
function streamed(given: Given, exchange: Exchange): Finding | undefined {
  const reason =
    'the scenario requests a stream, like the declared body: add "stream": null to its merge'
  return valueAt(given, 'chat.create', 'stream', jsonOf(exchange.probe)) === true
    ? { reason }
    : undefined
}

/** Like `hasContent`, but also accepts tool calls. */
const hasContentOrCalls: GrantedCheck = (given, exchange) => {
  const calls = getAt(jsonValue(exchange.response), '/choices/0/message/tool_calls')
  return Array.isArray(calls) && calls.length > 0 ? undefined : hasContent(given, exchange)
}

type Message = Readonly<Record<string, unknown>>

function messagesOf(run: OfTarget, probe: Probe): readonly Message[] {
  const messages = valueAt(run, 'chat.create', 'messages', jsonOf(probe))
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isObject)) {
    throw new NotExercised('declare operations.chat.create.body.messages, an array of messages')
  }
  return messages
}

const moreParts = ['Answer in one line.', 'Be brief.']

function asTextParts(known: Known, probe: Probe, parts: number): Probe {
  const text = (whole: string) => ({ type: 'text', text: whole })
  const messages = messagesOf(known, probe).map((message) => {
    const { content } = message
    if (typeof content !== 'string') return message
    return { ...message, content: [content, ...moreParts].slice(0, parts).map(text) }
  })
  return atRole(known, probe, 'messages', messages)
}

const textParts = grantedBy(
  (material) =>
    [1, 2, 3].map((parts) => ({
      what: `with content given as ${parts} text part${parts === 1 ? '' : 's'}`,
      fault: 'inside @ /messages/*/content',
      effect: material.valid.effect,
      change(valid) {
        const probe = asTextParts(material, valid, parts)
        return parts === 2 ? respelled(probe) : probe
      },
    })),
  { check: hasContent, inScenario: 'with content given as 1 text part' },
)

function declaredTools(run: OfTarget): unknown {
  return valueAt(run, 'chat.create', 'tools', bodyOf(run, 'chat.create'))
}

function withDeclaredTools(probe: Probe, known: Known): Probe {
  const tools = declaredTools(known)
  if (tools === undefined)
    throw new NotExercised('declare tools in operations.chat.create.body, or a scenario')
  return atRole(known, atRole(known, probe, 'tools', tools), 'tool_choice', 'auto')
}

const malformedToolChoice = byRecord({
  besides(run, valid) {
    const tools = declaredTools(run)
    return tools === undefined ? valid : atRole(run, valid, 'tools', tools)
  },
})

/** With `stream: true`: words, numbers, booleans and arrays. */
const invalidStreamOptions = byRecord({
  besides: (run, valid) => atRole(run, valid, 'stream', true),
})

function withResponseFormat(probe: Probe, known: Known): Probe {
  const format = valueAt(known, 'chat.create', 'response_format', bodyOf(known, 'chat.create'))
  if (getAt(format, '/type') !== 'json_schema') {
    throw new NotExercised(
      'declare a response_format of type json_schema in operations.chat.create.body, or a scenario',
    )
  }
  return atRole(known, probe, 'response_format', format)
}

let ajv: Ajv2020 | undefined
const known = new Map<string, ValidateFunction>()

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

/** Or why it cannot be compiled. */
function compiled(schema: Record<string, unknown>): ValidateFunction | string {
  const { $schema: _dialect, ...rest } = schema
  const text = JSON.stringify(rest)
  const before = known.get(text)
  if (before) return before
  try {
    ajv ??= newAjv(options, { withFormats: true })
    const validate = ajv.compile(rest)
    known.set(text, validate)
    return validate
  } catch (error) {
    return `the declared schema cannot be compiled: ${(error as Error).message}`
  }
}

const hasStructuredOutput: GrantedCheck = (given, exchange) => {
  const wrong = hasContent(given, exchange)
  if (wrong) return wrong
  const format = valueAt(given, 'chat.create', 'response_format', jsonOf(exchange.probe))
  const content = String(getAt(jsonValue(exchange.response), '/choices/0/message/content'))
  const value = parsedJson(content)
  if (value === undefined)
    return {
      expected: 'content that is JSON text',
      actual: `content ${JSON.stringify(content.slice(0, 80))}`,
    }
  const schema = getAt(format, '/json_schema/schema')
  if (getAt(format, '/json_schema/strict') !== true || !isObject(schema)) return undefined
  const validate = compiled(schema)
  if (typeof validate === 'string') return { reason: validate }
  if (validate(value)) return undefined
  const [problem] = validate.errors ?? []
  return {
    expected: 'content that fits the schema of the request (strict is true)',
    actual: `content ${problem?.instancePath ?? ''} ${problem?.message ?? 'does not fit'}`,
  }
}

const hasToolData: GrantedCheck = (given, exchange) =>
  streamed(given, exchange) ?? shapeFinding(exchange, 'llm-tool-completion')

const completion = grantedBy(() => [controlCase], {
  control: {
    check: hasContent,
    expected: 'a 2xx with choices[0].message.content',
    tries: triesOf('chat.create') - 1,
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
  '200-tool-choice-auto': granted(
    'with tools and tool_choice auto',
    withDeclaredTools,
    hasContentOrCalls,
  ),
  '200-structured-output': granted(
    'with response_format json_schema',
    withResponseFormat,
    hasStructuredOutput,
  ),
  // Only a scenario guarantees that the tool runs.
  '200-llm-tool': granted('with an llm tool', undefined, hasToolData),
  '200-query-config': insideBounds(hasContentOrCalls),
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
