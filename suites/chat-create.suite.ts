import type { ValidateFunction } from 'ajv'
import { isObject, getAt } from '../schemas/json.ts'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { newAjv } from '../schemas/ajv.ts'
import {
  atRole,
  bodyOf,
  byRecord,
  controlCase,
  controlExchange,
  granted,
  grantedBy,
  type GrantedCheck,
  type Known,
  type OfTarget,
  respelled,
  suite,
  tryUntilGranted,
  validRequest,
  valueAt,
} from '../harness/checks/index.ts'
import {
  type Exchange,
  Failed,
  jsonOf,
  jsonValue,
  NotExercised,
  type Probe,
  type Run,
} from '../harness/engine/index.ts'
import { type CheckContext, judgeGranted, judgeShape } from '../harness/run/index.ts'
import { triesOf } from '../catalogue/operations.ts'
import { unknownModel } from '../catalogue/expected.ts'
import { insideBounds } from './query-config.ts'

const hasContent: GrantedCheck = (context, exchange, what) => {
  judgeGranted(context, exchange, 'a 2xx with choices[0].message.content', what)
  requireWhole(context.run, exchange)
  judgeShape(context, exchange, 'chat-completion', what)
}

/** Throws `NotExercised` for a stream, whose form the spec does not show. */
function requireWhole(run: Run, { probe }: Exchange): void {
  if (valueAt(run, 'chat.create', 'stream', jsonOf(probe)) === true)
    throw new NotExercised(
      'the scenario requests a stream, like the declared body: add "stream": null to its merge',
    )
}

/** Like `hasContent`, but also accepts tool calls. */
const hasContentOrCalls: GrantedCheck = (context, exchange, what) => {
  const calls = getAt(jsonValue(exchange.response), '/choices/0/message/tool_calls')
  if (!Array.isArray(calls) || calls.length === 0) hasContent(context, exchange, what)
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

function compiled(schema: Record<string, unknown>): ValidateFunction {
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
    throw new NotExercised(`the declared schema cannot be compiled: ${(error as Error).message}`)
  }
}

const judgeStructuredOutput: GrantedCheck = (context, exchange, what) => {
  requireWhole(context.run, exchange)
  judgeShape(context, exchange, 'chat-completion', what)
  const asked = getAt(
    valueAt(context.run, 'chat.create', 'response_format', jsonOf(exchange.probe)),
    '/json_schema',
  )
  const value = parsed(context, exchange, what)
  const schema = getAt(asked, '/schema')
  if (getAt(asked, '/strict') !== true || !isObject(schema)) return
  const validate = compiled(schema)
  if (validate(value)) return
  const [problem] = validate.errors ?? []
  context.fail(
    exchange,
    'content that fits the schema of the request (strict is true)',
    what,
    `content ${problem?.instancePath ?? ''} ${problem?.message ?? 'does not fit'}`,
  )
}

function parsed(context: CheckContext, exchange: Exchange, what: string): unknown {
  const content = String(getAt(jsonValue(exchange.response), '/choices/0/message/content'))
  try {
    return JSON.parse(content)
  } catch {
    return context.fail(
      exchange,
      'content that is JSON text',
      what,
      `content ${JSON.stringify(content.slice(0, 80))}`,
    )
  }
}

const hasToolData: GrantedCheck = (context, exchange, what) => {
  requireWhole(context.run, exchange)
  judgeShape(context, exchange, 'llm-tool-completion', what)
}

const valid = 'with a valid request'

const completion = grantedBy(() => [controlCase], {
  async tryControl(context) {
    try {
      hasContent(context, await controlExchange(context.run, 'chat.create'), valid)
    } catch (error) {
      if (!(error instanceof Failed) || !error.failure.exchange?.response) throw error
      // Generated answers vary: a later one may satisfy the check.
      const make = () => validRequest(context.run, 'chat.create')
      const tries = triesOf('chat.create') - 1
      await tryUntilGranted(context, { make, what: valid, check: hasContent, tries })
    }
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
    judgeStructuredOutput,
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
