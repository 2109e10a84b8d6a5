import { setMaxListeners } from 'node:events'
import { type EndCause, RunEnded } from './outcome.ts'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long a run goes on: until its end, or until somebody ends it before that. */
export interface Lifetime {
  /** Aborts with a `RunEnded` when the run is over before its time. */
  readonly signal: AbortSignal
  readonly ended: RunEnded | undefined
  /** Ends the run; only the first call counts. */
  end(cause: EndCause, reason: string): void
}

export function createLifetime(): Lifetime {
  const controller = new AbortController()
  // One signal serves everything that waits in the run.
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

/** Waits that many ms; throws the end of the run if that comes first. */
export async function pause({ life: { signal } }: { readonly life: Lifetime }, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
  signal.throwIfAborted()
}
