import type { Report, RequirementResult } from './model.ts'
import type { Baseline, BaselineEntry } from './baseline.ts'
import { isPast } from './baseline.ts'
import { reasonOf } from './read-baseline.ts'

export interface BaselineUpdate {
  readonly baseline: Baseline
  /** The new file, in the form that is written by hand: also where the old one was a report. */
  readonly text: string
  /** What changed, one line each: `+ id: reason`, `- id: why`, `! id: past its date`; empty where nothing did. */
  readonly difference: readonly string[]
}

/**
 * The baseline that fits this report. Entries that still fail, or were not exercised, stay with their reason and date (a
 * date that is past stays past: moving it is a person's decision); new failures come in where they would decide the exit
 * code, with what they did as the reason; what passed, does not apply or is unknown goes.
 */
export function updateBaseline(old: Baseline, report: Report, now: Date): BaselineUpdate {
  const known = new Map(old.entries.map((entry) => [entry.id, entry]))
  const entries = report.requirements.flatMap((result): BaselineEntry[] => {
    const before = known.get(result.id)
    if (before && (result.outcome === 'failed' || result.outcome === 'not-exercised')) return [before]
    const decides = result.level === 'must' || report.run.strict
    return result.outcome === 'failed' && decides ? [{ id: result.id, reason: reasonOf(result) }] : []
  })
  const baseline = { file: old.file, entries }
  return {
    baseline,
    text: `${JSON.stringify({ expected: entries }, null, 2)}\n`,
    difference: differenceOf(old, baseline, report.requirements, now),
  }
}

function differenceOf(old: Baseline, baseline: Baseline, results: readonly RequirementResult[], now: Date): string[] {
  const before = new Set(old.entries.map((entry) => entry.id))
  const after = new Set(baseline.entries.map((entry) => entry.id))
  const outcomes = new Map<string, string>(results.map((result) => [result.id, result.outcome]))
  return [
    ...baseline.entries.filter(({ id }) => !before.has(id)).map(({ id, reason }) => `+ ${id}: ${reason}`),
    ...old.entries.filter(({ id }) => !after.has(id)).map(({ id }) => `- ${id}: ${outcomes.get(id) ?? 'unknown'}`),
    ...baseline.entries
      .filter((entry) => isPast(entry, now))
      .map(({ id, until }) => `! ${id}: expected until ${until}; mend it, or move the date by hand`),
  ]
}
