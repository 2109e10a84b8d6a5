import { type Answer, answersOf, isSame, sayAnswers } from './answer.ts'
import type { BaselineSummary, Report, RequirementResult, TpeMode } from './model.ts'
import { outcomeIn } from './mode.ts'

/** A failure that is known of, and so does not decide the exit code. */
export interface BaselineEntry {
  readonly id: string
  /** Why it is expected, for readers. */
  readonly reason?: string
  /** The last day, `YYYY-MM-DD` in UTC, on which it is expected. */
  readonly until?: string
  /** The answers with which it failed when it was recorded; any other one is no longer expected. */
  readonly was?: readonly Answer[]
}

export interface Baseline {
  readonly file: string
  readonly entries: readonly BaselineEntry[]
  /** Whose failures these are, if the baseline is a report. */
  readonly of?: Report['target']
}

/**
 * Holds a baseline against results, in that mode. An entry whose requirement passed, is unknown or fails otherwise than
 * recorded, or that is past its `until`, is stale and decides the exit code; one that was not exercised, or does not
 * apply, is only named.
 */
export function holdAgainst(
  baseline: Baseline,
  results: readonly RequirementResult[],
  mode: TpeMode,
  now: Date,
): BaselineSummary {
  const byId = new Map(results.map((result) => [result.id, result]))
  const summary: BaselineSummary = { file: baseline.file, expected: [], stale: [], notExercised: [] }
  for (const entry of baseline.entries) {
    const result = byId.get(entry.id)
    const outcome = result && outcomeIn(result, mode)
    const why = staleness(entry, outcome, now) ?? (result ? otherwise(entry, result, mode) : null)
    if (why !== null) summary.stale.push({ id: entry.id, why })
    else if (outcome === 'failed') summary.expected.push(entry.id)
    else summary.notExercised.push(entry.id)
  }
  return summary
}

/** The entries that hold on that day; `--bail` does not stop at the failures that they expect. */
export function heldEntries(baseline: Baseline, now: Date): BaselineEntry[] {
  return baseline.entries.filter((entry) => !isPast(entry, now))
}

/** Whether one of the entries expects the requirement to fail as it did. */
export function isExpectedFailure(
  entries: readonly BaselineEntry[],
  result: RequirementResult,
  mode: TpeMode,
): boolean {
  return entries.some((entry) => entry.id === result.id && otherwise(entry, result, mode) === null)
}

/** Whether the entry's last day, which still counts, is over in UTC. */
export function isPast({ until }: BaselineEntry, now: Date): boolean {
  return until !== undefined && now.toISOString().slice(0, 10) > until
}

function staleness(entry: BaselineEntry, outcome: string | undefined, now: Date): string | null {
  if (outcome === undefined) return 'no requirement has this id'
  if (outcome === 'passed') return 'it passed'
  if (isPast(entry, now)) return `expected until ${entry.until}`
  return null
}

/** Why a failure is another one than was recorded; null if it is the same, or nothing was recorded. */
function otherwise({ was }: BaselineEntry, result: RequirementResult, mode: TpeMode): string | null {
  if (was === undefined) return null
  const others = answersOf(result, mode).filter((answer) => !was.some((known) => isSame(known, answer)))
  if (others.length === 0) return null
  return `it fails otherwise: ${sayAnswers(was)} was recorded, ${sayAnswers(others)} was received`
}
