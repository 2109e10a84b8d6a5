import { createBaseUrlCounts, type BaseUrlCounts } from './base-url.ts'
import type { RecordedEntry } from './recorded-entry.ts'
import { secretsIn } from './secrets.ts'

/** Facts of a whole recording that are needed before its entries are judged one by one. */
interface Survey {
  see(entry: RecordedEntry): void
  readonly baseUrls: BaseUrlCounts
  /** Every credential in it, whatever address it was sent to. */
  readonly secrets: ReadonlySet<string>
  /** When it began, and how long it took in ms until its last answer; `now` if no entry says. */
  time(now: Date): { startedAt: Date; durationMs: number }
}

export function createSurvey(): Survey {
  const baseUrls = createBaseUrlCounts()
  const secrets = new Set<string>()
  let first = Infinity
  let last = -Infinity
  return {
    baseUrls,
    secrets,
    see(entry) {
      baseUrls.see(entry)
      for (const secret of secretsIn(entry)) secrets.add(secret)
      const { startedAt, durationMs } = entry
      if (startedAt === undefined) return
      first = Math.min(first, startedAt)
      last = Math.max(last, startedAt + durationMs)
    },
    time(now) {
      if (first === Infinity) return { startedAt: now, durationMs: 0 }
      return { startedAt: new Date(first), durationMs: last - first }
    },
  }
}
