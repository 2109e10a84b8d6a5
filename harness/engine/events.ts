import type { CatalogueResult, Created, NotServed, Reason } from '../report/index.ts'
import { keyRefusal } from './keys.ts'
import type { Log } from './log.ts'
import type { EndCause } from './outcome.ts'
import type { Plan, Run } from './run.ts'

/** Facts that a run learned besides the results. */
export interface RunFacts {
  readonly requests: number
  readonly throttled: number
  readonly retried: number
  /** The longest pause that a throttled answer asked for, in ms; 0: none did. */
  readonly longestPauseMs: number
  /** Host and port of the proxy that was asked, without its credentials. */
  readonly proxy: string | null
  readonly created: readonly Created[]
  readonly answers: Log
  readonly notServed: readonly NotServed[]
  /** Operations that the target does not seem to have, and how it answered. */
  readonly absent: readonly NotServed[]
  /** Every request with the full key that was answered was answered 401, or there is no such key. */
  readonly keyRefused: boolean
  /** What is to be said of the first. */
  readonly keyRefusal?: string | undefined
  readonly ended: ({ readonly cause: EndCause } & Reason) | null
  readonly jobsInProgress: readonly string[]
  readonly recordingProblem: string | undefined
  /** Sentences that say what of the target or its file to look at, if they do not seem to be what was meant. */
  readonly hints: readonly string[]
}

export function factsOf(run: Run): RunFacts {
  const { losses, proxy, recorder, throttle } = run.client
  const { log, signs } = run.findings
  const { redact } = recorder
  const { ended } = run.life
  const refusal = keyRefusal(log)
  return {
    requests: recorder.count,
    throttled: throttle.count,
    retried: losses.retried,
    longestPauseMs: throttle.longestAskedMs,
    proxy: proxy?.host ?? null,
    created: createdBy(run),
    ...signs.facts(redact),
    answers: log,
    notServed: run.hooks.flatMap((hook) => hook.notServed?.(run) ?? []),
    keyRefused: !run.keys.hasFull || refusal !== undefined,
    keyRefusal: refusal,
    ended: ended ? { cause: ended.cause, ...ended.reason, reason: redact(ended.message) } : null,
    jobsInProgress: run.hooks.flatMap((hook) => hook.unfinished?.(run) ?? []).map(redact),
    recordingProblem: recorder.problem,
  }
}

function createdBy({ objects: { created, cleanups }, client: { recorder } }: Run): Created[] {
  return created.map((object) => {
    const known = { ...object, id: recorder.redact(object.id) }
    const kept = cleanups.get(object)
    if (kept === undefined) return known
    return kept === null
      ? { ...known, removed: true }
      : { ...known, removed: false, kept: recorder.redact(kept) }
  })
}

/** Nothing has been sent yet. */
export interface PlannedEvent {
  readonly kind: 'planned'
  readonly plan: Plan
}

/**
 * One requirement. Each requirement of the catalogue has one such event, unless the run ends early. It has a second one at the
 * end if it turns out that its requests left their connections unusable, as failed, or that its failure does not show by then.
 */
export interface JudgedEvent {
  readonly kind: 'judged'
  readonly result: CatalogueResult
}

/** The target answered 429 or 503, and the operation is held back for that many ms. */
export interface ThrottledEvent {
  readonly kind: 'throttled'
  readonly operation: string
  readonly pauseMs: number
}

export interface EndedEvent {
  readonly kind: 'ended'
  readonly facts: RunFacts
}

/** Events of a run, in order: `planned` first, `ended` last. */
export type RunEvent = PlannedEvent | JudgedEvent | ThrottledEvent | EndedEvent

/** A run that goes on. */
export interface Judging {
  /** Events as they happen; to be read once. */
  readonly events: AsyncIterable<RunEvent>
  /** Settles when everything is judged, cleaned up and closed. */
  readonly done: Promise<void>
  /** Results that are known by now, by requirement id. */
  readonly results: ReadonlyMap<string, CatalogueResult>
  facts(): RunFacts
  /** Ends the run: what is under way is dropped, clean-up is sent. */
  end(cause: EndCause, reason: string | Reason): void
}

/** A queue: events wait in it until its reader iterates over them. */
export function createEventQueue<T>() {
  const waiting: T[] = []
  let end: { readonly error: Error | undefined } | undefined
  let wake: () => void = () => undefined
  return {
    push(event: T): void {
      waiting.push(event)
      wake()
    },
    /** No more events will come; with an error, the reader gets it after the last one. */
    close(error?: Error): void {
      end ??= { error }
      wake()
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<T> {
      for (;;) {
        for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) yield event
        if (end) {
          if (end.error) throw end.error
          return
        }
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}
