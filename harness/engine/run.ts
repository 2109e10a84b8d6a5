import { randomBytes, randomInt } from 'node:crypto'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import type { NotServed, Story, TakesState } from '../report/index.ts'
import type { Client, GatedSend } from './client.ts'
import type { Exchange, Purpose, Probe } from './exchange.ts'
import type { RunOptions, State } from './state.ts'

export type * from './state.ts'

export interface Run extends State {
  readonly client: Client
  readonly hooks: readonly RunHook[]
}

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
  /** Remark after the expectation: why the target may still be right. */
  remarkOn?(run: Run, exchange: Exchange): string
  /** State that a failure of that requirement depends on; undefined if its request alone shows it. */
  takesState?(run: Run, id: string): TakesState | undefined
  /** The requests up to the failing exchange, if they tell a story. */
  storyOf?(run: Run, id: string, exchange: Exchange): Story | undefined
  /** Other requirements needed to reproduce a failure. */
  rerunNeeds?(run: Run, id: string, exchange: Exchange): readonly string[]
  unfinished?(run: Run): readonly string[]
  notServed?(run: Run): readonly NotServed[]
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

export function perRun<T>(make: (run: Run) => T): (run: Run) => T {
  const states = new WeakMap<Run, { readonly state: T }>()
  return (run) => {
    let known = states.get(run)
    if (known === undefined) states.set(run, (known = { state: make(run) }))
    return known.state
  }
}

export interface GivenOptions extends Partial<
  Omit<RunOptions, 'refusalRuns' | 'grantedRuns' | 'nonce' | 'rerun' | 'backoffMs' | 'bail'>
> {
  /** Cases per generated requirement; default: 25 for invalid and 5 for valid requests, 1 in a quick run. */
  readonly runs?: number
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
