import type { Switches } from '../switches/switches.ts'
import type { Job } from './store.ts'

const hourMs = 3_600_000

/** Tells the time and writes it down (RFC 3339, §5.6 there). */
export interface Clock {
  /** ms since the epoch, as this server believes. */
  readonly now: () => number
  /** A date-time. */
  readonly write: (ms: number) => string
}

function withOffset(ms: number): string {
  return new Date(ms + 5.5 * hourMs).toISOString().replace('Z', '+05:30')
}

function withNegativeOffset(ms: number): string {
  return new Date(ms - 3.5 * hourMs).toISOString().replace('Z', '-03:30')
}

/** The spellings of one instant that RFC 3339 allows, by the variant that chooses them. */
const spellings: Readonly<Record<string, (ms: number) => string>> = {
  'dates/offset': withOffset,
  'dates/negative-offset': withNegativeOffset,
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
  const hoursOff = switches.varied('clock/hours-behind') ? -7 : switches.varied('clock/hours-ahead') ? 7 : 0
  return {
    now: () => Date.now() + hoursOff * hourMs,
    write: chosen?.[1] ?? ((ms) => new Date(ms).toISOString()),
  }
}
