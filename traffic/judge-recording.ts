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
import type { Har } from './read-har.ts'
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

/** Answers of the interface that the recording has with their bodies, and without. */
export interface Bodies {
  kept: number
  missing: number
}

export interface JudgedRecording {
  readonly counts: Counts
  readonly bodies: Bodies
  /** What was seen of a requirement; undefined if nothing was. */
  tally(id: RequirementId): RowTally | undefined
  /** The judged exchanges as reports hold them. */
  exchanges(): Iterable<RecordedExchange>
}

/** The operation of an entry and the requirement that judges it first: its success, or every error's shape. */
interface Judged {
  readonly operation: OperationId
  readonly requirement: RequirementId
}

const methods = ['GET', 'POST']

/** Judges each recorded answer of the interface, one after the other in the order of time: of what it saw, the places stay. */
export function judgeRecording(har: Har, target: Target, redactor: Redactor): JudgedRecording {
  const counts: Counts = { judged: 0, otherAddresses: 0, otherMethods: 0, unanswered: 0, absent: 0, unknown: 0 }
  const tallies = createRowTallies()
  const watch = createWatches()
  const jobs = createJobReadings((index) => recordedAgain(har.entry(index), target, redactor))
  const judged: number[] = []
  const kinds: Judged[] = []
  const bodies = { kept: 0, missing: 0 }
  for (const index of har.inTime) {
    const exchange = answerOfInterface(har.entry(index), target, redactor, counts, bodies)
    if (!exchange) continue
    watch.observe(exchange)
    const { operation } = exchange.probe
    if (operation === null) continue
    const granted = judgeSuccess(exchange, target, tallies) ?? grantedRow[operation]
    judged.push(index)
    kinds.push(kindOf(operation, exchange.answer.status >= 400 ? 'envelope/shape' : granted))
    jobs.see(exchange)
  }
  counts.judged = judged.length
  jobs.judge(tallies)
  watch.copyTo(tallies)
  return {
    counts,
    bodies,
    tally: (id) => tallies.tally(id),
    *exchanges() {
      for (const [n, index] of judged.entries()) yield recordedExchange(n, har.entry(index), kinds[n]!, redactor)
    },
  }
}

const known = new Map<string, Judged>()

/** The same object for the same two, since there may be millions of entries. */
function kindOf(operation: OperationId, requirement: RequirementId): Judged {
  const name = `${operation} ${requirement}`
  const kind = known.get(name) ?? { operation, requirement }
  known.set(name, kind)
  return kind
}

/** An answer that was judged before. */
function recordedAgain(entry: RecordedEntry, target: Target, redactor: Redactor): RecordedAnswer {
  const path = pathUnder(target.baseUrl, entry.url) as string
  return recordedAnswer(entry, path, operationAt(entry.method, path), redactor)
}

/** The answer of an entry that was sent to the interface and answered; what is not judged is counted. */
function answerOfInterface(
  entry: RecordedEntry,
  target: Target,
  redactor: Redactor,
  counts: Counts,
  bodies: Bodies,
): RecordedAnswer | undefined {
  const path = pathUnder(target.baseUrl, entry.url)
  if (path === undefined || !path.startsWith('/v1/')) return void counts.otherAddresses++
  if (entry.status > 0 && entry.body.state === 'missing') bodies.missing++
  else if (entry.status > 0 && entry.body.bytes.length > 0) bodies.kept++
  if (!methods.includes(entry.method)) return void counts.otherMethods++
  if (entry.status === 0) return void counts.unanswered++
  const place = operationAt(entry.method, path)
  if (place && target.absent[place.operation] !== undefined) return void counts.absent++
  if (!place) counts.unknown++
  return recordedAnswer(entry, path, place, redactor)
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

function recordedExchange(
  n: number,
  entry: RecordedEntry,
  { operation, requirement }: Judged,
  redactor: Redactor,
): RecordedExchange {
  return {
    n,
    ...{ requirement, operation, role: 'probe' },
    startedAt: new Date(entry.startedAt ?? performance.timeOrigin).toISOString(),
    durationMs: entry.durationMs,
    httpVersion: entry.httpVersion,
    ...recordEntry(entry, redactor),
  }
}
