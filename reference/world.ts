import type { Clock } from './clock.ts'
import type { Store } from './store.ts'
import type { Switches } from './switches/switches.ts'

/** One server: its switches, what it knows, and what is under way. */
export interface World {
  readonly switches: Switches
  readonly store: Store
  readonly clock: Clock
  /** ms that a job takes; `slow` for the slow application. */
  readonly pace: { readonly usual: number; readonly slow: number }
  /** Timers of jobs under way. */
  readonly timers: Set<NodeJS.Timeout>
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
