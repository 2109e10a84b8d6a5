import { randomBytes, randomInt } from 'node:crypto'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import type { NotServed, Story, TakesState } from '../report/index.ts'
import type { Client, Given, RunOptions } from '../client/index.ts'
import type { Exchange, Purpose, Probe } from '../journal/index.ts'

/** A run before it begins. */
export interface Prepared {
  readonly client: Client
  readonly given: Given
  /** Set once client and given exist. */
  hooks: Hooks
}

/** What the suites know of the interface besides its requirements, such as the jobs of an application; bound to a run. */
export interface Hooks {
  /** Look at the target before anything is judged, and may end the run. */
  readonly before: readonly (() => Promise<void>)[]
  /** Prepare what is judged last, concurrently with everything else. */
  readonly start: readonly (() => Promise<void>)[]
  /** Come before the last requirements, unless the run was ended. */
  readonly finish: readonly (() => Promise<void>)[]
  /** Sees every exchange of the interface with an answer. */
  answered(exchange: Exchange): void
  /** Sends a probe when its object allows it; undefined if it always does. May throw `NotExercised`. */
  intercept(
    probe: Probe,
    purpose: Purpose,
    send: (fresh: boolean) => Promise<Exchange>,
  ): Promise<Exchange> | undefined
  /** Remark after the expectation: why the target may still be right. */
  remarkOn(exchange: Exchange): string
  /** State that a failure of that requirement depends on; undefined if its request alone shows it. */
  takesState(id: string): TakesState | undefined
  /** The requests up to the failing exchange, if they tell a story. */
  storyOf(id: string, exchange: Exchange): Story | undefined
  /** Other requirements needed to reproduce a failure. */
  rerunNeeds(id: string, exchange: Exchange): readonly string[]
  /** Ids of jobs. */
  unfinished(): readonly string[]
  notServed(): readonly NotServed[]
}

export const noHooks: Hooks = {
  before: [],
  start: [],
  finish: [],
  answered: () => undefined,
  intercept: () => undefined,
  remarkOn: () => '',
  takesState: () => undefined,
  storyOf: () => undefined,
  rerunNeeds: () => [],
  unfinished: () => [],
  notServed: () => [],
}

/** How many generations bad input may cause; undefined without a limit. */
export function mayGenerate(given: Given, id: CatalogueRequirement['id']): number | undefined {
  const entry = given.plan.get(id)
  return entry?.run ? entry.mayGenerate : undefined
}

export function isPlanned(given: Given, id: CatalogueRequirement['id']): boolean {
  return given.plan.get(id)?.run === true
}

/** A state that is made once a run. */
export function perRun<T extends object>(make: () => T): (client: Client) => T {
  const states = new WeakMap<Client['journal'], T>()
  return (client) => {
    const known = states.get(client.journal) ?? make()
    states.set(client.journal, known)
    return known
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
