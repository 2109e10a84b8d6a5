import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import type { Client, Given } from '../client/index.ts'
import type { Hooks } from './run.ts'
import type { Ask, Exchange, Purpose, Source, Verdict } from '../journal/index.ts'
import type { Scenario } from '../target/index.ts'
import { ask } from './ask.ts'

/** Judges a requirement. May throw `NotExercised` if it cannot cause a state that it needs. */
export type Judge = (context: CheckContext) => Promise<Verdict | Later>

/** It holds so far, and is judged once more at the end of the run, concurrently with others. */
export interface Later {
  readonly outcome: 'later'
  readonly cases: number
  judge(): Promise<Verdict>
}

export interface CheckContext {
  readonly client: Client
  readonly given: Given
  readonly hooks: Hooks
  readonly requirement: CatalogueRequirement
  readonly scenario: Scenario | undefined
  control: 'granted' | 'refused' | 'none'
  /** Sends a request for this requirement. Requests to a declared application wait until it is idle. */
  send(
    source: Source,
    purpose?: Partial<Purpose>,
    how?: Pick<Ask, 'fresh' | 'isHeld'>,
  ): Promise<Exchange>
}

export function createCheckContext(
  client: Client,
  given: Given,
  hooks: Hooks,
  requirement: CatalogueRequirement,
): CheckContext {
  const { id } = requirement
  return {
    ...{ client, given, hooks },
    requirement,
    control: 'none',
    get scenario() {
      return given.target.scenarios[id]
    },
    send: (source, purpose, how) =>
      ask(client, source, { requirement: id, role: 'probe', ...purpose }, how),
  }
}

/** What is `held`, or `asks` for more at the end, is judged there. */
export const againAtEnd = (
  verdict: Verdict,
  when: 'held' | 'asks',
  judge: () => Promise<Verdict>,
): Verdict | Later =>
  verdict.outcome === when ? { outcome: 'later', cases: verdict.cases, judge } : verdict
