import { pairsByScenario, type Pairs } from '../../catalogue/pairs.ts'
import { busyStatus, operation as operationOf, triesOfRefusals } from '../../catalogue/operations.ts'
import { type Control, control, notGranted } from './control.ts'
import type { Exchange, Purpose } from '../engine/exchange.ts'
import type { Probe } from '../engine/probe.ts'
import { applyScenario, bringsBody, isDeclared, plainRequest } from './valid-request.ts'
import { NotExercised } from '../engine/outcome.ts'
import { isExclusive, type Scenario } from '../target-file/model.ts'
import { judgePairs } from '../engine/judge-response.ts'
import { judgeThrottled } from './judge-throttled.ts'
import { resendWhile } from './settling.ts'
import { setControl, type Judge, type CheckContext } from '../engine/check-context.ts'
import { around, asScenario, enterState, leaveState } from './around.ts'
import { isBlocked, isGranted, matchPairs } from '../engine/response.ts'
import { sendWithStaleRetry } from '../engine/send.ts'
import { oncePerRun } from '../engine/run.ts'

/** Judges what the pairs do not say of an answer that fits them. */
export type Further = (context: CheckContext, exchange: Exchange) => void

/** Judges a refusal that a scenario of the target file brings about, by what the requirement gives. */
export async function judgeScenario(context: CheckContext, scenario: Scenario, further?: Further): Promise<void> {
  const { run, requirement } = context
  const { operation } = scenario
  const expects = pairsByScenario(requirement, operation)
  const purpose: Partial<Purpose> = { expects }
  const make = (): Promise<Probe> => scenarioProbe(context, scenario)
  const judge = (exchange: Exchange): void => {
    judgePairs(context, exchange, expects, asScenario)
    further?.(context, exchange)
  }
  const undeclared = bringsBody(scenario) && !isDeclared(run, operation)
  const none: Control = { state: 'none', said: 'not sent: the operation is not declared', valid: make }
  const found = undeclared ? none : await control(run, operation)
  if (found.state === 'refused') throw notGranted(found)
  setControl(context, found.state, found.exchange)
  const state = { enter: () => enterState(context, scenario), leave: () => leaveState(context, scenario) }
  await around(context, scenario, operation, async () => {
    if (scenario.repeat !== undefined)
      return judge(await sendRepeatedly(context, { make, most: scenario.repeat, control: found, expects }))
    const first = await context.send(make, purpose)
    const settled = first.throttled
      ? await judgeThrottled(context, { source: make, control: found, last: first, purpose, state })
      : first
    const asksAgain = (exchange: Exchange): boolean => isBlocked(exchange, expects)
    judge(await resendWhile(settled, () => context.send(make, purpose), asksAgain, triesOfRefusals))
  })
}

/** The scenario's request, fresh each time; what is refused has no effect, and all add one file that is in no graph yet. */
async function scenarioProbe({ run }: CheckContext, scenario: Scenario): Promise<Probe> {
  const { operation } = scenario
  const plain = (): Promise<Probe> => plainRequest(run, operation)
  const isShared = operationOf(operation).freshFileAt !== undefined && !isExclusive(scenario)
  const source = isShared ? () => oncePerRun(run, `request of scenarios of ${operation}`, plain) : plain
  return { ...(await applyScenario(run, scenario, operation, source)), effect: 'none' }
}

/** How a refusal is judged that only a scenario of the target file can bring about. */
export function byScenario(further?: Further): Judge {
  return async (context) => {
    const { scenario } = context
    if (!scenario) throw new NotExercised(`declare a scenario for ${context.requirement.id}`)
    await judgeScenario(context, scenario, further)
  }
}

/** An answer that says nothing about the condition: a busy application, a passing 503. */
function tellsNothing({ response, probe }: Exchange, expects: Pairs): boolean {
  const status = response?.status
  if (expects.some(([expected]) => expected === status)) return false
  return status === 503 || (status !== undefined && status === busyStatus(probe.operation))
}

/** A request that is sent until its condition shows. */
interface Repeated {
  make(): Promise<Probe>
  /** Most times that it is sent. */
  readonly most: number
  readonly control: Control
  /** Pairs that answer the condition. */
  readonly expects: Pairs
}

/**
 * Sends the request up to `most` times, as many at once as the semaphore allows, until an answer is not the control's.
 * Throws `NotExercised` if all were granted.
 */
async function sendRepeatedly(context: CheckContext, { make, most, control, expects }: Repeated): Promise<Exchange> {
  const { run, requirement } = context
  const usual = control.exchange?.response?.status
  const purpose = { requirement: requirement.id, role: 'probe', expects } as const
  const tells = (exchange: Exchange): boolean => {
    const { response } = exchange
    const asUsual = response !== undefined && (usual === undefined ? response.status < 300 : response.status === usual)
    const granted = asUsual && (response.status >= 300 || isGranted(response))
    return response !== undefined && !granted && !tellsNothing(exchange, expects)
  }
  let sent = 0
  let found: Exchange | undefined
  const worker = async (): Promise<void> => {
    while (!found && sent < most) {
      run.client.breaker.check(control.exchange?.probe.operation ?? requirement.operation)
      sent++
      const first = await sendWithStaleRetry(run, await make(), purpose, { unpaced: true })
      if (!tells(first)) continue
      // What a request before it left behind on the connection says nothing about this one.
      const isSpoiled =
        first.previousRequest !== undefined && first.response && matchPairs(expects, first.response) !== 'exact'
      const exchange = isSpoiled
        ? await sendWithStaleRetry(run, await make(), purpose, { unpaced: true, fresh: true })
        : first
      if (tells(exchange)) found ??= exchange
    }
  }
  await Promise.all(Array.from({ length: Math.min(run.target.limits.concurrency, most) }, worker))
  if (!found) throw new NotExercised(`the condition did not occur in ${sent} requests (scenario's repeat)`)
  return found
}
