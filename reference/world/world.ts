import { randomUUID } from 'node:crypto'
import type { Switches } from '../switches.ts'

/** Durations, in ms. */
export interface Pace {
  /** Minimum of a job; default 40. A job also lasts until it was read in progress three times, or 30 s. */
  readonly jobMs: number
  /** Minimum of a job of the slow application; default 250. */
  readonly slowJobMs: number
  /** Until a new object can be used, under `settling/*`, `jobs/readable-late` and `processing/slow`; default: individual times. */
  readonly settleMs?: number
  /** A slow refusal, under `slow/refusals`; default 200. */
  readonly slowRefusalMs: number
  /** Silence before the connection is closed, under the defects `#no-answer`; default 1000. */
  readonly silenceMs: number
}

export interface World {
  readonly switches: Switches
  readonly store: Store
  readonly clock: Clock
  readonly pace: Pace
  /** A job that is not read often enough in progress ends then, in ms, unless its own time is longer. */
  readonly unreadMs: number
  /** ms since the epoch when the server began, by its clock. */
  readonly since: number
  readonly running: Set<Job>
  readonly counts: Map<string, number>
  searchDown: boolean
}

export function countUp(world: World, name: string): number {
  const count = (world.counts.get(name) ?? 0) + 1
  world.counts.set(name, count)
  return count
}

const hourMs = 3_600_000

interface Clock {
  readonly now: () => number
  readonly write: (ms: number) => string
}

const isoDate = (ms: number): string => new Date(ms).toISOString()

const spellings: Readonly<Record<string, (ms: number) => string>> = {
  offset: (ms) => isoDate(ms + 5.5 * hourMs).replace('Z', '+05:30'),
  'negative-offset': (ms) => isoDate(ms - 3.5 * hourMs).replace('Z', '-03:30'),
  'unknown-offset': (ms) => isoDate(ms).replace('Z', '-00:00'),
  'long-fraction': (ms) => isoDate(ms).replace('Z', '000000Z'),
  'short-fraction': (ms) => `${isoDate(ms).slice(0, 21)}Z`,
  'whole-seconds': (ms) => `${isoDate(ms).slice(0, 19)}Z`,
  'lower-case': (ms) => isoDate(ms).toLowerCase(),
}

/**
 * Readings in progress before a job may end: a suite needs one beside a creation on another application and one beside
 * a creation on the same one, and one answer may be lost. So no client misses it, however slow its machine or network.
 */
export const readingsInProgress = 3

/**
 * When a job ends, in ms since the epoch: once its time is over and it was read in progress often enough, or `unreadMs`
 * after its creation.
 */
export function endOf(job: Job, unreadMs: number): number {
  const { createdAt, takes, seenAt = Infinity } = job
  return createdAt + Math.max(takes, Math.min(unreadMs, seenAt - createdAt))
}

export function createClock(switches: Switches): Clock {
  const hoursOff = switches.variedOf('clock/', { 'hours-behind': -7, 'hours-ahead': 7 }) ?? 0
  return {
    now: () => Date.now() + hoursOff * hourMs,
    write: switches.variedOf('dates/', spellings) ?? isoDate,
  }
}

export const ownAccount = 'main'

type FileState = 'stored' | 'deleted' | 'expired'

export interface Owned {
  readonly id: string
  readonly account: string
  readonly createdAt: number
  readonly made?: true
}

export interface StoredFile extends Owned {
  readonly name: string
  readonly type: string
  readonly bytes: () => Uint8Array
  readonly state: FileState
}

interface GraphFile {
  readonly by: 'upload' | 'addition'
  /** When it becomes part of the graph, in ms since the epoch. */
  readonly from: number
}

export interface Graph extends Owned {
  readonly name: string
  readonly version: string
  readonly files: Map<string, GraphFile>
}

interface ApplicationInput {
  readonly id: string
  readonly required: boolean
}

export interface Application extends Owned {
  readonly name: string
  readonly inputs: readonly ApplicationInput[]
  readonly isSlow: boolean
  readonly fails: boolean
  job?: Job
  firstJob?: Job
  jobs: number
  /** Refuses jobs until then although it has none, in ms since the epoch. */
  blockedUntil?: number
  blockedFrom?: number
}

export interface Job extends Owned {
  readonly applicationId: string
  status: 'in_progress' | 'failed' | 'completed'
  updatedAt: number
  completedAt?: number
  data?: Readonly<Record<string, string>>
  error?: string
  readings: number
  read: boolean
  readonly inputs: string
  readonly takes: number
  readonly fails: boolean
  readingsInProgress: number
  /** When it had been read often enough to end, in ms since the epoch. */
  seenAt?: number
}

export interface Store {
  readonly files: Map<string, StoredFile>
  readonly graphs: Map<string, Graph>
  readonly applications: Map<string, Application>
  readonly jobs: Map<string, Job>
}

export function plainJob(
  of: Pick<Job, 'applicationId' | 'account' | 'createdAt'> & Partial<Job>,
): Job {
  const made = { id: randomUUID(), updatedAt: of.createdAt, status: 'in_progress' } as const
  const unread = { readings: 0, read: false, readingsInProgress: 0 }
  return { ...made, inputs: '[]', takes: 0, fails: false, ...unread, ...of }
}
