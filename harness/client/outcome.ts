import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reason } from '../report/index.ts'
import { NotExercised } from '../journal/index.ts'

/** Why a run ended early; `lost`: foreign code ended it, or nothing could continue. */
export type EndCause =
  | 'interrupted'
  | 'bail'
  | 'unreachable'
  | 'throttled'
  | 'setup'
  | 'key'
  | 'lost'

class RunEnded extends NotExercised {
  override readonly name = 'RunEnded'
  override readonly cause: EndCause
  constructor(cause: EndCause, reason: string | Reason) {
    super(reason)
    this.cause = cause
  }
}

export interface Lifetime {
  readonly signal: AbortSignal
  readonly ended: RunEnded | undefined
  end(cause: EndCause, reason: string | Reason): void
}

export function createLifetime(): Lifetime {
  const controller = new AbortController()
  // One signal serves all waits of the run.
  setMaxListeners(0, controller.signal)
  let ended: RunEnded | undefined
  return {
    signal: controller.signal,
    get ended() {
      return ended
    },
    end(cause, reason) {
      if (ended) return
      ended = new RunEnded(cause, reason)
      controller.abort(ended)
    },
  }
}

/** Runs `action`; if that was not exercised, `otherwise`, which gets the reason. Throws the end of the run. */
export async function orElse<T, O = undefined>(
  options: { readonly life: Lifetime },
  action: () => Promise<T>,
  otherwise?: (why: NotExercised) => O | Promise<O>,
): Promise<T | O> {
  try {
    return await action()
  } catch (error) {
    if (!(error instanceof NotExercised) || options.life.ended) throw error
    return otherwise?.(error) as O
  }
}

/** Waits that many ms, or throws the end of the run. */
export async function pause(
  { life: { signal } }: { readonly life: Lifetime },
  ms: number,
): Promise<void> {
  // A timer drops the fraction, and may fire another ms early: what must be `settleMs` old would be too young.
  await sleep(Math.ceil(ms), undefined, { signal }).catch(() => undefined)
  signal.throwIfAborted()
}

/** Waits until all have ended, even if one throws; then throws the first error. */
export async function allEnded(works: readonly Promise<unknown>[]): Promise<void> {
  for (const one of await Promise.allSettled(works)) if (one.status === 'rejected') throw one.reason
}
