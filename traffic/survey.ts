import { createBaseUrlCounts } from './base-url.ts'
import type { RecordedEntry } from './recorded-entry.ts'
import { secretsIn } from './secrets.ts'

/** Collects the facts of a whole recording: some are needed before its entries are judged one by one. */
export function createSurvey() {
  const baseUrls = createBaseUrlCounts()
  const secrets = new Set<string>()
  let first = Infinity
  let last = -Infinity
  return {
    baseUrls,
    /** Every credential in it, whatever address it was sent to. */
    secrets,
    see(entry: RecordedEntry): void {
      baseUrls.see(entry)
      for (const secret of secretsIn(entry)) secrets.add(secret)
      const { startedAt, durationMs } = entry
      if (startedAt === undefined) return
      first = Math.min(first, startedAt)
      last = Math.max(last, startedAt + durationMs)
    },
    /** When it began, and how long it took in ms to the last answer; `now` if no entry says. */
    time: (now: Date) =>
      first === Infinity
        ? { startedAt: now, durationMs: 0 }
        : { startedAt: new Date(first), durationMs: last - first },
  }
}
