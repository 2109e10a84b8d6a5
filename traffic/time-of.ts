import type { RecordedEntry } from './recorded-entry.ts'

/** When the recording began, and how long it took in ms until its last answer; `now` if no entry says. */
export function timeOf(entries: readonly RecordedEntry[], now: Date): { startedAt: Date; durationMs: number } {
  let first = Infinity
  let last = -Infinity
  for (const { startedAt, durationMs } of entries) {
    if (startedAt === undefined) continue
    first = Math.min(first, startedAt)
    last = Math.max(last, startedAt + durationMs)
  }
  if (first === Infinity) return { startedAt: now, durationMs: 0 }
  return { startedAt: new Date(first), durationMs: last - first }
}
