import { operation as recordOf, type OperationId, triesOf } from '../../catalogue/operations.ts'
import { control, controlExchange, countsAsGranted, operationIn, triesFor } from './control.ts'
import { judgeThrottled } from './throttled.ts'
import type { CheckContext, Exchange, Judge, Probe } from '../engine/index.ts'
import { Failed, jsonOf, judgeGranted, NotExercised } from '../engine/index.ts'
import { isObject } from '../../schemas/json.ts'
import { applyScenario, plainRequest, validRequest } from './valid-request.ts'
import { around, asScenario } from './scenario.ts'
import { withBody } from './conditions.ts'
import { sendUntilSettled, uploadsIn } from './created.ts'

/**
 * Judges more of a granted answer than its status: throws `Failed` if it is not what the spec shows.
 * @param what the request, in words that follow the request line
 */
export type GrantedCheck = (context: CheckContext, exchange: Exchange, what: string) => void

/** Makes a granted request of the operation's valid one. */
type Change = (valid: Probe, context: CheckContext) => Probe | Promise<Probe>
const unchanged: Change = (valid) => valid

function successOf({ requirement: { expects } }: CheckContext): string {
  return typeof expects === 'number' ? String(expects) : 'a 2xx'
}

/**
 * The operation's granted requirement: its request is the control of the refusals, sent once; and, if it makes nothing, once
 * more when everything else was sent.
 */
export const accepted: Judge = async (context) => {
  const operation = operationIn(context)
  await inScenario(context, operation, async () => {
    const sent = await controlExchange(context.run, operation)
    const already = sent.response?.status === 409 && countsAsGranted(sent)
    const exchange = already ? await sendWithFreshFile(context, operation, sent) : sent
    judgeGranted(context, exchange, successOf(context), 'with a valid request')
  })
  if (recordOf(operation).effect !== 'creates') againAtEnd(context)
}

/** The value with the members of its objects in the opposite order, which means nothing. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, own]) => [name, turned(own)]),
  )
}

/** The probe with the same JSON value in another spelling (RFC 8259): white space, names and texts that begin with an escape, members in another order. */
export function respelled(probe: Probe): Probe {
  const spread = `\r\n\t${JSON.stringify(turned(jsonOf(probe)), null, 2)}\n`
  const escaped = spread.replaceAll(
    /(?<!\\)"([a-z])/gi,
    (_, letter: string) => `"\\u00${letter.charCodeAt(0).toString(16)}`,
  )
  return { ...probe, body: escaped }
}

/**
 * The very same request once more at the end of the run, right after one that is refused for its body: neither that it was
 * granted before, nor that another was refused, nor what a run leaves behind is a reason to answer otherwise. Then its JSON
 * in another spelling. Not in a scenario, which brings about a condition of its own, and not in a quick run.
 */
export function againAtEnd(context: CheckContext, check?: GrantedCheck): void {
  const { run, scenario } = context
  if (scenario || run.options.depth === 'quick') return
  const operation = operationIn(context)
  const make = (): Promise<Probe> => validRequest(run, operation)
  const request = {
    make,
    what: 'with a valid request, at the end of the run',
    ...(check ? { check } : {}),
  }
  const other = {
    ...request,
    make: async () => respelled(await make()),
    what: 'with its JSON in another spelling',
  }
  const isJson = recordOf(operation).body === 'json'
  context.atEnd = async () => {
    if (isJson) {
      await context.send(withBody(await validRequest(run, operation), 'text'), {
        role: 'setup',
        badInput: true,
        about: `${operation}/4xx-malformed-body`,
      })
    }
    await judgeTries(context, request)
    if (isJson) await judgeTries(context, other)
  }
}

/**
 * A control that was answered that the file is in the graph already: it counts as a granted control, but says
 * nothing about the granted requirement unless the file had only just been uploaded.
 */
async function sendWithFreshFile(
  context: CheckContext,
  operation: OperationId,
  already: Exchange,
): Promise<Exchange> {
  const { run } = context
  const { first, valid } = await control(run, operation)
  const uploaded = uploadsIn(run, already.probe)
  const none =
    'the file is in the graph already, and no fresh one can be uploaded (declare operations.files.upload and fields.file)'
  if (uploaded === '') throw new NotExercised(none)
  const sent = await context.send(valid, { isSuccess: countsAsGranted })
  const exchange = await sendUntilSettled(
    run,
    sent,
    (probe) => context.send(probe),
    countsAsGranted,
  )
  // A server may know a file by its content and give it the same id each time.
  if (uploadsIn(run, exchange.probe) === uploaded) throw new NotExercised(none)
  // Refused at first, and then in the graph: the refusal was no true one, unless a request between them got no answer.
  if (first && first !== already && !already.unanswered) return first
  if (exchange.unanswered && exchange.response?.status === 409)
    throw new NotExercised('the answer to an addition was lost')
  return exchange
}

/**
 * A further granted requirement of an operation: a change to its valid request, or a scenario in its place.
 * @param what in words that follow the request line: `with file_types`
 */
export function granted(what: string, change: Change = unchanged, check?: GrantedCheck): Judge {
  return (context) => {
    const make = async (): Promise<Probe> =>
      change(await validRequest(context.run, operationIn(context)), context)
    return judgeTries(context, { make, what, ...(check ? { check } : {}) })
  }
}

/** How a granted requirement is judged that a scenario of the target file brings about. */
export const grantedByScenario = granted(asScenario)

/** The request of a granted requirement: its own, or that of the scenario which the target declares for it. */
export function grantedProbe(
  { run, requirement, scenario }: CheckContext,
  operation: OperationId,
  own: () => Promise<Probe>,
): () => Promise<Probe> {
  if (!scenario) return own
  return async () => {
    const probe = await applyScenario(run, scenario, operation, () =>
      plainRequest(run, operation, 'whole'),
    )
    return { ...probe, effect: requirement.effect }
  }
}

/** Judges a requirement within the scenario that the target declares for it, if any. */
export function inScenario(
  context: CheckContext,
  operation: OperationId,
  judge: () => Promise<void>,
): Promise<void> {
  const { scenario } = context
  return scenario ? around(context, scenario, operation, judge) : judge()
}

interface GrantedRequest {
  make(): Promise<Probe>
  readonly what: string
  readonly check?: GrantedCheck
  /** Number of tries, if not that of the operation's other granted requests. */
  readonly tries?: number
}

/** Sends a request until it is granted and passes the check, at most `tries` times. */
export async function judgeTries(context: CheckContext, request: GrantedRequest): Promise<void> {
  const { run } = context
  const operation = operationIn(context)
  const { what, check, tries } = request
  const make = grantedProbe(context, operation, () => request.make())
  const judge = async (): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      let most = tries ?? triesOf(operation)
      try {
        const first = await context.send(make, { isSuccess: countsAsGranted, what })
        const unthrottled = first.throttled
          ? await judgeThrottled(context, {
              source: make,
              control: await control(run, operation),
              last: first,
            })
          : first
        const exchange = await sendUntilSettled(
          run,
          unthrottled,
          (probe) => context.send(probe),
          countsAsGranted,
        )
        most = tries ?? triesFor(operation, exchange)
        judgeGranted(context, exchange, successOf(context), what)
        check?.(context, exchange, what)
        return
      } catch (error) {
        // An operation that gives no answer teaches nothing more.
        const answered = error instanceof Failed && error.failure.exchange?.response !== undefined
        if (!answered || attempt >= most) throw error
      }
    }
  }
  return inScenario(context, operation, judge)
}
