import { existsSync } from 'node:fs'
import { isObject } from '../../schemas/json.ts'
import { isLoopback } from '../loopback.ts'
import { ensure } from '../user-error.ts'
import { parseJson, readBytes, parseReport } from './json-file.ts'
import type { BaselineSummary, Report, RequirementResult, TpeMode } from './report-schema.ts'
import { type HttpResponse, isSame, outcomeIn, responsesOf, sayAnswers } from './verdict.ts'

/** A failure that is known of, and so does not decide the exit code. */
export interface BaselineEntry {
  readonly id: string
  readonly reason?: string
  /** The last day, `YYYY-MM-DD` in UTC, on which it is expected. */
  readonly until?: string
  /** The answers with which it failed when it was recorded; any other one is no longer expected. */
  readonly was?: readonly HttpResponse[]
}

export interface Baseline {
  readonly file: string
  readonly entries: readonly BaselineEntry[]
  /** Target that failed so, if the baseline is a report. */
  readonly of?: Report['target']
}

/**
 * Holds a baseline against results, in that mode. An entry whose requirement passed, is unknown or fails otherwise than
 * recorded, or that is past its `until`, is stale and decides the exit code; one that was not exercised, or does not
 * apply, is only named.
 */
export function holdAgainst(
  { entries, file }: Baseline,
  results: readonly RequirementResult[],
  mode: TpeMode,
  now: Date,
): BaselineSummary {
  const byId = new Map(results.map((result) => [result.id, result]))
  const summary: BaselineSummary = { file, expected: [], stale: [], notExercised: [] }
  for (const entry of entries) {
    const { id } = entry
    const result = byId.get(id)
    const why = whyStale(entry, result, mode, now)
    if (why !== undefined) summary.stale.push({ id, why })
    else if (outcomeIn(result!, mode) === 'failed') summary.expected.push(id)
    else summary.notExercised.push(id)
  }
  const reasons = entries.flatMap(({ id, reason }) =>
    reason !== undefined && byId.has(id) ? [{ id, reason }] : [],
  )
  return reasons.length > 0 ? { ...summary, reasons } : summary
}

export function reasonExpected({ run }: Pick<Report, 'run'>, id: string): string | undefined {
  return run.baseline?.reasons?.find((entry) => entry.id === id)?.reason
}

/** The entries that hold on that day; `--bail` does not stop at the failures that they expect. */
export function heldEntries({ entries }: Baseline, now: Date): BaselineEntry[] {
  return entries.filter((entry) => !isPast(entry, now))
}

/** Whether one of the entries expects the requirement to fail as it did. */
export function isExpectedFailure(
  entries: readonly BaselineEntry[],
  result: RequirementResult,
  mode: TpeMode,
): boolean {
  return entries.some(
    (entry) => entry.id === result.id && otherwise(entry, result, mode) === undefined,
  )
}

function isPast({ until }: BaselineEntry, now: Date): boolean {
  return until !== undefined && now.toISOString().slice(0, 10) > until
}

function whyStale(
  entry: BaselineEntry,
  result: RequirementResult | undefined,
  mode: TpeMode,
  now: Date,
): string | undefined {
  if (result === undefined) return 'no requirement has this id'
  if (outcomeIn(result, mode) === 'passed') return 'it passed'
  return isPast(entry, now) ? `expected until ${entry.until}` : otherwise(entry, result, mode)
}

/** Why a failure is another one than was recorded; undefined if it is the same, or nothing was recorded. */
function otherwise(
  { was }: BaselineEntry,
  result: RequirementResult,
  mode: TpeMode,
): string | undefined {
  const others = responsesOf(result, mode).filter(
    (one) => !was?.some((known) => isSame(known, one)),
  )
  if (was === undefined || others.length === 0) return undefined
  return `it fails otherwise: ${sayAnswers(was)} was recorded, ${sayAnswers(others)} was received`
}

/**
 * Reads `{"expected": [{"id", "reason", "until", "was"}]}`, or a report, of which every requirement that fails in that mode
 * is expected to fail the same way. Throws UserError, naming the place, on anything else.
 */
export function readBaseline(file: string, mode: TpeMode): Baseline {
  return parseBaseline(readBytes(file).toString('utf8'), file, mode)
}

/** Reads a baseline that is about to be rewritten: if there is no such file yet, nothing is expected. */
export function readBaselineOrNone(file: string, mode: TpeMode): Baseline {
  return existsSync(file) ? readBaseline(file, mode) : { file, entries: [] }
}

export function parseBaseline(text: string, file: string, mode: TpeMode): Baseline {
  const value = parseJson(text, file)
  if (isObject(value) && ('format' in value || 'requirements' in value)) {
    const { requirements, target } = parseReport(text, file)
    const failed = requirements.filter((result) => outcomeIn(result, mode) === 'failed')
    return { file, entries: failed.map((result) => recorded(result, mode)), of: target }
  }
  const form = 'a baseline is a report or {"expected": [...]}'
  const { expected } = membersOf(value, ['$schema', 'expected'], file, form)
  const isList = Array.isArray(expected)
  ensure(isList, `${file}: expected: must be an array of {"id", "reason", "until", "was"}`)
  const entries = expected.map((item, at) => entryOf(item, `${file}: expected[${at}]`))
  entries.forEach(({ id }, at) => {
    const isFirst = entries.findIndex((entry) => entry.id === id) === at
    ensure(isFirst, `${file}: expected[${at}].id: ${id} is in it twice`)
  })
  return { file, entries }
}

function entryOf(item: unknown, place: string): BaselineEntry {
  const known = ['id', 'reason', 'until', 'was']
  const entry = membersOf(item, known, place, 'must be an object with an id')
  const { id, reason, until, was } = entry
  ensure(typeof id === 'string' && id !== '', `${place}.id: must be the id of a requirement`)
  ensure(reason === undefined || typeof reason === 'string', `${place}.reason: must be a string`)
  const day = 'must be a day written YYYY-MM-DD, for example 2027-01-31'
  ensure(until === undefined || isDay(until), `${place}.until: ${day}`)
  const answers = was === undefined ? {} : { was: responsesIn(was, `${place}.was`) }
  return { ...entry, id, ...answers }
}

function responsesIn(value: unknown, place: string): HttpResponse[] {
  if (!Array.isArray(value)) return [responseIn(value, place)]
  ensure(value.length > 0, `${place}: must name an answer; leave it out to expect any failure`)
  return value.map((response, index) => responseIn(response, `${place}[${index}]`))
}

function responseIn(value: unknown, place: string): HttpResponse {
  const form = 'must be {"status": 404, "tpe": "NotFound"}, or a list of such'
  const response = membersOf(value, ['status', 'tpe'], place, form)
  const { status, tpe } = response
  const isStatus = status === null || Number.isInteger(status)
  ensure(isStatus, `${place}.status: must be a status such as 404, or null for no answer`)
  ensure(tpe === undefined || typeof tpe === 'string', `${place}.tpe: must be a string`)
  return { ...response, status: status as HttpResponse['status'] }
}

function membersOf(
  value: unknown,
  known: string[],
  place: string,
  form: string,
): Record<string, unknown> {
  ensure(isObject(value), `${place}: ${form}`)
  const other = Object.keys(value).find((name) => !known.includes(name))
  const unknown = `unknown member ${JSON.stringify(other)}; known are ${known.join(', ')}`
  ensure(other === undefined, `${place}: ${unknown}`)
  return value
}

function isDay(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false
  const time = Date.parse(`${value}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value)
}

/** A warning if the baseline is a report of another target: its failures are not known to be this one's. */
export function foreignBaseline({ file, of }: Baseline, target: Report['target']): string[] {
  if (of === undefined || isSameTarget(of, target)) return []
  return [
    `${file} is a report of another target (${of.name}, ${of.baseUrl}); ` +
      `its failures are taken as expected for ${target.name}, ${target.baseUrl}`,
  ]
}

/** Tells how the baseline of a command that names the file only differs in its target. */
export function foreignBaselineFile(
  file: string | undefined,
  mode: TpeMode,
  target: Report['target'],
): string[] {
  return file === undefined ? [] : foreignBaseline(readBaseline(file, mode), target)
}

/** A server of this machine has another port each time it starts. */
function isSameTarget(one: Report['target'], two: Report['target']): boolean {
  const isHere = ({ baseUrl }: Report['target']): boolean =>
    URL.canParse(baseUrl) && isLoopback(new URL(baseUrl).hostname)
  return one.baseUrl === two.baseUrl || (one.digest === two.digest && isHere(one) && isHere(two))
}

function recorded(result: RequirementResult, mode: TpeMode): BaselineEntry {
  const was = responsesOf(result, mode)
  return { id: result.id, ...(was.length > 0 && { was }) }
}

/**
 * The baseline that fits this report. Entries that still fail, or were not exercised, stay with their reason and date (a
 * date that is past stays past: moving it is a person's decision), and record how they fail now. New failures come in if
 * they would decide the exit code, with how they fail; what passed, does not apply or is unknown goes.
 */
export function updateBaseline({ file, entries: old }: Baseline, report: Report, now: Date) {
  const { requirements, run } = report
  const known = new Map(old.map((entry) => [entry.id, entry]))
  const entries = requirements.flatMap((result): BaselineEntry[] => {
    const before = known.get(result.id)
    if (before && result.outcome === 'not-exercised') return [before]
    if (result.outcome !== 'failed') return []
    // Answers that are all known stay as they were written.
    if (before?.was && otherwise(before, result, run.tpe) === undefined) return [before]
    const decides = result.level === 'must' || run.strict
    return before || decides ? [{ ...before, ...recorded(result, run.tpe) }] : []
  })
  const written = entries.map(({ was, ...entry }) =>
    was === undefined ? entry : { ...entry, was: was.length === 1 ? was[0] : was },
  )
  return {
    baseline: { file, entries } satisfies Baseline,
    /** The new file, in the form that is written by hand: also if the old one was a report. */
    text: `${JSON.stringify({ expected: written }, null, 2)}\n`,
    /**
     * Changes, one line each: `+ id: what it did`, `- id: why`, `~ id: how it fails now`, `! id: past its date`; empty if
     * nothing did.
     */
    difference: differenceOf(known, entries, requirements, now),
  }
}

function differenceOf(
  before: ReadonlyMap<string, BaselineEntry>,
  entries: readonly BaselineEntry[],
  results: readonly RequirementResult[],
  now: Date,
): string[] {
  const after = new Set(entries.map(({ id }) => id))
  const found = new Map(results.map((result) => [result.id, result]))
  const sayFailure = (id: string): string => {
    const first = found.get(id)?.failures[0]
    return first ? `expected ${first.expected}, received ${first.actual}` : 'failed'
  }
  const fresh = entries.filter(({ id }) => !before.has(id))
  const gone = [...before.keys()].filter((id) => !after.has(id))
  const past = entries.filter((entry) => isPast(entry, now))
  return [
    ...fresh.map(({ id }) => `+ ${id}: ${sayFailure(id)}`),
    ...gone.map((id) => `- ${id}: ${found.get(id)?.outcome ?? 'unknown'}`),
    ...entries.flatMap((entry) => changeOf(entry, before.get(entry.id))),
    ...past.map(
      ({ id, until }) => `! ${id}: expected until ${until}; mend it, or move the date by hand`,
    ),
  ]
}

function changeOf({ id, was }: BaselineEntry, before: BaselineEntry | undefined): string[] {
  if (!before || !was || was === before.was) return []
  const then = before.was
    ? `, no longer with ${sayAnswers(before.was)}`
    : ', which was not recorded yet'
  return [`~ ${id}: fails with ${sayAnswers(was)}${then}`]
}
