import { performance } from 'node:perf_hooks'
import { grantedRow, type RequirementId } from '../catalogue/catalogue.ts'
import { createEnvelopeWatch, observedRows } from '../harness/checks/envelope-watch.ts'
import type { Redactor } from '../harness/recording/redactor.ts'
import type { Target } from '../harness/target/model.ts'
import type { OperationId } from '../catalogue/operations.ts'
import type { RecordedExchange } from '../harness/report/model.ts'
import { pathUnder } from './base-url.ts'
import { createJobReadings } from './job-readings.ts'
import { operationAt } from './operation-at.ts'
import { recordEntry, recordedAnswer, type RecordedAnswer } from './recorded-exchange.ts'
import type { RecordedEntry } from './recorded-entry.ts'
import { createRowTallies, type RowTallies, type RowTally } from './row-tallies.ts'
import { judgeSuccess } from './successes.ts'

/** How many entries were judged, and why the others were not. */
export interface Counts {
  judged: number
  otherAddresses: number
  /** Requests with methods that the interface does not have (for example a browser's OPTIONS). */
  otherMethods: number
  unanswered: number
  /** To operations that the target file declares as not served or removed. */
  absent: number
  /** Under `/v1`, but no operation of the interface: judged by their label and their keys only. */
  unknown: number
}

export interface JudgedRecording {
  readonly counts: Counts
  /** What was seen of a requirement; undefined if nothing was. */
  tally(id: RequirementId): RowTally | undefined
  /** The judged exchanges as reports hold them. */
  exchanges(): Iterable<RecordedExchange>
}

/** An entry and the requirement that judges it first: its success, or every error's shape. */
interface JudgedEntry {
  readonly entry: RecordedEntry
  readonly operation: OperationId
  readonly requirement: RequirementId
}

const methods = ['GET', 'POST']

/** Judges each recorded answer of the interface. */
export function judgeRecording(entries: readonly RecordedEntry[], target: Target, redactor: Redactor): JudgedRecording {
  const counts: Counts = { judged: 0, otherAddresses: 0, otherMethods: 0, unanswered: 0, absent: 0, unknown: 0 }
  const tallies = createRowTallies()
  const watch = createWatches()
  const jobs = createJobReadings()
  const judged: JudgedEntry[] = []
  for (const entry of inTime(entries)) {
    const exchange = answerOfInterface(entry, target, redactor, counts)
    if (!exchange) continue
    watch.observe(exchange)
    const { operation } = exchange.probe
    if (operation === null) continue
    const granted = judgeSuccess(exchange, target, tallies) ?? grantedRow[operation]
    judged.push({ entry, operation, requirement: entry.status >= 400 ? 'envelope/shape' : granted })
    jobs.see(exchange)
  }
  counts.judged = judged.length
  jobs.judge(tallies)
  watch.copyTo(tallies)
  return {
    counts,
    tally: (id) => tallies.tally(id),
    *exchanges() {
      for (const [n, entry] of judged.entries()) yield recordedExchange(n, entry, redactor)
    },
  }
}

/** The answer of an entry that was sent to the interface and answered; what is not judged is counted. */
function answerOfInterface(
  entry: RecordedEntry,
  target: Target,
  redactor: Redactor,
  counts: Counts,
): RecordedAnswer | undefined {
  const path = pathUnder(target.baseUrl, entry.url)
  if (path === undefined || !path.startsWith('/v1/')) return void counts.otherAddresses++
  if (!methods.includes(entry.method)) return void counts.otherMethods++
  if (entry.status === 0) return void counts.unanswered++
  const place = operationAt(entry.method, path)
  if (place && target.absent[place.operation] !== undefined) return void counts.absent++
  if (!place) counts.unknown++
  return recordedAnswer(entry, path, place, redactor)
}

/** In the order in which the requests were sent, if the recording says when that was. */
function inTime(entries: readonly RecordedEntry[]): readonly RecordedEntry[] {
  if (entries.some(({ startedAt }) => startedAt === undefined)) return entries
  return [...entries].sort((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0))
}

/** The observed rows. An answer whose headers were not recorded does not tell how it was labelled. */
function createWatches() {
  const labelled = createEnvelopeWatch()
  const bare = createEnvelopeWatch()
  return {
    observe(exchange: RecordedAnswer): void {
      const watch = exchange.entry.headers.length > 0 ? labelled : bare
      watch.observe(exchange)
    },
    copyTo(tallies: RowTallies): void {
      for (const row of observedRows) {
        for (const watch of row === 'envelope/content-type' ? [labelled] : [labelled, bare]) {
          const { cases, failures } = watch.tally(row)
          for (let passed = failures.length; passed < cases; passed++) tallies.pass(row)
          for (const { exchange, expected, actual } of failures) tallies.fail(row, exchange, expected, actual)
        }
      }
    },
  }
}

function recordedExchange(n: number, judged: JudgedEntry, redactor: Redactor): RecordedExchange {
  const { entry, operation, requirement } = judged
  return {
    n,
    ...{ requirement, operation, role: 'probe' },
    startedAt: new Date(entry.startedAt ?? performance.timeOrigin).toISOString(),
    durationMs: entry.durationMs,
    httpVersion: entry.httpVersion,
    ...recordEntry(entry, redactor),
  }
}
