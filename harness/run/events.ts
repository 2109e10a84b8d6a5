import type { Hooks } from './run.ts'
import type { CatalogueResult, Created, NotServed, Reason } from '../report/index.ts'
import { type Client, type Given, keyRefusal, type Plan, type EndCause } from '../client/index.ts'
import type { Answer } from '../journal/index.ts'

export interface RunFacts {
  readonly requests: number
  readonly throttled: number
  readonly retried: number
  readonly longestPauseMs: number
  readonly proxy: string | null
  readonly created: readonly Created[]
  readonly answers: readonly Answer[]
  readonly notServed: readonly NotServed[]
  readonly absent: readonly NotServed[]
  /** Every answered request with the full key returned 401, or there is no key. */
  readonly keyRefused: boolean
  readonly keyRefusal?: string | undefined
  readonly ended: ({ readonly cause: EndCause } & Reason) | null
  readonly jobsInProgress: readonly string[]
  readonly recordingProblem: string | undefined
  readonly hints: readonly string[]
}

export function factsOf(client: Client, given: Given, hooks: Hooks): RunFacts {
  const { losses, proxy, recorder, throttle } = client
  const { signs } = client.findings
  const { redact } = recorder
  const { ended } = client.life
  const refusal = keyRefusal(client.journal)
  return {
    requests: recorder.count,
    throttled: throttle.count,
    retried: losses.retried,
    longestPauseMs: throttle.longestAskedMs,
    proxy: proxy?.host ?? null,
    created: createdBy(client, given),
    ...signs.facts(redact),
    answers: client.journal.answers,
    notServed: hooks.notServed(),
    keyRefused: !given.keys.hasFull || refusal !== undefined,
    keyRefusal: refusal,
    ended: ended ? { cause: ended.cause, ...ended.reason, reason: redact(ended.message) } : null,
    jobsInProgress: hooks.unfinished().map(redact),
    recordingProblem: recorder.problem,
  }
}

function createdBy({ recorder }: Client, { objects: { created, cleanups } }: Given): Created[] {
  return created.map((object) => {
    const known = { ...object, id: recorder.redact(object.id) }
    const kept = cleanups.get(object)
    if (kept === undefined) return known
    return kept === null
      ? { ...known, removed: true }
      : { ...known, removed: false, kept: recorder.redact(kept) }
  })
}

export interface PlannedEvent {
  readonly kind: 'planned'
  readonly plan: Plan
}

/**
 * Sent once per requirement, unless the run ends early; again at the end if its requests spoiled their connections
 * (failed), or if its failure has disappeared.
 */
export interface JudgedEvent {
  readonly kind: 'judged'
  readonly result: CatalogueResult
}

export interface ThrottledEvent {
  readonly kind: 'throttled'
  readonly operation: string
  readonly pauseMs: number
}

export interface EndedEvent {
  readonly kind: 'ended'
  readonly facts: RunFacts
}

/** Events of a run in order: `planned` first, `ended` last. */
export type RunEvent = PlannedEvent | JudgedEvent | ThrottledEvent | EndedEvent

export interface Judging {
  readonly events: AsyncIterable<RunEvent>
  readonly done: Promise<void>
  readonly results: ReadonlyMap<string, CatalogueResult>
  facts(): RunFacts
  end(cause: EndCause, reason: string | Reason): void
}

export function createEventQueue<T>() {
  const waiting: T[] = []
  let end: { readonly error: Error | undefined } | undefined
  let wake: () => void = () => undefined
  return {
    push(event: T): void {
      waiting.push(event)
      wake()
    },
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
