import { setTimeout as sleep } from 'node:timers/promises'
import {
  type OperationId,
  busyStatus,
  operation as operationOf,
  uploadOperation,
} from '../../catalogue/operations.ts'
import type { CheckContext, Exchange, HttpResponse, Probe, Purpose, Run } from '../engine/index.ts'
import {
  effectOf,
  isBlock,
  isExpected,
  isGranted,
  judgePairs,
  matchPairs,
  NotExercised,
  perRun,
  sendHookRequest,
  sendWithStaleRetry,
  throughGate,
  tpeOf,
} from '../engine/index.ts'
import {
  countsAsGranted,
  type Control,
  control,
  controlWith,
  counterpartOf,
  nameOfControl,
  noteControl,
  notGranted,
} from './control.ts'
import { resendWhile } from './created.ts'
import {
  isDeclared,
  validRequest,
  applyScenario,
  declaresMore,
  distinctRequest,
  draftRequest,
  plainRequest,
  sharedRequest,
} from './valid-request.ts'
import { bringsBody } from './changed-by-scenario.ts'
import { isExclusive, type Scenario } from '../target-file/index.ts'
import { pairsByScenario, type Pairs } from '../../catalogue/expected.ts'

/** Follows the request line of what a scenario of the target file brings about. */
export const asScenario = 'as the scenario of the target file says'

/** Deadline of a request that takes a state back when the run is over, in ms. */
const leaveAfterEndMs = 800

/** Why scenarios that need the target to themselves cannot go on: the control was not granted again. */
const notGrantedAgain = perRun((): { reason: string | undefined } => ({ reason: undefined }))

/** Brings the scenario's state about; throws `NotExercised` if the target refuses. */
export async function enterState(
  { run, requirement }: CheckContext,
  { before }: Scenario,
): Promise<void> {
  for (const request of before) {
    const response = await sendHookRequest(run, request, {
      role: 'setup',
      requirement: requirement.id,
    })
    run.life.signal.throwIfAborted()
    if (response.status === undefined || response.status >= 400) {
      const answered = response.status ?? 'not at all'
      throw new NotExercised(
        `the scenario's before request was answered ${answered}: ${request.method} ${request.url}`,
      )
    }
  }
}

/** Takes the scenario's state back: also when the run is over. */
export async function leaveState(
  { run, requirement }: CheckContext,
  { after }: Scenario,
): Promise<void> {
  for (const request of after) {
    const deadline = run.life.ended ? { timeoutMs: leaveAfterEndMs } : {}
    await sendHookRequest(run, request, {
      role: 'cleanup',
      requirement: requirement.id,
      ...deadline,
    })
  }
}

/**
 * Judges a scenario between its `before` and `after` requests; `after` is always sent. Then the run waits until
 * the operation's valid request is granted again.
 */
export async function around(
  context: CheckContext,
  scenario: Scenario,
  operation: OperationId,
  judge: () => Promise<void>,
): Promise<void> {
  const { run } = context
  if (!isExclusive(scenario)) return judge()
  const { reason } = notGrantedAgain(run)
  if (reason !== undefined) throw new NotExercised(reason)
  try {
    await enterState(context, scenario)
    await judge()
  } finally {
    await leaveState(context, scenario)
    if (!run.life.ended && isDeclared(run, operation)) await awaitGranted(context, operation)
  }
}

async function validOnce(run: Run, operation: OperationId): Promise<Exchange> {
  const purpose = { requirement: null, role: 'control' } as const
  const probe = await validRequest(run, operation)
  return throughGate(run, probe, purpose, () => sendWithStaleRetry(run, probe, purpose))
}

const firstPauseMs = 50
const longestPauseMs = 2000

/** Waits until the valid request is granted again, at most `jobTimeoutMs`: else nothing of this kind can be judged any more. */
async function awaitGranted({ run }: CheckContext, operation: OperationId): Promise<void> {
  if (run.options.readOnly && effectOf(run, operation) !== 'none') return
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  for (let pause = firstPauseMs; !run.life.ended; pause = Math.min(pause * 2, longestPauseMs)) {
    const exchange = await validOnce(run, operation).catch(() => undefined)
    if (exchange && countsAsGranted(exchange)) return
    if (performance.now() >= deadline) {
      notGrantedAgain(run).reason =
        `after a scenario ${operation} was not granted again within ${run.target.limits.jobTimeoutMs} ms`
      return
    }
    await sleep(pause, undefined, { signal: run.life.signal }).catch(() => undefined)
  }
}

/** Judges what the pairs do not say of an answer that fits them. */
export type Further = (context: CheckContext, exchange: Exchange) => void

/** Judges a refusal that a scenario of the target file brings about, by what the requirement gives. */
export async function judgeScenario(
  context: CheckContext,
  scenario: Scenario,
  further?: Further,
): Promise<void> {
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
  const none: Control = {
    state: 'none',
    said: () => 'not sent: the operation is not declared',
    valid: make,
  }
  const found = undeclared ? none : await scenarioControl(run, operation)
  if (found.state === 'refused') throw notGranted(found)
  noteControl(context, found)
  const state = {
    enter: () => enterState(context, scenario),
    leave: () => leaveState(context, scenario),
  }
  await around(context, scenario, operation, async () => {
    if (scenario.repeat !== undefined)
      return judge(
        await sendRepeatedly(context, { make, most: scenario.repeat, control: found, expects }),
      )
    const counterpart = async () => counterpartOf(found)
    const send = (source: () => Promise<Probe>): Promise<Exchange> =>
      context.send(source, purpose, { counterpart, state })
    // Of the bytes that the control sent a server may say first that they are there already (§7.2).
    const isDuplicate = ({ response }: Exchange): boolean =>
      operation === uploadOperation && response?.status === 409 && !isExpected(expects, response)
    const own = (): Promise<Exchange> =>
      send(() => scenarioProbe(context, scenario, () => distinctRequest(run, operation)))
    judge(await resendWhile(await send(make), own, isDuplicate, 2))
  })
}

/** What a scenario changes is the declared request, whole: with tools, say, that a valid request of other requirements has not. */
function scenarioControl(run: Run, operation: OperationId): Promise<Control> {
  if (!declaresMore(run, operation)) return control(run, operation)
  const name = nameOfControl(draftRequest(run, operation, 'whole'))
  return controlWith(run, operation, name, () => plainRequest(run, operation, 'whole'))
}

/** The scenario's request, fresh each time; what is refused has no effect, and all add one file that is in no graph yet. */
async function scenarioProbe(
  { run }: CheckContext,
  scenario: Scenario,
  plain = (): Promise<Probe> => plainRequest(run, scenario.operation, 'whole'),
): Promise<Probe> {
  const { operation } = scenario
  const isShared = operationOf(operation).freshFileAt !== undefined && !isExclusive(scenario)
  const source = isShared
    ? () => sharedRequest(run, `request of scenarios of ${operation}`, plain)
    : plain
  return { ...(await applyScenario(run, scenario, operation, source)), effect: 'none' }
}

/** Judges a refusal that only a scenario of the target file can bring about. */
export async function byScenario(context: CheckContext, further?: Further): Promise<void> {
  const { scenario } = context
  if (!scenario) throw new NotExercised(`declare a scenario for ${context.requirement.id}`)
  await judgeScenario(context, scenario, further)
}

/** An answer that says nothing about the condition: a busy application, a passing 503, a block by another name. */
function tellsNothing(response: HttpResponse, { probe }: Exchange, expects: Pairs): boolean {
  const { status } = response
  if (expects.some(([expected]) => expected === status)) return false
  const isNamed = expects.some(([, ...names]) => names.includes(tpeOf(response) ?? ''))
  return status === 503 || status === busyStatus(probe.operation) || (isBlock(response) && !isNamed)
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
async function sendRepeatedly(
  context: CheckContext,
  { make, most, control, expects }: Repeated,
): Promise<Exchange> {
  const { run, requirement } = context
  const usual = control.exchange?.response?.status
  const purpose = { requirement: requirement.id, role: 'probe', expects } as const
  const tells = (exchange: Exchange): boolean => {
    const { response } = exchange
    const asUsual =
      response !== undefined &&
      (usual === undefined ? response.status < 300 : response.status === usual)
    const granted = asUsual && (response.status >= 300 || isGranted(response))
    return response !== undefined && !granted && !tellsNothing(response, exchange, expects)
  }
  let sent = 0
  let found: Exchange | undefined
  const worker = async (): Promise<void> => {
    while (!found && sent < most) {
      run.client.breaker.check(control.exchange?.probe.operation ?? requirement.operation)
      sent++
      const first = await sendWithStaleRetry(run, await make(), purpose, { pace: 'none' })
      if (!tells(first)) continue
      // An effect of the previous request on the connection proves nothing about this one.
      const isSpoiled =
        first.previousRequest !== undefined &&
        first.response &&
        matchPairs(expects, first.response) !== 'exact'
      const exchange = isSpoiled
        ? await sendWithStaleRetry(run, await make(), purpose, { pace: 'none', fresh: true })
        : first
      if (tells(exchange)) found ??= exchange
    }
  }
  await Promise.all(Array.from({ length: Math.min(run.target.limits.concurrency, most) }, worker))
  if (!found)
    throw new NotExercised(`the condition did not occur in ${sent} requests (scenario's repeat)`)
  return found
}
