import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { grantedRequirement, type RequirementId } from '../catalogue/catalogue.ts'
import type { OperationId } from '../catalogue/operations.ts'
import { createEnvelopeWatch, observedRequirements } from '../harness/checks/index.ts'
import type { Redactor } from '../harness/recording/index.ts'
import type { RecordedExchange } from '../harness/report/index.ts'
import type { Target } from '../harness/target-file/index.ts'
import { pathUnder, operationAt } from './base-url.ts'
import { createJobReadings } from './job-readings.ts'
import type { Har } from './read-har.ts'
import type { RecordedEntry } from './recorded-entry.ts'
import { type RecordedHttpResponse, recordEntry, recordResponse } from './recorded-exchange.ts'
import type { OnFailure, RequirementTallies, RequirementTally } from './successes.ts'
import { createRequirementTallies, judgeSuccess } from './successes.ts'

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

export interface Seen {
  readonly counts: Counts
  readonly bodies: Bodies
  /** Gives what was seen of a requirement; undefined if nothing was. */
  tally(id: RequirementId): RequirementTally | undefined
}

/** The operation of an entry and the requirement that judges it first: its success, or every error's shape. */
interface Judged {
  readonly operation: OperationId
  readonly requirement: RequirementId
}

interface RecordingJudgeOptions {
  readonly target: Target
  readonly redactor: Redactor
  readonly again: (index: number) => RecordedEntry
  /** Called with the first failures of each requirement, as they are seen. */
  readonly onFailure?: OnFailure
}

/** Judges recorded answers of the interface, one after the other in the order of time: of what it saw, the places stay. */
export function createRecordingJudge({ target, redactor, again, onFailure }: RecordingJudgeOptions) {
  const counts: Counts = { judged: 0, otherAddresses: 0, otherMethods: 0, unanswered: 0, absent: 0, unknown: 0 }
  const bodies = { kept: 0, missing: 0 }
  const tallies = createRequirementTallies(onFailure)
  const watch = createWatches(onFailure)
  const jobs = createJobReadings((index) => recordedAgain(again(index), target, redactor), onFailure)
  return {
    /** Gives what the entry is in reports; undefined if it is no exchange of an operation. */
    see(entry: RecordedEntry): Judged | undefined {
      const exchange = answerOfInterface(entry, { target, redactor }, counts, bodies)
      if (!exchange) return undefined
      watch.observe(exchange)
      const { operation } = exchange.probe
      if (operation === null) return undefined
      counts.judged++
      const granted = judgeSuccess(exchange, target, tallies) ?? grantedRequirement[operation]
      jobs.see(exchange)
      return { operation, requirement: exchange.response.status >= 400 ? 'envelope/shape' : granted }
    },
    end(): Seen {
      // Findings on jobs and on every response were reported already.
      const all = createRequirementTallies()
      tallies.copyTo(all)
      jobs.judge(all)
      watch.copyTo(all)
      return { counts, bodies, tally: (id) => all.tally(id) }
    },
  }
}

function recordedAgain(entry: RecordedEntry, target: Target, redactor: Redactor): RecordedHttpResponse {
  const path = pathUnder(target.baseUrl, entry.url) as string
  return recordResponse(entry, path, operationAt(entry.method, path), redactor)
}

const methods = ['GET', 'POST']

/** The answer of an entry that was sent to the interface and answered; what is not judged is counted. */
function answerOfInterface(
  entry: RecordedEntry,
  { target, redactor }: Pick<RecordingJudgeOptions, 'target' | 'redactor'>,
  counts: Counts,
  bodies: Bodies,
): RecordedHttpResponse | undefined {
  const path = pathUnder(target.baseUrl, entry.url)
  if (path === undefined || !path.startsWith('/v1/')) return void counts.otherAddresses++
  if (entry.status > 0 && entry.body.state === 'missing') bodies.missing++
  else if (entry.status > 0 && entry.body.bytes.length > 0) bodies.kept++
  if (!methods.includes(entry.method)) return void counts.otherMethods++
  if (entry.status === 0) return void counts.unanswered++
  const place = operationAt(entry.method, path)
  if (place && target.absent[place.operation] !== undefined) return void counts.absent++
  if (!place) counts.unknown++
  return recordResponse(entry, path, place, redactor)
}

/** The observed requirements. An answer whose headers were not recorded does not tell how it was labelled. */
function createWatches(onFailure: OnFailure | undefined) {
  const labelled = createEnvelopeWatch()
  const bare = createEnvelopeWatch()
  return {
    observe(exchange: RecordedHttpResponse): void {
      const watch = exchange.entry.headers.length > 0 ? labelled : bare
      const before = observedRequirements.map((requirement) => watch.tally(requirement).failures.length)
      watch.observe(exchange)
      if (!onFailure) return
      for (const [at, requirement] of observedRequirements.entries()) {
        for (const { expected, actual } of watch.tally(requirement).failures.slice(before[at])) {
          if (requirement !== 'envelope/content-type' || watch === labelled)
            onFailure(requirement, exchange, expected, actual)
        }
      }
    },
    copyTo(tallies: RequirementTallies): void {
      for (const requirement of observedRequirements) {
        tallies.add(requirement, labelled.tally(requirement))
        if (requirement !== 'envelope/content-type') tallies.add(requirement, bare.tally(requirement))
      }
    },
  }
}

/** Bytes of bodies after which the event loop turns: what a weak reference was asked for lives until then. */
const maxKept = 16 * 1024 * 1024

export async function judgeRecording(har: Har, target: Target, redactor: Redactor) {
  const judge = createRecordingJudge({ target, redactor, again: (index) => har.entry(index) })
  const judged: number[] = []
  // Names alone, since there may be millions of entries.
  const operations: OperationId[] = []
  const requirements: RequirementId[] = []
  let kept = 0
  for (const index of har.inTime) {
    const entry = har.entry(index)
    const kind = judge.see(entry)
    kept += entry.body.bytes.length
    if (kept > maxKept) {
      await nextTurn()
      kept = 0
    }
    if (!kind) continue
    judged.push(index)
    operations.push(kind.operation)
    requirements.push(kind.requirement)
  }
  return {
    ...judge.end(),
    *exchanges(): Iterable<RecordedExchange> {
      for (const [n, index] of judged.entries()) {
        const kind = { operation: operations[n]!, requirement: requirements[n]! }
        yield recordedExchange(n, har.entry(index), kind, redactor)
      }
    },
  }
}

/** An entry as a line of an exchange log has it. @param kind undefined if it was not judged */
export function recordedExchange(
  n: number,
  entry: RecordedEntry,
  kind: Judged | undefined,
  redactor: Redactor,
): RecordedExchange {
  return {
    n,
    ...{ requirement: kind?.requirement ?? null, operation: kind?.operation ?? null, role: 'probe' },
    startedAt: new Date(entry.startedAt ?? performance.timeOrigin).toISOString(),
    durationMs: entry.durationMs,
    httpVersion: entry.httpVersion,
    ...recordEntry(entry, redactor),
  }
}
