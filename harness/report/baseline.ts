import { existsSync } from 'node:fs'
import { isObject } from '../../schemas/json.ts'
import { validate } from '../../schemas/validate.ts'
import { isLoopback } from '../loopback.ts'
import { ensure } from '../user-error.ts'
import { parseJson, parseReport, readBytes } from './json-file.ts'
import type { BaselineSummary, Report, RequirementResult } from '../../schemas/report.ts'
import { type HttpResponse, isSame, responsesOf, sayAnswers } from './verdict.ts'

export interface BaselineEntry {
  readonly id: string
  readonly reason?: string
  /** The last day, `YYYY-MM-DD` in UTC, on which the failure is expected. */
  readonly until?: string
  readonly was?: readonly HttpResponse[]
  readonly flaky?: boolean
}

export interface Baseline {
  readonly file: string
  readonly entries: readonly BaselineEntry[]
  readonly of?: Report['target']
}

/** Reads `schemas/baseline.schema.json`, or a report whose failures are expected to recur; throws UserError. */
export function readBaseline(file: string): Baseline {
  return parseBaseline(readBytes(file).toString('utf8'), file)
}

export function readBaselineOrNone(file: string): Baseline {
  return existsSync(file) ? readBaseline(file) : { file, entries: [] }
}

interface BaselineFile {
  readonly expected: readonly (Omit<BaselineEntry, 'was'> & {
    readonly was?: HttpResponse | readonly HttpResponse[]
  })[]
}

export function parseBaseline(text: string, file: string): Baseline {
  const value = parseJson(text, file)
  if (isObject(value) && ('format' in value || 'requirements' in value)) {
    const { requirements, target } = parseReport(text, file)
    const failed = requirements.filter((result) => result.outcome === 'failed')
    return { file, entries: failed.map((result) => recorded(result)), of: target }
  }
  const validity = validate('baseline', value)
  const problem = validity.valid ? '' : validity.problem
  ensure(validity.valid, `${file}: is not a baseline, nor a report: ${problem}`)
  const entries = (value as BaselineFile).expected.map(({ was, ...entry }) => ({
    ...entry,
    ...(was && { was: [was].flat() }),
  }))
  const ids = entries.map((entry) => entry.id)
  const twice = ids.find((id, at) => ids.indexOf(id) !== at)
  ensure(twice === undefined, `${file}: expected: ${twice} is listed twice`)
  return { file, entries }
}

function recorded(result: RequirementResult): BaselineEntry {
  const was = responsesOf(result)
  return { id: result.id, ...(was.length > 0 && { was }) }
}

export function withBaseline(report: Report, baseline: Baseline, now: Date): Report {
  const { requirements, run } = report
  return { ...report, run: { ...run, baseline: holdAgainst(baseline, requirements, now) } }
}

/** Compares results with a baseline. A stale entry decides the exit code; one that was not exercised is only named. */
export function holdAgainst(
  baseline: Baseline,
  results: readonly RequirementResult[],
  now: Date,
): BaselineSummary {
  const byId = new Map(results.map((result) => [result.id, result]))
  const summary: BaselineSummary = {
    file: baseline.file,
    expected: [],
    stale: [],
    notExercised: [],
  }
  for (const entry of baseline.entries) {
    const { id } = entry
    const result = byId.get(id)
    const outcome = result?.outcome
    const why = whyStale(entry, result, now)
    if (why !== undefined) summary.stale.push({ id, why })
    else if (outcome === 'failed') summary.expected.push(id)
    else if (outcome !== 'passed') summary.notExercised.push(id)
  }
  const reasons = baseline.entries.flatMap((entry) =>
    entry.reason !== undefined && byId.has(entry.id)
      ? [{ id: entry.id, reason: entry.reason }]
      : [],
  )
  return reasons.length > 0 ? { ...summary, reasons } : summary
}

export function reasonExpected(report: Pick<Report, 'run'>, id: string): string | undefined {
  return report.run.baseline?.reasons?.find((entry) => entry.id === id)?.reason
}

export function heldEntries(baseline: Baseline, now: Date): BaselineEntry[] {
  return baseline.entries.filter((entry) => !isPast(entry, now))
}

export function isExpectedFailure(
  entries: readonly BaselineEntry[],
  result: RequirementResult,
): boolean {
  const entry = entries.find((one) => one.id === result.id)
  return entry !== undefined && otherwise(entry, result) === undefined
}

function isPast(baselineEntry: BaselineEntry, now: Date): boolean {
  return baselineEntry.until !== undefined && now.toISOString().slice(0, 10) > baselineEntry.until
}

function whyStale(
  entry: BaselineEntry,
  result: RequirementResult | undefined,
  now: Date,
): string | undefined {
  if (result === undefined) return 'no requirement has this id'
  if (result.outcome === 'passed' && !entry.flaky) return 'it passed'
  return isPast(entry, now) ? `expected until ${entry.until}` : otherwise(entry, result)
}

function otherwise(baselineEntry: BaselineEntry, result: RequirementResult): string | undefined {
  const others = responsesOf(result).filter(
    (one) => !baselineEntry.was?.some((known) => isSame(known, one)),
  )
  if (baselineEntry.was === undefined || others.length === 0) return undefined
  return `it fails otherwise: ${sayAnswers(baselineEntry.was)} was recorded, ${sayAnswers(others)} was received`
}

export function foreignBaseline(baseline: Baseline, target: Report['target']): string[] {
  if (baseline.of === undefined || isSameTarget(baseline.of, target)) return []
  return [
    `${baseline.file} is a report of another target (${baseline.of.name}, ${baseline.of.baseUrl}); ` +
      `its failures are taken as expected for ${target.name}, ${target.baseUrl}`,
  ]
}

function isSameTarget(one: Report['target'], two: Report['target']): boolean {
  const isHere = (other: Report['target']): boolean =>
    URL.canParse(other.baseUrl) && isLoopback(new URL(other.baseUrl).hostname)
  return one.baseUrl === two.baseUrl || (one.digest === two.digest && isHere(one) && isHere(two))
}

/**
 * The baseline that fits this report. Entries that still fail, were not exercised or are flaky keep reason and date
 * (only a person should extend a date), and record the new answer. New failures that would decide the exit code are
 * added; entries that passed, do not apply or are unknown are removed.
 */
export function updateBaseline(baseline: Baseline, report: Report, now: Date) {
  const { requirements, run } = report
  const known = new Map(baseline.entries.map((entry) => [entry.id, entry]))
  const entries = requirements.flatMap((result): BaselineEntry[] => {
    const before = known.get(result.id)
    const stays =
      result.outcome === 'not-exercised' || (before?.flaky && result.outcome === 'passed')
    if (before && stays) return [before]
    if (result.outcome !== 'failed') return []
    // If all answers are known, the entry stays as written.
    if (before?.was && otherwise(before, result) === undefined) return [before]
    const decides = result.level === 'must' || run.strict
    return before || decides ? [{ ...before, ...recorded(result) }] : []
  })
  const written = entries.map(({ was, ...entry }) =>
    was === undefined ? entry : { ...entry, was: was.length === 1 ? was[0] : was },
  )
  return {
    baseline: { file: baseline.file, entries } satisfies Baseline,
    text: `${JSON.stringify({ expected: written }, null, 2)}\n`,
    difference: differenceOf(known, entries, requirements, now),
  }
}

/** Changes, one line each: `+ id: what it did`, `- id: why`, `~ id: how it fails now`, `! id: past its date`. */
function differenceOf(
  before: ReadonlyMap<string, BaselineEntry>,
  entries: readonly BaselineEntry[],
  results: readonly RequirementResult[],
  now: Date,
): string[] {
  const found = new Map(results.map((result) => [result.id, result]))
  const lines: string[] = []
  for (const entry of entries) {
    const { id, was, until } = entry
    const known = before.get(id)
    const [first] = found.get(id)!.failures
    if (!known && first) lines.push(`+ ${id}: expected ${first.expected}, received ${first.actual}`)
    if (known && was && was !== known.was) {
      const then = known.was ? `no longer with ${sayAnswers(known.was)}` : 'which was not recorded'
      lines.push(`~ ${id}: fails with ${sayAnswers(was)}, ${then}`)
    }
    if (isPast(entry, now))
      lines.push(`! ${id}: expected until ${until}; fix it, or move the date by hand`)
  }
  for (const id of before.keys())
    if (!entries.some((entry) => entry.id === id))
      lines.push(`- ${id}: ${found.get(id)?.outcome ?? 'unknown'}`)
  return lines
}
