import { setTimeout as pause } from 'node:timers/promises'
import type { Target } from '../../harness/target/model.ts'
import { askOnce, takesConnections } from '../run/reach-target.ts'

/** Between two looks at a target that answers, and at one that does not, in ms. */
const lookMs = 250
const askMs = 500
/** Longest wait for an answer, in ms. */
const answerMs = 5_000

/** How a target is looked at between two runs. */
export interface TargetWatch {
  /** Called once when the target is found gone, and once when it answers again, which ends the watch. */
  readonly onGone: () => void
  readonly onBack: () => void
  readonly signal: AbortSignal
}

/**
 * Notices a target that restarts. On this machine, one that takes no more connections is gone; nothing is sent for that. From
 * elsewhere only a run can tell, and says so by `isGone`. Then `GET /v1/files` is sent until any answer comes.
 */
export async function watchTarget(target: Target, isGone: boolean, { onBack, onGone, signal }: TargetWatch) {
  try {
    if (!isGone) {
      if (!isLoopback(target.baseUrl)) return
      while (await takesConnections(target.baseUrl)) await pause(lookMs, undefined, { signal })
      signal.throwIfAborted()
    }
    onGone()
    while (!(await answers(target, signal))) await pause(askMs, undefined, { signal })
    onBack()
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

async function answers(target: Target, signal: AbortSignal): Promise<boolean> {
  const { kind } = await askOnce(target, answerMs, signal)
  signal.throwIfAborted()
  return kind === 'answer'
}

function isLoopback(baseUrl: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname)
}
