import type { CatalogueRow } from '../../catalogue/catalogue.ts'
import type { Created, TpeMode } from '../report/model.ts'
import type { Ceiling } from './ceiling.ts'
import type { Exchange } from './exchange.ts'
import type { Liveness } from './liveness.ts'
import type { Silence } from './silence.ts'
import type { Throttle } from './throttle.ts'
import type { Gates } from '../../suites/jobs/model.ts'
import type { JobBook } from '../../suites/jobs/model.ts'
import type { EnvelopeWatch } from '../checks/envelope-watch.ts'
import type { Recorder } from '../recording/recorder.ts'
import type { Redactor } from '../recording/redactor.ts'
import type { Shard } from '../report/shard.ts'
import type { Keys } from './keys.ts'
import type { Target } from '../target/model.ts'
import type { Wire } from '../http/message.ts'
import type { EndCause, RunEnded } from './outcome.ts'

/** What the command line decided; all of it can be sent to a worker. */
export interface RunOptions {
  readonly seed: number
  /** Cases of a generated refusal, and of a generated granted request. */
  readonly refusalRuns: number
  readonly grantedRuns: number
  readonly nonce: string
  readonly tpe: TpeMode
  readonly strict: boolean
  readonly readOnly: boolean
  readonly bail: boolean
  readonly insecure: boolean
  readonly only: readonly string[]
  readonly skip: readonly string[]
  readonly shard: Shard | null
  /** Ids whose failure a baseline expects: they do not bail. */
  readonly expected: readonly string[]
  /** `conform <base url> --target <file>` with the options that a failure needs to show again; no key. */
  readonly rerun: string
  /** File that exchanges are written to as they come, one JSON line each. */
  readonly exchangeLog: string
  /** First pause of the exponential back-off, in ms. */
  readonly backoffMs: number
}

/** Where each requirement stands before anything is sent: to be judged, or why not. */
export type Plan = ReadonlyMap<string, PlanEntry>
export type PlanEntry =
  | {
      readonly run: true
      /** Sent for the `envelope/` rows alone: its own outcome is left out. */ readonly leftOut?: string
    }
  | { readonly run: false; readonly outcome: 'not-exercised' | 'not-applicable'; readonly reason: string }

/** Everything of one run. Plain objects, none of them shared between two runs. */
export interface Run {
  readonly options: RunOptions
  readonly target: Target
  readonly plan: Plan
  readonly keys: Keys
  readonly redactor: Redactor
  readonly wire: Wire
  /** Clients of the target's own requests, by origin. */
  readonly errandWires: Map<string, Wire>
  readonly ceiling: Ceiling
  readonly pacer: { wait(signal: AbortSignal): Promise<void> }
  readonly liveness: Liveness
  readonly throttle: Throttle
  readonly silence: Silence
  readonly recorder: Recorder
  readonly gates: Gates
  readonly jobs: JobBook
  readonly envelope: EnvelopeWatch
  /** The declared job, or one that this run makes. */
  jobToRead(): Promise<string>
  /** Aborts with a `RunEnded` when the run is over before its time. */
  readonly signal: AbortSignal
  end(cause: EndCause, reason: string): void
  readonly ended: RunEnded | undefined
  /** Files that the run uploaded for its own requests, and when (`performance.now()`). */
  readonly uploads: Map<string, number>
  /** How long an upload took until it could be used, in ms. */
  readonly uploadLag: { ms: number }
  /** What the run created, in the order in which the target said so. */
  readonly created: Created[]
  /** Ids that exist or were sent as unknown, in lower case: no unknown id is one of them. */
  readonly takenIds: Set<string>
  /** Requests with the full key that were answered, and how many of them 401. */
  readonly keyUse: { sent: number; refused: number }
  /** Why scenarios that need the target to themselves cannot go on: the control was not granted again. */
  exclusiveStuck: string | undefined
  /** Called with every exchange that was answered. */
  readonly observers: ((exchange: Exchange) => void)[]
  /** Does a thing once a run, whoever asks first. */
  once<T>(key: string, make: () => Promise<T>): Promise<T>
  /** A suffix of at most 8 lower-case letters and digits, unique to run and call. */
  suffix(): string
}

/** True where the requirement is to be judged in this run. */
export function isPlanned(run: Run, id: CatalogueRow['id']): boolean {
  return run.plan.get(id)?.run === true
}
