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

/** Options as the command line, or the caller of the library, decided them. */
export interface RunOptions {
  readonly seed: number
  /** Cases of a generated refusal, and of a generated granted request. */
  readonly refusalRuns: number
  readonly grantedRuns: number
  /** `quick`: of the cases that have a name one a requirement, and few forms of a wrong key. */
  readonly depth: Depth
  /** Stands in the names of what this run creates: at most 8 lower-case letters and digits. */
  readonly nonce: string
  readonly tpe: TpeMode
  readonly strict: boolean
  readonly readOnly: boolean
  /** The run ends when so many failures decide the exit code; Infinity: it does not. */
  readonly bail: number
  readonly insecure: boolean
  readonly only: readonly string[]
  /** The option that chose those of `only` by a report; undefined: they were given. */
  readonly chosenBy?: '--failed' | undefined
  readonly skip: readonly string[]
  /** Failures that a baseline expects: such a failure does not bail. */
  readonly expected: readonly BaselineEntry[]
  /** `conform <base url> --target <file>` with the options that a failure needs to show again; no key. */
  readonly rerun: string
  /** The run started its target, which ends with it: what was made there is gone by then. */
  readonly endsTarget?: boolean
  /** File that exchanges are written to as they come, one JSON line each; without it they are not kept. */
  readonly exchangeLog?: string
  /** First pause of the exponential back-off, in ms. */
  readonly backoffMs: number
}

/** The interface that a run judges, as the engine is told it: it knows no requirement and no operation by itself. */
export interface Interface {
  /** Requirements in the order in which they are judged and reported. */
  readonly requirements: readonly CatalogueRequirement[]
  /** The requirement of that id; undefined if there is none. */
  requirement(id: string): CatalogueRequirement | undefined
  operation(id: OperationId): Operation
  granted(id: OperationId): CatalogueRequirement
  readonly first: OperationId
  /** Operation that reads one object, at another path than the first request. */
  readonly reading: OperationId
  /** Requirement that every answer has to meet, also one that belongs to no operation. */
  readonly anyResponse: RequirementId
  readonly errors: ErrorNames
}

/** Whether each requirement is to be judged, or why not; known before anything is sent. */
export type Plan = ReadonlyMap<string, PlanEntry>
export type PlanEntry =
  | {
      readonly run: true
      /** How many requests with bad input, of all such rows, may make the target generate something; no limit if it is not given. */
      readonly mayGenerate?: number
      /** Sent for the `envelope/` requirements alone: its own outcome is left out. */
      readonly leftOut?: LeftOutBy
    }
  | ({ readonly run: false; readonly outcome: 'not-exercised' | 'not-applicable' } & Reason)

/** Objects that the run creates on the target, and the names and ids that it uses up. */
export interface Objects {
  /** Objects that the run created, in the order in which the target said so. */
  readonly created: Created[]
  /** Why the clean-up did not remove an object; null if it did. */
  readonly cleanups: Map<Created, string | null>
  /** Ids that exist or were sent as unknown, in lower case: no unknown id is one of them. */
  readonly takenIds: Set<string>
  /** When the run made the objects of these ids (`performance.now()`). */
  readonly madeAt: Map<string, number>
  /** What the requests of `setup` saved, by name; undefined before they are sent. */
  saved?: Map<string, string>
  /** A suffix of at most 8 lower-case letters and digits, unique to run and call. */
  suffix(): string
}

/** What was found out about the answers of a run, beside the outcomes of its requirements. */
export interface Findings {
  /** The answers, in the order of coming. */
  readonly log: Log
  readonly signs: Signs
  /** Wrong keys that were sent to a target that is to get few. */
  wrongKeys: number
  /** Looks at a refusal of the full key, one for each kind. */
  readonly looks: Map<string, Promise<unknown>>
  /** Failures so far that decide the exit code. */
  failures: number
  /** The exchanges that failures show, as they were before they were recorded. */
  readonly shown: WeakMap<FailureExchange, Exchange>
  /** Failures of requests that left a connection behind on which the next answer was wrong: by the requirement they were sent for. */
  readonly poisoned: Map<string, Failure[]>
  /** Answers that were wrong for what their connection had carried before: no requirement is judged by them. */
  readonly poisonedResponses: WeakSet<object>
  /** Errors of a gateway in place of an answer that came when the request was sent again: no matter of what was sent. */
  readonly gatewayErrors: WeakSet<HttpResponse>
  /** Kinds of answers that were as wrong on a fresh connection: nothing is to be learned from the next one. */
  readonly wrongAnywhere: Set<string>
}

/** One run. Plain objects, none of them shared between two runs. */
export interface Run {
  readonly options: RunOptions
  /** Replaced once, before anything is judged, by the one that has what `setup` saved. */
  target: Target
  readonly plan: Plan
  readonly keys: Keys
  readonly client: Client
  readonly life: Lifetime
  readonly objects: Objects
  readonly findings: Findings
  /** Hooks of the suites: see `RunHook`. */
  readonly hooks: readonly RunHook[]
  readonly api: Interface
}

/** Sends a request; `fresh`: on a connection of its own; `isGated`: an object that it names allows it now, and not at will. */
export type GatedSend = (options?: {
  readonly fresh?: boolean
  readonly isGated?: boolean
}) => Promise<Exchange>

/** Hook by which a suite adds to the engine what it knows of an object that requests share, such as the jobs of an application. */
export interface RunHook {
  /**
   * Sends a probe when the object that it names allows it; undefined if this hook has nothing to say about the probe.
   * May throw `NotExercised`.
   */
  intercept?(
    run: Run,
    probe: Probe,
    purpose: Purpose,
    send: GatedSend,
  ): Promise<Exchange> | undefined
  /** Sees every exchange that got no answer. */
  unanswered?(run: Run, exchange: Exchange): void
  /** Sees every exchange about the interface that was answered, also those that it did not intercept. */
  observe?(run: Run, exchange: Exchange): void
  /** How the valid requests of operations are made, if they are more than the declared body. */
  readonly requests?: Readonly<Partial<Record<OperationId, (run: Run) => Promise<Probe>>>>
  /** Turns valid requests of operations into those for another object of the sort that their path names; throws `NotExercised` if there is none. */
  readonly others?: Readonly<
    Partial<Record<OperationId, (run: Run) => Promise<(valid: Probe) => Probe>>>
  >
  /** Begins what requirements that are judged last need, while the others are judged. */
  start?(run: Run): Promise<void>
  /** Waits for what the run began, before the requirements that are judged last. Not called if the run was ended. */
  finish?(run: Run): Promise<void>
  /** Remark after the expectation of a failed request: how it may come that the target is right nevertheless. */
  remarkOn?(run: Run, exchange: Exchange): string
  /** State without which a failure of that requirement does not show again; undefined if its request alone shows it. */
  takesState?(run: Run, id: string): TakesState | undefined
  /** What happened up to the exchange that fails that requirement; undefined if it is no story. */
  storyOf?(run: Run, id: string, exchange: Exchange): Story | undefined
  /** Other requirements that have to be selected for a failure to show again. */
  rerunNeeds?(run: Run, id: string, exchange: Exchange): readonly string[]
  /** Ids of what has not ended, for the last lines of a report. */
  unfinished?(run: Run): readonly string[]
  /** Answers of operations that are declared not served. */
  notServed?(run: Run): readonly NotServed[]
}

/** Notices a target that answers nothing, at the start or half-way. */
export interface Liveness {
  /** The first request of the run. False if the run cannot go on; the run has then ended, with the reason. */
  first(): Promise<boolean>
  /** Counts a request as open until it has ended. If the target stops answering meanwhile, the request is named. */
  sending(request: PreviousRequest): void
  /** @param result undefined if the transport takes no such request */
  ended(request: PreviousRequest, result: HttpResult | undefined): void
  /**
   * After an exchange that got no answer, or one of a gateway in place of the service: asks whether the target is there, unless an
   * answer came since. True if it was away and came back since, so that the request may be sent again; one that stays away ends
   * the run, so that it is not failed request by request.
   */
  cameBack(exchange: Exchange): Promise<boolean>
  /** Whether what makes nothing is throttled as well. */
  isThrottling(): Promise<boolean>
  /** Goes on while it is not known whether the target still lives: nothing else is sent meanwhile. */
  readonly checking: Promise<void> | undefined
  stop(): void
}

/** How much bad input may make the target generate; undefined if there is no limit. */
export function mayGenerate(run: Run, id: CatalogueRequirement['id']): number | undefined {
  const entry = run.plan.get(id)
  return entry?.run ? entry.mayGenerate : undefined
}

export function isPlanned(run: Run, id: CatalogueRequirement['id']): boolean {
  return run.plan.get(id)?.run === true
}

/** Everything that each request of a run passes through, on its way out and back. */
interface Client {
  readonly transport: Transport
  /** The way to the target file's own requests, by their origin; the transport itself if that was handed over. */
  readonly elsewhere: { to(origin: string): Pick<Transport, 'send'>; close(): Promise<unknown> }
  /** Undefined also if the transport was handed over. */
  readonly proxy: Proxy | undefined
  readonly semaphore: Semaphore
  readonly pacer: Pacer
  readonly throttle: Throttle
  readonly breaker: CircuitBreaker
  readonly losses: Losses
  readonly liveness: Liveness
  readonly recorder: Recorder
  /** Called with every exchange, also one without an answer. */
  readonly watchers: ((exchange: Exchange) => void)[]
  /** Called with those that the target itself answered, about the interface. */
  readonly observers: ((exchange: Exchange) => void)[]
}

/** State that is kept beside a run: made when it is first asked for, gone with the run. */
export function perRun<T>(make: (run: Run) => T): (run: Run) => T {
  const states = new WeakMap<Run, { readonly state: T }>()
  return (run) => {
    let known = states.get(run)
    if (known === undefined) states.set(run, (known = { state: make(run) }))
    return known.state
  }
}

/** Options that somebody gives for a run; whatever is left out is as usual. */
export interface GivenOptions extends Partial<
  Omit<RunOptions, 'refusalRuns' | 'grantedRuns' | 'nonce' | 'rerun' | 'backoffMs' | 'bail'>
> {
  /** Cases of each generated requirement: 25 of a refusal and 5 of a granted request if it is not given, 1 of a quick run. */
  readonly runs?: number
  /** true: at the first failure. */
  readonly bail?: boolean | number
}

/** The options of a run. A seed that is not given is drawn, and always in the report. */
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
