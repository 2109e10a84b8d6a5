import { countsAsGranted } from '../journal/index.ts'
import { operation as recordOf, type OperationId, triesOf } from '../../catalogue/operations.ts'
import { isObject } from '../../schemas/json.ts'
import {
  type Exchange,
  Failed,
  jsonOf,
  NotExercised,
  type Probe,
  withJson,
} from '../engine/index.ts'
import { type CheckContext, judgeGranted } from '../run/index.ts'
import { property, tryEach } from './at-once.ts'
import {
  type Case,
  type Cases,
  type Generated,
  type KnownCases,
  type Material,
  materialOf,
  quickCases,
} from './case.ts'
import { control, controlExchange, operationIn, triesFor } from './control.ts'
import { sendUntilSettled, uploadsIn } from './created.ts'
import { around, asScenario } from './scenario.ts'
import { judgeRefused } from './upload.ts'
import { applyScenario, validRequest } from './valid-request.ts'
import type { Known } from './values.ts'

/**
 * Judges more of a successful answer than its status: throws `Failed` if it is not as documented.
 * @param what continues the request line
 */
export type GrantedCheck = (context: CheckContext, exchange: Exchange, what: string) => void

export interface GrantedByCases extends KnownCases {
  readonly judge: (context: CheckContext) => Promise<void>
}

const successOf = ({ requirement: { expects } }: CheckContext): string =>
  typeof expects === 'number' ? String(expects) : 'a 2xx'

/**
 * The requirement for valid requests: sent once, as the control of refusals; again at the end, unless it creates
 * something.
 */
export const accepted = byControl(async (context) => {
  const operation = operationIn(context)
  await inScenario(context, operation, async () => {
    const sent = await controlExchange(context.run, operation)
    const already = sent.response?.status === 409 && countsAsGranted(sent)
    const exchange = already ? await sendWithFreshFile(context, operation, sent) : sent
    judgeGranted(context, exchange, successOf(context), withValid)
  })
})

function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (!isObject(value)) return value
  const members = Object.entries(value).toReversed()
  return Object.fromEntries(members.map(([name, own]) => [name, turned(own)]))
}

/**
 * The same JSON value in another spelling (RFC 8259): white space, escapes at the beginning of names and texts, members
 * in another order.
 */
export function respelled(probe: Probe): Probe {
  const spread = `\r\n\t${JSON.stringify(turned(jsonOf(probe)), null, 2)}\n`
  const body = spread.replaceAll(
    /(?<!\\)"([a-z])/gi,
    (_, letter: string) => `"\\u00${letter.charCodeAt(0).toString(16)}`,
  )
  return { ...probe, body }
}

const withValid = 'with a valid request'
const unchanged = { change: (valid: Probe): Probe => valid }

export const controlCase: Case = { ...unchanged, what: withValid, isControl: true }

/**
 * A requirement judged by the operation's control; then by the same request at the end of the run, immediately after
 * one with an invalid body, since earlier requests must not change the answer; then with other JSON spelling. Not for
 * creations, scenarios and quick runs.
 * @param tryControl judges the control's answer
 * @param check judges the answers at the end
 */
export function byControl(
  tryControl: GrantedByCases['judge'],
  check?: GrantedCheck,
): GrantedByCases {
  const cases: Cases = ({ operation, valid }) => {
    const { body, effect } = recordOf(operation)
    if (effect === 'creates') return [controlCase]
    const atEnd = { when: 'at the end', effect: valid.effect } as const
    const again = { ...atEnd, ...unchanged, what: `${withValid}, at the end of the run` }
    if (body !== 'json') return [controlCase, again]
    return [
      controlCase,
      { ...again, before: 'a refused one' },
      { ...atEnd, what: 'with its JSON written differently', change: respelled },
    ]
  }
  return grantedBy(cases, { check, tryControl })
}

interface GrantedOptions {
  readonly check?: GrantedCheck | undefined
  readonly generated?: Generated
  readonly tryControl?: GrantedByCases['judge']
  /** Continues the request line of a scenario's request. */
  readonly inScenario?: string
}

/** A requirement judged by these cases, or by a scenario instead. */
export function grantedBy(
  cases: Cases,
  { check, generated, tryControl, inScenario: what = asScenario }: GrantedOptions,
): GrantedByCases {
  const chosen = (material: Material): readonly Case[] => {
    const all = cases(material)
    return material.options.depth === 'full' ? all : quickCases(material, all)
  }
  return {
    cases: chosen,
    ...(generated && { generated }),
    async judge(context) {
      const { run, requirement, scenario } = context
      await tryControl?.(context)
      if (scenario) {
        if (!tryControl) await tryOwn(context, { ...unchanged, what }, check)
        return
      }
      const material = materialOf(run, requirement, operationIn(context))
      const own = chosen(material).filter(({ isControl }) => !isControl)
      const tryOne = (one: Case): Promise<void> => tryOwn(context, one, check)
      await tryInTurn(context, own, tryOne)
      const more = material.options.depth === 'full' ? generated?.(material) : undefined
      if (more) await property(context, 'grantedRuns', more, tryOne)
    },
  }
}

/** Tries these cases, several at once, and those of the end at the end of the run. */
async function tryInTurn(
  context: CheckContext,
  all: readonly Case[],
  tryOne: (one: Case) => Promise<void>,
): Promise<void> {
  const isLast = (one: Case): boolean => one.when === 'at the end'
  await tryEach(
    all.filter((one) => !isLast(one)),
    tryOne,
  )
  if (all.some(isLast)) context.atEnd = () => tryEach(all.filter(isLast), tryOne)
}

/** Sends a case until it is accepted and passes the check, with its preceding request. */
async function tryOwn(context: CheckContext, one: Case, check?: GrantedCheck): Promise<void> {
  const { run } = context
  const operation = operationIn(context)
  if (one.when === 'at the end') judgeRefused(context)
  if (one.before === 'a refused one') {
    const refused = {
      ...withJson(await validRequest(run, operation), 'text'),
      effect: 'none',
    } as const
    const about = `${operation}/4xx-malformed-body`
    await context.send(refused, { role: 'setup', badInput: true, about })
  }
  const make = async (): Promise<Probe> => {
    const valid = await validRequest(run, operation)
    return { ...one.change(valid), effect: valid.effect, fault: one.fault }
  }
  await tryUntilGranted(context, { make, what: one.what, check })
}

/**
 * Handles "already in the graph": it counts as an accepted control, but does not prove the requirement unless the file
 * was new.
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
    'the file is already in the graph, and no new one can be uploaded (declare operations.files.upload and fields.file)'
  if (uploaded === '') throw new NotExercised(none)
  const sent = await context.send(valid, { isSuccess: countsAsGranted })
  const again = (probe: Probe): Promise<Exchange> => context.send(probe)
  const exchange = await sendUntilSettled(run, sent, again, countsAsGranted)
  // A server may identify files by content and return the same id each time.
  if (uploadsIn(run, exchange.probe) === uploaded) throw new NotExercised(none)
  // Refused first, and then in the graph: the refusal was wrong, unless a request in between got no answer.
  if (first && first !== already && !already.unanswered) return first
  if (exchange.unanswered && exchange.response?.status === 409)
    throw new NotExercised('the answer to an addition was lost')
  return exchange
}

/**
 * A further requirement for valid requests: a change of the valid request, or a scenario instead.
 * @param what continues the request line: `with file_types`
 */
export function granted(
  what: string,
  change: (valid: Probe, known: Known) => Probe = unchanged.change,
  check?: GrantedCheck,
): GrantedByCases {
  const cases: Cases = (material) => [
    { what, change: (valid) => change(valid, material), effect: material.valid.effect },
  ]
  return grantedBy(cases, { check, inScenario: what })
}

export const grantedByScenario = granted(asScenario).judge

export function grantedProbe(
  { run, requirement: { effect }, scenario }: CheckContext,
  operation: OperationId,
  own: () => Promise<Probe>,
): () => Promise<Probe> {
  return scenario
    ? async () => ({ ...(await applyScenario(run, scenario, operation)), effect })
    : own
}

/** Judges a requirement within its declared scenario, if any. */
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
  readonly check?: GrantedCheck | undefined
  /** Number of attempts, if different from other valid requests. */
  readonly tries?: number
}

export function tryUntilGranted(
  context: CheckContext,
  { make: own, what, check, tries }: GrantedRequest,
): Promise<void> {
  const { run } = context
  const operation = operationIn(context)
  const make = grantedProbe(context, operation, () => own())
  const purpose = { isSuccess: countsAsGranted, what }
  const again = (probe: Probe): Promise<Exchange> => context.send(probe)
  return inScenario(context, operation, async () => {
    for (let attempt = 1; ; attempt++) {
      let most = tries ?? triesOf(operation)
      try {
        const sent = await context.send(make, purpose)
        const exchange = await sendUntilSettled(run, sent, again, countsAsGranted)
        most = tries ?? triesFor(operation, exchange)
        judgeGranted(context, exchange, successOf(context), what)
        check?.(context, exchange, what)
        return
      } catch (error) {
        // An operation that does not answer shows nothing more.
        const answered = error instanceof Failed && error.failure.exchange?.response !== undefined
        if (!answered || attempt >= most) throw error
      }
    }
  })
}
