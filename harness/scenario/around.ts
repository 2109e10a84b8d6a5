import { setTimeout as sleep } from 'node:timers/promises'
import type { OperationId } from '../../spec/operations.ts'
import { sendOnce } from '../ask/send-once.ts'
import { countsAsGranted } from '../control/control.ts'
import { effectOf } from '../request/effect-of.ts'
import { plainRequest } from '../request/valid-request.ts'
import { NotExercised } from '../run/outcome.ts'
import type { Scenario } from '../target/model.ts'
import { type Story, throughGate } from '../words/story.ts'
import { isDeclared } from './apply-scenario.ts'
import { sendErrand } from './errand.ts'

/** Deadline of a request of the target file's own, in ms; a shorter one when the run is over. */
const rawMs = 15_000
const rawAfterEndMs = 800

/** True where the scenario needs the target to itself: it changes a state that other requests would meet. */
export function isExclusive({ before, after, repeat }: Scenario): boolean {
  return before.length > 0 || after.length > 0 || repeat !== undefined
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
  const { run, row } = story
  if (!isExclusive(scenario)) return tell()
  if (run.exclusiveStuck !== undefined) throw new NotExercised(run.exclusiveStuck)
  try {
    for (const raw of scenario.before) {
      const status = await sendErrand(run, raw, 'setup', row.id, rawMs)
      run.signal.throwIfAborted()
      if (status === undefined || status >= 400) {
        throw new NotExercised(`a request of the scenario's before was answered ${status ?? 'not at all'}: ${raw.method} ${raw.url}`)
      }
    }
    await tell()
  } finally {
    for (const raw of scenario.after) {
      await sendErrand(run, raw, 'cleanup', row.id, run.ended ? rawAfterEndMs : rawMs)
    }
    if (!run.ended && isDeclared(run, operation)) await awaitGranted(story, operation)
  }
}

const firstPauseMs = 50
const longestPauseMs = 2000

/** Waits until the valid request is granted again, at most `jobTimeoutMs`: else nothing of this kind can be judged any more. */
async function awaitGranted({ run }: Story, operation: OperationId): Promise<void> {
  if (run.options.readOnly && effectOf(run, operation) !== 'none') return
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  const purpose = { requirement: null, role: 'control' } as const
  for (let pause = firstPauseMs; !run.ended; pause = Math.min(pause * 2, longestPauseMs)) {
    const probe = await plainRequest(run, operation)
    const exchange = await throughGate(run, probe, purpose, () => sendOnce(run, probe, purpose)).catch(() => undefined)
    if (exchange && countsAsGranted(exchange)) return
    if (performance.now() >= deadline) {
      run.exclusiveStuck = `after a scenario ${operation} was not granted again within ${run.target.limits.jobTimeoutMs} ms`
      return
    }
    await sleep(pause, undefined, { signal: run.signal }).catch(() => undefined)
  }
}
