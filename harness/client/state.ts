import type { RequirementId } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import type {
  BaselineEntry,
  Created,
  Depth,
  FailureExchange,
  LeftOutBy,
  Reason,
  TpeMode,
} from '../report/index.ts'
import type { OtherObject, Target } from '../target/index.ts'
import type { Evidence, Exchange, Journal, HttpResponse, Probe } from '../journal/index.ts'
import type { Keys } from './keys.ts'
import type { Lifetime } from './outcome.ts'
import type { Signs } from './signs.ts'

export interface RunOptions {
  readonly seed: number
  /** Cases per generated invalid and valid request. */
  readonly refusalRuns: number
  readonly grantedRuns: number
  /** `quick`: one named case per requirement, and few forms of a wrong key. */
  readonly depth: Depth
  /** Part of the names that this run creates: at most 8 lower-case letters and digits. */
  readonly nonce: string
  readonly tpe: TpeMode
  readonly strict: boolean
  readonly readOnly: boolean
  readonly bail: number
  readonly insecure: boolean
  readonly only: readonly string[]
  /** The option that selected `only` from a report, if any. */
  readonly chosenBy?: '--failed' | undefined
  readonly skip: readonly string[]
  /** Failures expected by a baseline, which do not count for `--bail`. */
  readonly expected: readonly BaselineEntry[]
  /** `conform <base url> --target <file>` with the options needed to reproduce a failure; no key. */
  readonly rerun: string
  /** The run started its target, which ends with it, including created objects. */
  readonly endsTarget?: boolean
  /** File that receives each exchange as a line of JSON; without it they are not kept. */
  readonly exchangeLog?: string
  /** First pause of the exponential back-off, in ms. */
  readonly backoffMs: number
}

/** Whether each requirement will be judged, or why not; known before anything is sent. */
export type Plan = ReadonlyMap<string, PlanEntry>
export type PlanEntry =
  | {
      readonly run: true
      /** How many requests with bad input, of all such rows, may make the target generate something; no limit if it is not given. */
      readonly mayGenerate?: number
      /** Sent only for `envelope/` requirements: its own outcome is left out. */
      readonly leftOut?: LeftOutBy
    }
  | ({ readonly run: false; readonly outcome: 'not-exercised' | 'not-applicable' } & Reason)

export interface Objects {
  readonly created: Created[]
  /** Why clean-up did not remove an object; null if it did. */
  readonly cleanups: Map<Created, string | null>
  /** Ids in lower case that exist, or were sent as unknown: do not send them as unknown again. */
  readonly takenIds: Set<string>
  /** When the run made the objects of these ids (`performance.now()`). */
  readonly madeAt: Map<string, number>
  saved?: Map<string, string>
  suffix(): string
}

export interface Findings {
  readonly signs: Signs
  failures: number
  /** Exchanges shown in failures, before recording. */
  readonly shown: WeakMap<FailureExchange, Exchange>
  /** Requests that spoiled their connection: the next answer, and the same on a fresh one; by what they were sent for. */
  readonly spoiled: Map<string, { readonly wrong: Exchange; readonly fresh: Exchange }>
  /** What traffic of other requirements shows, by requirement. */
  readonly onTraffic: Map<RequirementId, Evidence>
  /** Answers spoiled by an earlier request on their connection: not judged. */
  readonly poisonedResponses: WeakSet<object>
  /** A gateway's errors that came on repetition too: independent of the content. */
  readonly gatewayErrors: WeakSet<HttpResponse>
  /** Kinds of answers that were equally wrong on a fresh connection, so that repetition proves nothing. */
  readonly wrongAnywhere: Set<string>
}

type PerOperation<T, Of extends readonly unknown[] = []> = Readonly<
  Partial<Record<OperationId, (...of: Of) => Promise<T>>>
>

/** What a run is given, and what requests are made of. */
export interface Given {
  readonly options: RunOptions
  /** Replaced once, before judging, with the values of `setup`. */
  target: Target
  readonly plan: Plan
  readonly keys: Keys
  readonly objects: Objects
  /** Valid requests that need more than the declared body. */
  requests: PerOperation<Probe>
  /** Change valid requests to another object of the kind in their path; throw `NotExercised` if there is none. */
  others: PerOperation<(valid: Probe) => Probe, [other: OtherObject]>
}

export interface State extends Given {
  readonly life: Lifetime
  readonly journal: Journal
  readonly findings: Findings
}
