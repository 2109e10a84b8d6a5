import { randomUUID } from 'node:crypto'
import type { Switches } from '../switches/switches.ts'

/** How long things take, in ms. */
interface Pace {
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

const hourMs = 3_600_000

/** Tells the time and writes it down (RFC 3339, §5.6 there). */
interface Clock {
  /** ms since the epoch, as this server believes. */
  readonly now: () => number
  /** A date-time. */
  readonly write: (ms: number) => string
}

/** The spellings of one instant that RFC 3339 allows, by the variant that chooses them. */
const spellings: Readonly<Record<string, (ms: number) => string>> = {
  'dates/offset': (ms) => new Date(ms + 5.5 * hourMs).toISOString().replace('Z', '+05:30'),
  'dates/negative-offset': (ms) => new Date(ms - 3.5 * hourMs).toISOString().replace('Z', '-03:30'),
  'dates/unknown-offset': (ms) => new Date(ms).toISOString().replace('Z', '-00:00'),
  'dates/long-fraction': (ms) => new Date(ms).toISOString().replace('Z', '000000Z'),
  'dates/short-fraction': (ms) => `${new Date(ms).toISOString().slice(0, 21)}Z`,
  'dates/whole-seconds': (ms) => `${new Date(ms).toISOString().slice(0, 19)}Z`,
  'dates/lower-case': (ms) => new Date(ms).toISOString().toLowerCase(),
}

/**
 * Readings that show a job in progress before it ends: what a judge has to see of it is one beside a creation on another
 * application and one beside a creation on its own, and an answer may be lost. So no reader misses it, however slow its machine
 * or far its network.
 */
export const readingsInProgress = 3

/**
 * When a job ends, in ms since the epoch: once its time is over and it was read in progress often enough, or `unreadMs` after its
 * creation.
 */
export function endOf({ createdAt, takes, seenAt = Infinity }: Job, unreadMs: number): number {
  return createdAt + Math.max(takes, Math.min(unreadMs, seenAt - createdAt))
}

export function createClock(switches: Switches): Clock {
  const chosen = Object.entries(spellings).find(([variant]) => switches.varied(variant))
  const hoursOff = switches.varied('clock/hours-behind')
    ? -7
    : switches.varied('clock/hours-ahead')
      ? 7
      : 0
  return {
    now: () => Date.now() + hoursOff * hourMs,
    write: chosen?.[1] ?? ((ms) => new Date(ms).toISOString()),
  }
}

/** The account that the keys of the target file belong to. */
export const ownAccount = 'main'

type FileState = 'stored' | 'deleted' | 'expired'

/** Something that belongs to an account. */
export interface Owned {
  readonly id: string
  readonly account: string
  readonly createdAt: number
  /** It came with a request; the others were there when the server began. */
  readonly made?: true
}

export interface StoredFile extends Owned {
  readonly name: string
  /** Media type. */
  readonly type: string
  readonly bytes: () => Uint8Array
  readonly state: FileState
}

interface GraphFile {
  /** Whether it came with its upload or was added afterwards. */
  readonly by: 'upload' | 'addition'
  /** When it begins to count as part of the graph, in ms since the epoch. */
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
  readonly pace: 'usual' | 'slow'
  readonly fails: boolean
  /** The job that it is busy with, or its last one. */
  job?: Job
  firstJob?: Job
  jobs: number
  /** ms since the epoch until which it refuses jobs although it has none. */
  blockedUntil?: number
  /** From when on; at once if nothing is said. */
  blockedFrom?: number
}

export interface Job extends Owned {
  readonly applicationId: string
  status: 'in_progress' | 'failed' | 'completed'
  updatedAt: number
  completedAt?: number
  data?: Readonly<Record<string, string>>
  error?: string
  /** How often it has been read since it ended. */
  readings: number
  read: boolean
  /** Its inputs, as JSON. */
  readonly inputs: string
  /** ms that it takes at least. */
  readonly takes: number
  readonly fails: boolean
  readingsInProgress: number
  /** When that was often enough for it to end, in ms since the epoch. */
  seenAt?: number
}

/** Everything that one server knows; nothing outlives it. */
export interface Store {
  readonly files: Map<string, StoredFile>
  readonly graphs: Map<string, Graph>
  readonly applications: Map<string, Application>
  readonly jobs: Map<string, Job>
}

/** A job in progress that nobody has read. */
export function plainJob(
  of: Pick<Job, 'applicationId' | 'account' | 'createdAt'> & Partial<Job>,
): Job {
  const unread = { readings: 0, read: false, readingsInProgress: 0 }
  return {
    id: randomUUID(),
    updatedAt: of.createdAt,
    status: 'in_progress',
    inputs: '[]',
    takes: 0,
    fails: false,
    ...unread,
    ...of,
  }
}
