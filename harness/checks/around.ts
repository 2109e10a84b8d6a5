import { setTimeout as sleep } from 'node:timers/promises'
import type { OperationId } from '../../catalogue/operations.ts'
import { sendWithStaleRetry } from '../engine/send.ts'
import { countsAsGranted } from './control.ts'
import { effectOf } from '../engine/operation-probe.ts'
import { isDeclared, validRequest } from './valid-request.ts'
import type { Exchange } from '../engine/exchange.ts'
import { type Run, perRun } from '../engine/run.ts'
import { NotExercised } from '../engine/outcome.ts'
import { type Scenario, isExclusive } from '../target-file/model.ts'
import { type CheckContext, throughGate } from '../engine/check-context.ts'
import { sendHookRequest } from '../engine/hook-request.ts'

/** Follows the request line of what a scenario of the target file brings about. */
export const asScenario = 'as the scenario of the target file says'

/** Deadline of a request of the target file's own, in ms; a shorter one when the run is over. */
const rawMs = 15_000
const rawAfterEndMs = 800

/** Why scenarios that need the target to themselves cannot go on: the control was not granted again. */
const notGrantedAgain = perRun((): { reason: string | undefined } => ({ reason: undefined }))

/** Brings the scenario's state about; throws `NotExercised` if the target refuses. */
export async function enterState({ run, requirement }: CheckContext, { before }: Scenario): Promise<void> {
  for (const request of before) {
    const response = await sendHookRequest(run, request, {
      role: 'setup',
      requirement: requirement.id,
      timeoutMs: rawMs,
    })
    run.life.signal.throwIfAborted()
    if (response.status === undefined || response.status >= 400) {
      const answered = response.status ?? 'not at all'
      throw new NotExercised(`the scenario's before request was answered ${answered}: ${request.method} ${request.url}`)
    }
  }
}

/** Takes the scenario's state back: also when the run is over. */
export async function leaveState({ run, requirement }: CheckContext, { after }: Scenario): Promise<void> {
  for (const request of after) {
    const timeoutMs = run.life.ended ? rawAfterEndMs : rawMs
    await sendHookRequest(run, request, { role: 'cleanup', requirement: requirement.id, timeoutMs })
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
