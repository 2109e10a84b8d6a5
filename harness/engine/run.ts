import { randomBytes, randomInt } from 'node:crypto'
import type { CatalogueRequirement, RequirementId } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import type { HttpResult, Proxy, Transport } from '../http/index.ts'
import type { CircuitBreaker, Losses } from './losses.ts'
import type { Log } from './log.ts'
import type { Pacer, Semaphore, Throttle } from './pace.ts'
import type { Signs } from './signs.ts'
import type { Recorder } from '../recording/index.ts'
import type {
  BaselineEntry,
  Created,
  Depth,
  Failure,
  FailureExchange,
  LeftOutBy,
  NotServed,
  Reason,
  Story,
  TakesState,
  TpeMode,
} from '../report/index.ts'
import type { Target } from '../target/index.ts'
import type { Exchange, PreviousRequest, Purpose, Probe } from './exchange.ts'
import type { Operation } from '../../catalogue/operation.ts'
import type { ErrorNames, HttpResponse } from './response.ts'
import type { Keys } from './keys.ts'
import type { Lifetime } from './outcome.ts'

/** Resolved options of the command line or library. */
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
  /** Ends the run after that many deciding failures; Infinity: never. */
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

/** The interface that a run judges; the engine itself knows no requirement or operation. */
export interface Interface {
  /** Requirements in the order of judging and reporting. */
  readonly requirements: readonly CatalogueRequirement[]
  /** The requirement of that id, if any. */
  requirement(id: string): CatalogueRequirement | undefined
  operation(id: OperationId): Operation
  granted(id: OperationId): CatalogueRequirement
  readonly first: OperationId
  /** The operation that reads one object at another path than the first request. */
  readonly reading: OperationId
  /** The requirement for every answer, including those outside operations. */
  readonly anyResponse: RequirementId
  readonly errors: ErrorNames
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

/** Objects created by the run, with used names and ids. */
export interface Objects {
  /** Created objects, in the order of their answers. */
  readonly created: Created[]
  /** Why clean-up did not remove an object; null if it did. */
  readonly cleanups: Map<Created, string | null>
  /** Existing ids, and those sent as unknown, in lower case: never reused as unknown. */
  readonly takenIds: Set<string>
  /** When the run made the objects of these ids (`performance.now()`). */
  readonly madeAt: Map<string, number>
  /** Values saved by `setup`; undefined before it is sent. */
  saved?: Map<string, string>
  /** A unique suffix of at most 8 lower-case letters and digits. */
  suffix(): string
}

/** Observations besides the outcomes of requirements. */
export interface Findings {
  readonly log: Log
  readonly signs: Signs
  /** Wrong keys sent to a target that should get few. */
  wrongKeys: number
  /** Checks after a refusal of the full key, one per kind. */
  readonly looks: Map<string, Promise<unknown>>
  /** Failures so far that decide the exit code. */
  failures: number
  /** Exchanges shown in failures, before recording. */
  readonly shown: WeakMap<FailureExchange, Exchange>
  /** Failures of requests that spoiled their connection for the next one, by requirement. */
  readonly poisoned: Map<string, Failure[]>
  /** Answers spoiled by an earlier request on their connection: not judged. */
  readonly poisonedResponses: WeakSet<object>
  /** A gateway's errors that came on repetition too: independent of the content. */
  readonly gatewayErrors: WeakSet<HttpResponse>
  /** Kinds of answers that were equally wrong on a fresh connection, so that repetition proves nothing. */
  readonly wrongAnywhere: Set<string>
}

/** One run; nothing is shared between runs. */
export interface Run {
  readonly options: RunOptions
  /** Replaced once, before judging, with the values of `setup`. */
  target: Target
  readonly plan: Plan
  readonly keys: Keys
  readonly client: Client
  readonly life: Lifetime
  readonly objects: Objects
  readonly findings: Findings
  readonly hooks: readonly RunHook[]
  readonly api: Interface
}

/** Sends a request; `fresh`: on a new connection; `isGated`: an object allows it now, but not at any time. */
export type GatedSend = (options?: {
  readonly fresh?: boolean
  readonly isGated?: boolean
}) => Promise<Exchange>

/** Hook by which a suite adds knowledge of shared objects, such as the jobs of an application. */
export interface RunHook {
  /** Sends a probe when its object allows it; undefined if the hook does not apply. May throw `NotExercised`. */
  intercept?(
    run: Run,
    probe: Probe,
    purpose: Purpose,
    send: GatedSend,
  ): Promise<Exchange> | undefined
  /** Called for every unanswered exchange. */
  unanswered?(run: Run, exchange: Exchange): void
  /** Called for every answered exchange of the interface, whether intercepted or not. */
  observe?(run: Run, exchange: Exchange): void
  /** Makes valid requests that need more than the declared body. */
  readonly requests?: Readonly<Partial<Record<OperationId, (run: Run) => Promise<Probe>>>>
  /** Changes valid requests to another object of the kind in their path; throws `NotExercised` if there is none. */
  readonly others?: Readonly<
    Partial<Record<OperationId, (run: Run) => Promise<(valid: Probe) => Probe>>>
  >
  /** Looks at the target before anything is judged, and may end the run. */
  before?(run: Run): Promise<void>
  /** Starts preparations for requirements that are judged last, concurrently with the others. */
  start?(run: Run): Promise<void>
  /** Waits for these preparations before the last requirements. Not called if the run was ended. */
  finish?(run: Run): Promise<void>
  /** Remark after the expectation: why the target may be right nevertheless. */
  remarkOn?(run: Run, exchange: Exchange): string
  /** State that a failure of that requirement depends on; undefined if its request alone shows it. */
  takesState?(run: Run, id: string): TakesState | undefined
  /** The requests up to the failing exchange, if they tell a story. */
  storyOf?(run: Run, id: string, exchange: Exchange): Story | undefined
  /** Other requirements needed to reproduce a failure. */
  rerunNeeds?(run: Run, id: string, exchange: Exchange): readonly string[]
  /** Ids of unfinished objects, for the end of the report. */
  unfinished?(run: Run): readonly string[]
  notServed?(run: Run): readonly NotServed[]
}

/** Detects a target that does not answer, at the start or later. */
export interface Liveness {
  /** Sends the first request of the run. False if the run cannot go on; it has then ended with the reason. */
  first(): Promise<boolean>
  /** Counts a request as open until it has ended, and names it if the target stops answering meanwhile. */
  sending(request: PreviousRequest): void
  /** @param result undefined if the transport refuses such a request */
  ended(request: PreviousRequest, result: HttpResult | undefined): void
  /**
   * After an unanswered exchange or a gateway's answer, checks whether the target is there, unless an answer came
   * since. True if it was away and came back, so that the request may be repeated; a target that stays away ends the
   * run instead of failing each request.
   */
  cameBack(exchange: Exchange): Promise<boolean>
  /** Whether harmless requests are throttled as well. */
  isThrottling(): Promise<boolean>
  /** Pending while liveness is being checked: nothing else is sent meanwhile. */
  readonly checking: Promise<void> | undefined
  stop(): void
}

/** How many generations bad input may cause; undefined without a limit. */
export function mayGenerate(
  { plan }: Pick<Run, 'plan'>,
  id: CatalogueRequirement['id'],
): number | undefined {
  const entry = plan.get(id)
  return entry?.run ? entry.mayGenerate : undefined
}

export function isPlanned({ plan }: Pick<Run, 'plan'>, id: CatalogueRequirement['id']): boolean {
  return plan.get(id)?.run === true
}

interface Client {
  readonly transport: Transport
  /** The transport for the target file's own requests, by origin; an injected one serves all. */
  readonly elsewhere: { to(origin: string): Pick<Transport, 'send'>; close(): Promise<unknown> }
  /** Undefined also for an injected transport. */
  readonly proxy: Proxy | undefined
  readonly semaphore: Semaphore
  readonly pacer: Pacer
  readonly throttle: Throttle
  readonly breaker: CircuitBreaker
  readonly losses: Losses
  readonly liveness: Liveness
  readonly recorder: Recorder
  /** Called with every exchange, answered or not. */
  readonly watchers: ((exchange: Exchange) => void)[]
  /** Called with the target's own answers about the interface. */
  readonly observers: ((exchange: Exchange) => void)[]
}

/** State per run, created on demand. */
export function perRun<T>(make: (run: Run) => T): (run: Run) => T {
  const states = new WeakMap<Run, { readonly state: T }>()
  return (run) => {
    let known = states.get(run)
    if (known === undefined) states.set(run, (known = { state: make(run) }))
    return known.state
  }
}

/** Options given for a run; others have defaults. */
export interface GivenOptions extends Partial<
  Omit<RunOptions, 'refusalRuns' | 'grantedRuns' | 'nonce' | 'rerun' | 'backoffMs' | 'bail'>
> {
  /** Cases per generated requirement; default: 25 for invalid and 5 for valid requests, 1 in a quick run. */
  readonly runs?: number
  /** true: at the first failure. */
  readonly bail?: boolean | number
}

/** The options of a run. A missing seed is drawn, and always in the report. */
export function runOptionsOf(given: GivenOptions, rerun: string): RunOptions {
  const { runs, bail = false, depth = 'full', ...others } = given
  return {
    seed: others.seed ?? randomInt(0, 2 ** 31),
    tpe: others.tpe ?? 'exact',
    strict: others.strict ?? false,
    readOnly: others.readOnly ?? false,
    insecure: others.insecure ?? false,
    only: others.only ?? [],
    skip: others.skip ?? [],
    expected: others.expected ?? [],
    exchangeLog: others.exchangeLog,
    chosenBy: others.chosenBy,
    endsTarget: others.endsTarget ?? false,
    rerun,
    bail: bail === false ? Infinity : Number(bail),
    depth,
    refusalRuns: runs ?? (depth === 'quick' ? 1 : 25),
    grantedRuns: runs ?? (depth === 'quick' ? 1 : 5),
    backoffMs: 250,
    nonce: [...randomBytes(4)].map((byte) => (byte % 36).toString(36)).join(''),
  }
}
