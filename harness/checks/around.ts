import { setTimeout as sleep } from 'node:timers/promises'
import type { OperationId } from '../../catalogue/operations.ts'
import { sendSurely } from '../engine/send-once.ts'
import { countsAsGranted } from './control.ts'
import { effectOf } from '../engine/effect-of.ts'
import { validRequest } from './valid-request.ts'
import type { Exchange } from '../engine/exchange.ts'
import type { Run } from '../engine/run.ts'
import { NotExercised } from '../engine/outcome.ts'
import type { Scenario } from '../target/model.ts'
import { type Story, throughGate } from '../engine/story.ts'
import { isDeclared } from './apply-scenario.ts'
import { sendErrand } from '../engine/errand.ts'

/** Deadline of a request of the target file's own, in ms; a shorter one when the run is over. */
const rawMs = 15_000
const rawAfterEndMs = 800

/** True where the scenario needs the target to itself: it changes a state that other requests would meet. */
export function isExclusive({ before, after, repeat }: Scenario): boolean {
  return before.length > 0 || after.length > 0 || repeat !== undefined
}

/** Brings the scenario's state about; throws `NotExercised` where the target refuses. */
export async function enterState({ run, row }: Story, { before }: Scenario): Promise<void> {
  for (const errand of before) {
    const status = await sendErrand(run, errand, 'setup', row.id, rawMs)
    run.signal.throwIfAborted()
    if (status === undefined || status >= 400) {
      const answered = status ?? 'not at all'
      throw new NotExercised(
        `a request of the scenario's before was answered ${answered}: ${errand.method} ${errand.url}`,
      )
    }
  }
}

/** Takes the scenario's state back: also when the run is over. */
export async function leaveState({ run, row }: Story, { after }: Scenario): Promise<void> {
  for (const errand of after) await sendErrand(run, errand, 'cleanup', row.id, run.ended ? rawAfterEndMs : rawMs)
}

/**
 * Tells a scenario's story between its `before` and `after` requests; `after` is always sent. Then the run waits until
 * the operation's valid request is granted again.
 */
export async function around(
  story: Story,
  scenario: Scenario,
  operation: OperationId,
  tell: () => Promise<void>,
): Promise<void> {
  const { run } = story
  if (!isExclusive(scenario)) return tell()
  if (run.exclusiveStuck !== undefined) throw new NotExercised(run.exclusiveStuck)
  try {
    await enterState(story, scenario)
    await tell()
  } finally {
    await leaveState(story, scenario)
    if (!run.ended && isDeclared(run, operation)) await awaitGranted(story, operation)
  }
}

async function validOnce(run: Run, operation: OperationId): Promise<Exchange> {
  const purpose = { requirement: null, role: 'control' } as const
  const probe = await validRequest(run, operation)
  return throughGate(run, probe, purpose, () => sendSurely(run, probe, purpose))
}

const firstPauseMs = 50
const longestPauseMs = 2000

/** Waits until the valid request is granted again, at most `jobTimeoutMs`: else nothing of this kind can be judged any more. */
async function awaitGranted({ run }: Story, operation: OperationId): Promise<void> {
  if (run.options.readOnly && effectOf(run, operation) !== 'none') return
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  for (let pause = firstPauseMs; !run.ended; pause = Math.min(pause * 2, longestPauseMs)) {
    const exchange = await validOnce(run, operation).catch(() => undefined)
    if (exchange && countsAsGranted(exchange)) return
    if (performance.now() >= deadline) {
      run.exclusiveStuck = `after a scenario ${operation} was not granted again within ${run.target.limits.jobTimeoutMs} ms`
      return
    }
    await sleep(pause, undefined, { signal: run.signal }).catch(() => undefined)
  }
}
