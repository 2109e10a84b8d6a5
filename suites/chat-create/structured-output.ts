import { isObject } from '../../schemas/json-object.ts'
import type { ValidateFunction } from 'ajv'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { newAjv } from '../../schemas/ajv.ts'
import { jsonValue } from '../../harness/engine/response.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { getAt } from '../../schemas/pointer.ts'
import { jsonOf, type Probe } from '../../harness/engine/probe.ts'
import { bodyOf } from '../../harness/checks/valid-request.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { atRole, pointerOf } from '../../harness/checks/roles.ts'
import { judgeShape } from '../../harness/checks/shapes.ts'
import type { CheckContext } from '../../harness/engine/check-context.ts'

const what = 'with response_format json_schema'

/** The valid request with the declared response_format. */
export function withResponseFormat(probe: Probe, { run }: CheckContext): Probe {
  const format = getAt(
    bodyOf(run, 'chat.create'),
    pointerOf(run, 'chat.create', 'response_format') ?? '/response_format',
  )
  if (getAt(format, '/type') !== 'json_schema') {
    throw new NotExercised(
      'declare a response_format of type json_schema in operations.chat.create.body, or a scenario',
    )
  }
  return { ...atRole(run, probe, 'response_format', format), effect: probe.effect }
}

let ajv: Ajv2020 | undefined
/** Each schema is compiled once, whatever the number of answers that are held against it. */
const known = new Map<string, ValidateFunction>()

/** One for all schemas: it compiles the meta-schema once. Schemas of the target's are not kept by their `$id`. */
const options = { strict: false, allErrors: false, logger: false, addUsedSchema: false } as const

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

/** The content is JSON text; if `strict` is true it fits the schema that was asked for. */
export function judgeStructuredOutput(context: CheckContext, exchange: Exchange): void {
  judgeShape(context, exchange, 'chat-completion', what)
  const body: unknown = jsonOf(exchange.probe)
  const asked = getAt(
    body,
    `${pointerOf(context.run, 'chat.create', 'response_format') ?? '/response_format'}/json_schema`,
  )
  const content = String(getAt(jsonValue(exchange.response), '/choices/0/message/content'))
  const value = parsed(context, exchange, content)
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

function parsed(context: CheckContext, exchange: Exchange, content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return context.fail(exchange, 'content that is JSON text', what, `content ${JSON.stringify(content.slice(0, 80))}`)
  }
}
