import { existsSync } from 'node:fs'
import { isObject, member, parsedJson } from '../../schemas/json.ts'
import { isLoopback } from '../loopback.ts'
import { ensure } from '../user-error.ts'
import { parseJson, readBytes, parseReport } from './json-file.ts'
import type { BaselineSummary, Report, RequirementResult, TpeMode, Failure } from './model.ts'
import { outcomeIn } from './verdict.ts'

/** A failure that is known of, and so does not decide the exit code. */
export interface BaselineEntry {
  readonly id: string
  /** Why it is expected, for readers. */
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
  baseline: Baseline,
  results: readonly RequirementResult[],
  mode: TpeMode,
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
    const result = byId.get(entry.id)
    const outcome = result && outcomeIn(result, mode)
    const why = staleness(entry, outcome, now) ?? (result ? otherwise(entry, result, mode) : null)
    if (why !== null) summary.stale.push({ id: entry.id, why })
    else if (outcome === 'failed') summary.expected.push(entry.id)
    else summary.notExercised.push(entry.id)
  }
  const reasons = baseline.entries.flatMap(({ id, reason }) =>
    reason !== undefined && byId.has(id) ? [{ id, reason }] : [],
  )
  return reasons.length > 0 ? { ...summary, reasons } : summary
}

/** Why the baseline expects that failure; undefined if it does not say. */
export function reasonExpected({ run }: Pick<Report, 'run'>, id: string): string | undefined {
  return run.baseline?.reasons?.find((entry) => entry.id === id)?.reason
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
function otherwise(
  { was }: BaselineEntry,
  result: RequirementResult,
  mode: TpeMode,
): string | null {
  if (was === undefined) return null
  const others = responsesOf(result, mode).filter(
    (response) => !was.some((known) => isSame(known, response)),
  )
  if (others.length === 0) return null
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
    const report = parseReport(text, file)
    const failed = report.requirements.filter((result) => outcomeIn(result, mode) === 'failed')
    return { file, entries: failed.map((result) => recorded(result, mode)), of: report.target }
  }
  const { expected } = membersOf(
    value,
    ['$schema', 'expected'],
    file,
    'a baseline is a report or {"expected": [...]}',
  )
  ensure(
    Array.isArray(expected),
    `${file}: expected: must be an array of {"id", "reason", "until", "was"}`,
  )
  const entries = expected.map((item: unknown, index) =>
    entryOf(item, `${file}: expected[${index}]`),
  )
  entries.forEach(({ id }, index) => {
    const isFirst = entries.findIndex((entry) => entry.id === id) === index
    ensure(isFirst, `${file}: expected[${index}].id: ${id} is in it twice`)
  })
  return { file, entries }
}

/** The baseline as it is written by hand: `was` is one answer, or a list of them. */
export function writeBaseline(entries: readonly BaselineEntry[]): string {
  const expected = entries.map(({ was, ...entry }) =>
    was === undefined ? entry : { ...entry, was: was.length === 1 ? was[0] : was },
  )
  return `${JSON.stringify({ expected }, null, 2)}\n`
}

/** The entry of a requirement that fails: how, so that it is noticed when it fails otherwise. */
export function recorded(result: RequirementResult, mode: TpeMode): BaselineEntry {
  const was = responsesOf(result, mode)
  return { id: result.id, ...(was.length > 0 && { was }) }
}

function entryOf(item: unknown, place: string): BaselineEntry {
  const { id, reason, until, was } = membersOf(
    item,
    ['id', 'reason', 'until', 'was'],
    place,
    'must be an object with an id',
  )
  ensure(typeof id === 'string' && id !== '', `${place}.id: must be the id of a requirement`)
  ensure(reason === undefined || typeof reason === 'string', `${place}.reason: must be a string`)
  const day = 'must be a day written YYYY-MM-DD, for example 2027-01-31'
  ensure(until === undefined || isDay(until), `${place}.until: ${day}`)
  return {
    id,
    ...(reason !== undefined && { reason }),
    ...(until !== undefined && { until }),
    ...(was !== undefined && { was: responsesIn(was, `${place}.was`) }),
  }
}

function responsesIn(value: unknown, place: string): HttpResponse[] {
  if (!Array.isArray(value)) return [responseIn(value, place)]
  ensure(value.length > 0, `${place}: must name an answer; leave it out to expect any failure`)
  return value.map((response, index) => responseIn(response, `${place}[${index}]`))
}

function responseIn(value: unknown, place: string): HttpResponse {
  const form = 'must be {"status": 404, "tpe": "NotFound"}, or a list of such'
  const { status, tpe } = membersOf(value, ['status', 'tpe'], place, form)
  const isStatus = status === null || Number.isInteger(status)
  ensure(isStatus, `${place}.status: must be a status such as 404, or null for no answer`)
  ensure(tpe === undefined || typeof tpe === 'string', `${place}.tpe: must be a string`)
  return { status: status as HttpResponse['status'], ...(tpe !== undefined && { tpe }) }
}

/** The members of an object that has no others than those; throws UserError, naming the place. @param form what it is to be */
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

function isDay(value: unknown): value is string {
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
  return file === undefined ? [] : foreignBaseline(readBaselineOrNone(file, mode), target)
}

/** A server of this machine has another port each time it starts. */
function isSameTarget(one: Report['target'], two: Report['target']): boolean {
  if (one.baseUrl === two.baseUrl) return true
  return one.digest === two.digest && isOnThisMachine(one.baseUrl) && isOnThisMachine(two.baseUrl)
}

function isOnThisMachine(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && isLoopback(new URL(baseUrl).hostname)
}

/** A mark of what came back in a failure: enough to tell whether it is the same failure as before. */
export interface HttpResponse {
  /** Null if no answer came, or none belongs to the failure. */
  readonly status: number | null
  readonly tpe?: string
}

export function responseOf({ exchange }: Pick<Failure, 'exchange'>): HttpResponse {
  const response = exchange?.response
  if (response === undefined) return { status: null }
  const tpe = response.bodyEncoding === undefined ? tpeIn(response.body) : undefined
  return { status: response.status, ...(tpe !== undefined && { tpe }) }
}

/** The answers that make the requirement fail in that mode, each once. */
export function responsesOf(result: RequirementResult, mode: TpeMode): HttpResponse[] {
  if (outcomeIn(result, mode) !== 'failed') return []
  const responses = result.failures
    .filter(({ familyOnly }) => mode === 'exact' || !familyOnly)
    .map(responseOf)
  return responses.filter(
    (response, index) => responses.findIndex((other) => isSame(response, other)) === index,
  )
}

export function isSame(one: HttpResponse, two: HttpResponse): boolean {
  return one.status === two.status && one.tpe === two.tpe
}

/** `404 NotFound`, `200`, `no answer`; several with `or` between. */
export function sayAnswers(responses: readonly HttpResponse[]): string {
  return responses
    .map(({ status, tpe }) =>
      status === null ? 'no answer' : `${status}${tpe === undefined ? '' : ` ${tpe}`}`,
    )
    .join(' or ')
}

/** The `tpe` of an error envelope; a body that was cut is no JSON any more, but its beginning still tells. */
function tpeIn(body: string): string | undefined {
  const value = parsedJson(body)
  if (value === undefined) return /^\s*\{\s*"tpe"\s*:\s*"([^"\\]*)"/.exec(body)?.[1]
  const tpe = member(value, 'tpe')
  return typeof tpe === 'string' ? tpe : undefined
}
