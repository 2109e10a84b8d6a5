import type { Report, RequirementResult } from './model.ts'
import type { Baseline, BaselineEntry } from './baseline.ts'
import { responsesOf, isSame, sayAnswers, isPast, recorded, writeBaseline } from './baseline.ts'

/**
 * The baseline that fits this report. Entries that still fail, or were not exercised, stay with their reason and date (a
 * date that is past stays past: moving it is a person's decision), and record how they fail now. New failures come in if
 * they would decide the exit code, with how they fail; what passed, does not apply or is unknown goes.
 */
export function updateBaseline(old: Baseline, report: Report, now: Date) {
  const known = new Map(old.entries.map((entry) => [entry.id, entry]))
  const entries = report.requirements.flatMap((result): BaselineEntry[] => {
    const before = known.get(result.id)
    if (before && result.outcome === 'not-exercised') return [before]
    if (before && result.outcome === 'failed') return [refreshed(before, result, report)]
    const decides = result.level === 'must' || report.run.strict
    const isNew = result.outcome === 'failed' && decides
    return isNew ? [recorded(result, report.run.tpe)] : []
  })
  return {
    baseline: { file: old.file, entries } satisfies Baseline,
    /** The new file, in the form that is written by hand: also if the old one was a report. */
    text: writeBaseline(entries),
    /**
     * Changes, one line each: `+ id: what it did`, `- id: why`, `~ id: how it fails now`, `! id: past its date`; empty if
     * nothing did.
     */
    difference: differenceOf(old, entries, report.requirements, now),
  }
}

/** The entry with how its requirement fails now. */
function refreshed(
  entry: BaselineEntry,
  result: RequirementResult,
  { run }: Report,
): BaselineEntry {
  const { was } = entry
  const responses = responsesOf(result, run.tpe)
  if (was && responses.every((response) => was.some((known) => isSame(known, response))))
    return entry
  return { ...entry, ...recorded(result, run.tpe) }
}

function differenceOf(
  old: Baseline,
  entries: readonly BaselineEntry[],
  results: readonly RequirementResult[],
  now: Date,
): string[] {
  const before = new Map(old.entries.map((entry) => [entry.id, entry]))
  const after = new Set(entries.map((entry) => entry.id))
  const found = new Map(results.map((result) => [result.id, result]))
  return [
    ...entries
      .filter(({ id }) => !before.has(id))
      .map(({ id }) => `+ ${id}: ${sayFailure(found.get(id))}`),
    ...old.entries
      .filter(({ id }) => !after.has(id))
      .map(({ id }) => `- ${id}: ${found.get(id)?.outcome ?? 'unknown'}`),
    ...entries.flatMap((entry) => changeOf(entry, before.get(entry.id))),
    ...entries
      .filter((entry) => isPast(entry, now))
      .map(
        ({ id, until }) => `! ${id}: expected until ${until}; mend it, or move the date by hand`,
      ),
  ]
}

function sayFailure(result: RequirementResult | undefined): string {
  const [first] = result?.failures ?? []
  return first ? `expected ${first.expected}, received ${first.actual}` : 'failed'
}

function changeOf({ id, was }: BaselineEntry, before: BaselineEntry | undefined): string[] {
  if (!before || !was || was === before.was) return []
  const then = before.was
    ? `, no longer with ${sayAnswers(before.was)}`
    : ', which was not recorded yet'
  return [`~ ${id}: fails with ${sayAnswers(was)}${then}`]
}
