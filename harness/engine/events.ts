import type { CatalogueResult, Created, NotServed, PageCount } from '../report/model.ts'
import { hintsOf, pagesOf } from './hints.ts'
import type { Reason } from '../report/reason.ts'
import type { EndCause } from './outcome.ts'
import type { Run, Plan } from './run.ts'
import { proxyFor } from '../http/proxy.ts'

/** Facts that a run learned besides the results. */
export interface RunFacts {
  readonly requests: number
  readonly throttled: number
  readonly retried: number
  /** Requests a second that the target takes; undefined if it never throttled. */
  readonly rate: number | undefined
  /** Host and port of the proxy that was asked, without its credentials. */
  readonly proxy: string | null
  readonly created: readonly Created[]
  readonly pages: readonly PageCount[]
  readonly notServed: readonly NotServed[]
  /** Every request with the full key that was answered was answered 401. */
  readonly keyRefused: boolean
  readonly ended: ({ readonly cause: EndCause } & Reason) | null
  /** Ids of jobs that no reading showed ended. */
  readonly jobsInProgress: readonly string[]
  readonly recordingProblem: string | undefined
  /** Sentences that say what of the target or its file to look at, if they do not seem to be what was meant. */
  readonly hints: readonly string[]
}

export function factsOf(run: Run): RunFacts {
  const { recorder, throttle } = run.client
  const { ended } = run.life
  return {
    requests: recorder.count,
    throttled: throttle.count,
    retried: throttle.retried,
    rate: throttle.rate,
    proxy: run.client.isInjected ? null : (proxyFor(run.target.baseUrl)?.host ?? null),
    created: run.objects.created.map((object) => ({ ...object, id: recorder.redact(object.id) })),
    pages: pagesOf(run).counts((text) => recorder.redact(text)),
    notServed: run.hooks.flatMap((hook) => hook.notServed?.(run) ?? []),
    keyRefused: run.keys.isRefused,
    ended: ended ? { cause: ended.cause, ...ended.reason, reason: recorder.redact(ended.message) } : null,
    jobsInProgress: run.hooks.flatMap((hook) => hook.unfinished?.(run) ?? []).map((id) => recorder.redact(id)),
    recordingProblem: recorder.problem,
    hints: hintsOf(run).sentences.map((sentence) => recorder.redact(sentence)),
  }
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

/** A queue: events wait in it until its reader iterates over them. */
interface EventQueue<T> extends AsyncIterable<T> {
  push(event: T): void
  /** No more events will come; with an error, the reader gets it after the last one. */
  close(error?: Error): void
}

export function createEventQueue<T>(): EventQueue<T> {
  const waiting: T[] = []
  let end: { readonly error: Error | undefined } | undefined
  let wake: () => void = () => undefined
  return {
    push(event) {
      waiting.push(event)
      wake()
    },
    close(error) {
      end ??= { error }
      wake()
    },
    async *[Symbol.asyncIterator]() {
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
