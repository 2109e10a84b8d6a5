import type { Clock } from './clock.ts'
import type { Job, Store } from './store.ts'
import type { Switches } from '../switches/switches.ts'

/** How long things take, in ms. */
export interface Pace {
  /** A job. */
  readonly usual: number
  /** A job of the slow application. */
  readonly slow: number
  /** A job that nobody reads in progress often enough, unless its own time is longer. */
  readonly unread: number
  /** Until what was just made can be used, under the variants that delay it. If undefined, each has a time of its own. */
  readonly settle: number | undefined
  /** A refusal that takes its time. */
  readonly slowRefusal: number
  /** Silence in place of an answer, before the connection is closed. */
  readonly silence: number
}

/** One server: its switches, what it knows, and what is under way. */
export interface World {
  readonly switches: Switches
  readonly store: Store
  readonly clock: Clock
  readonly pace: Pace
  /** ms since the epoch when the server began, by its clock. */
  readonly since: number
  /** Jobs that will end. */
  readonly running: Set<Job>
  /** Counts by name: requests of a rate bucket, answers of a kind. */
  readonly counts: Map<string, number>
  /** Whether the external search service is down. */
  searchDown: boolean
}

/** Counts one more of a kind; returns how many there are now. */
export function countUp(world: World, name: string): number {
  const count = (world.counts.get(name) ?? 0) + 1
  world.counts.set(name, count)
  return count
}
