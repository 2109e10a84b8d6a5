import { operation as recordOf, type OperationId, triesOf } from '../../catalogue/operations.ts'
import {
  control,
  controlExchange,
  counterpartOf,
  countsAsGranted,
  operationIn,
  triesFor,
} from './control.ts'
import type { CheckContext, Exchange, Judge, Probe } from '../engine/index.ts'
import { Failed, jsonOf, judgeGranted, NotExercised } from '../engine/index.ts'
import { property } from './at-once.ts'
import {
  type Case,
  type Cases,
  type Generated,
  judgeInTurn,
  type Material,
  materialOf,
} from './case.ts'
import { type Known, sampled } from './values.ts'
import { isObject } from '../../schemas/json.ts'
import { applyScenario, plainRequest, validRequest } from './valid-request.ts'
import { around, asScenario } from './scenario.ts'
import { withBody } from './conditions.ts'
import { sendUntilSettled, uploadsIn } from './created.ts'
import { judgeRefused } from './upload.ts'

/**
 * Judges more of a granted answer than its status: throws `Failed` if it is not what the spec shows.
 * @param what the request, in words that follow the request line
 */
export type GrantedCheck = (context: CheckContext, exchange: Exchange, what: string) => void

/** Makes a granted request of the operation's valid one, from what is known before anything is sent. */
type Change = (valid: Probe, known: Known) => Probe
const unchanged = (valid: Probe): Probe => valid

/** A granted requirement whose requests are known before anything is sent. */
export interface GrantedByCases {
  readonly judge: Judge
  readonly cases: Cases
  readonly generated?: Generated
}

function successOf({ requirement: { expects } }: CheckContext): string {
  return typeof expects === 'number' ? String(expects) : 'a 2xx'
}

/** The operation's granted requirement: its request is the control of the refusals, sent once; if it makes nothing, again at the end. */
export const accepted = byControl(async (context) => {
  const operation = operationIn(context)
  await inScenario(context, operation, async () => {
    const sent = await controlExchange(context.run, operation)
    const already = sent.response?.status === 409 && countsAsGranted(sent)
    const exchange = already ? await sendWithFreshFile(context, operation, sent) : sent
    judgeGranted(context, exchange, successOf(context), withValid)
  })
})

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

const withValid = 'with a valid request'

/** The operation's valid request: it is sent once a run. */
export const controlCase: Case = { what: withValid, isControl: true, change: unchanged }

/**
 * A granted requirement that is judged by the operation's control; then by the very same request at the end of the run, right
 * after one that is refused for its body: neither that it was granted before, nor that another was refused, nor what a run
 * leaves behind is a reason to answer otherwise. Then by its JSON in another spelling. Not if it creates something, nor in a
 * scenario, which brings about a condition of its own, nor in a quick run.
 * @param judgeControl judges the answer to the control
 * @param check judges the answers at the end
 */
export function byControl(judgeControl: Judge, check?: GrantedCheck): GrantedByCases {
  const cases: Cases = ({ operation, valid }) => {
    const { body, effect } = recordOf(operation)
    if (effect === 'creates') return [controlCase]
    const isJson = body === 'json'
    const atEnd = { when: 'at the end', change: unchanged, effect: valid.effect } as const
    const again = { ...atEnd, what: `${withValid}, at the end of the run` }
    if (!isJson) return [controlCase, again]
    return [
      controlCase,
      { ...again, before: 'a refused one' },
      { ...atEnd, what: 'with its JSON in another spelling', change: respelled },
    ]
  }
  return grantedBy(cases, { check, judgeControl })
}

interface GrantedOptions {
  /** What else has to hold of each answer. */
  readonly check?: GrantedCheck | undefined
  readonly generated?: Generated
  /** Judges the control, which is one of the cases. */
  readonly judgeControl?: Judge
  /** Follows the request line of a scenario's request. */
  readonly inScenario?: string
}

/** A granted requirement that is judged by these cases; or by a scenario in their place. */
export function grantedBy(
  cases: Cases,
  { check, generated, judgeControl, inScenario: what = asScenario }: GrantedOptions,
): GrantedByCases {
  const chosen = (material: Material): readonly Case[] => {
    const all = cases(material)
    return material.options.depth === 'full'
      ? all
      : sampled(
          { run: material, requirement: material.requirement },
          all.filter(({ when }) => when === undefined),
        )
  }
  return {
    cases: chosen,
    ...(generated && { generated }),
    async judge(context) {
      const { run, requirement, scenario } = context
      const operation = operationIn(context)
      await judgeControl?.(context)
      if (scenario) {
        if (!judgeControl) await judgeOwn(context, { what, change: unchanged }, check)
        return
      }
      const material = materialOf(run, requirement, operation)
      const own = chosen(material).filter(({ isControl }) => !isControl)
      await judgeInTurn(context, own, async (one) => {
        await judgeOwn(context, one, check)
        context.open.settle(1)
      })
      const more = run.options.depth === 'full' ? generated?.(material) : undefined
      if (more) await property(context, 'grantedRuns', more, (one) => judgeOwn(context, one, check))
    },
  }
}

/** Sends a case, until it is granted and passes the check, and what comes right before it. */
async function judgeOwn(context: CheckContext, one: Case, check?: GrantedCheck): Promise<void> {
  const { run } = context
  const operation = operationIn(context)
  if (one.when === 'at the end') judgeRefused(context)
  if (one.before === 'a refused one')
    await context.send(withBody(await validRequest(run, operation), 'text'), {
      role: 'setup',
      badInput: true,
      about: `${operation}/4xx-malformed-body`,
    })
  const make = async (): Promise<Probe> => {
    const valid = await validRequest(run, operation)
    return { ...one.change(valid), effect: valid.effect, fault: one.fault }
  }
  await judgeTries(context, { make, what: one.what, ...(check && { check }) })
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
export function granted(
  what: string,
  change: Change = unchanged,
  check?: GrantedCheck,
): GrantedByCases {
  return grantedBy(
    (material) => [
      { what, change: (valid) => change(valid, material), effect: material.valid.effect },
    ],
    { check, inScenario: what },
  )
}

/** How a granted requirement is judged that a scenario of the target file brings about. */
export const grantedByScenario = granted(asScenario).judge

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
        const purpose = { isSuccess: countsAsGranted, what }
        const counterpart = async () => counterpartOf(await control(run, operation))
        const exchange = await sendUntilSettled(
          run,
          await context.send(make, purpose, { counterpart }),
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
