import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { grantedRequirement, type RequirementId } from '../catalogue/catalogue.ts'
import { createEnvelopeWatch, observedRequirements } from '../harness/checks/index.ts'
import type { Redactor } from '../harness/recording/index.ts'
import type { RecordedExchange } from '../harness/report/index.ts'
import type { Target } from '../harness/target-file/index.ts'
import { pathUnder, operationAt } from './base-url.ts'
import { createJobReadings } from './job-readings.ts'
import type { Har } from './read-har.ts'
import type { RecordedEntry } from './recorded-entry.ts'
import { type RecordedHttpResponse, recordEntry, recordResponse } from './recorded-exchange.ts'
import type { OnFailure, RequirementTallies } from './successes.ts'
import { createRequirementTallies, judgeSuccess } from './successes.ts'

/** What a recording was judged to be. */
export type Seen = ReturnType<ReturnType<typeof createRecordingJudge>['end']>

interface RecordingJudgeOptions {
  readonly target: Target
  readonly redactor: Redactor
  readonly again: (index: number) => RecordedEntry
  /** Called with the first failures of each requirement, as they are seen. */
  readonly onFailure?: OnFailure
}

const methods = ['GET', 'POST']

/** Judges recorded answers of the interface, one after the other in the order of time: of what it saw, the places stay. */
export function createRecordingJudge({ target, redactor, again, onFailure }: RecordingJudgeOptions) {
  /** How many entries were judged, and why the others were not. */
  const counts = {
    judged: 0,
    otherAddresses: 0,
    /** Requests with methods that the interface does not have (for example a browser's OPTIONS). */
    otherMethods: 0,
    unanswered: 0,
    /** To operations that the target file declares as not served or removed. */
    absent: 0,
    /** Under `/v1`, but no operation of the interface: judged by their label and their keys only. */
    unknown: 0,
  }
  /** Answers of the interface that the recording has with their bodies, and without. */
  const bodies = { kept: 0, missing: 0 }
  let isOver = false
  const tallies = createRequirementTallies((...failure) => {
    if (!isOver) onFailure?.(...failure)
  })
  const watch = createWatches(onFailure)
  const recorded = (entry: RecordedEntry) => recordResponse(entry, pathUnder(target.baseUrl, entry.url)!, redactor)
  const jobs = createJobReadings((index) => recorded(again(index)), onFailure)

  /** The answer of an entry that was sent to the interface and answered; what is not judged is counted. */
  const answerOfInterface = (entry: RecordedEntry): RecordedHttpResponse | undefined => {
    if (!pathUnder(target.baseUrl, entry.url)?.startsWith('/v1/')) return void counts.otherAddresses++
    if (entry.status > 0 && entry.body.state === 'missing') bodies.missing++
    else if (entry.status > 0 && entry.body.bytes.length > 0) bodies.kept++
    if (!methods.includes(entry.method)) return void counts.otherMethods++
    if (entry.status === 0) return void counts.unanswered++
    const exchange = recorded(entry)
    const { operation } = exchange.probe
    if (operation !== null && target.absent[operation] !== undefined) return void counts.absent++
    if (operation === null) counts.unknown++
    return exchange
  }

  return {
    /** Gives the requirement that judges it first, its success or every error's shape; undefined if it is no exchange of an operation. */
    see(entry: RecordedEntry): RequirementId | undefined {
      const exchange = answerOfInterface(entry)
      if (!exchange) return undefined
      watch.observe(exchange)
      const { operation } = exchange.probe
      if (operation === null) return undefined
      counts.judged++
      const granted = judgeSuccess(exchange, target, tallies) ?? grantedRequirement[operation]
      jobs.see(exchange)
      return exchange.response.status >= 400 ? 'envelope/shape' : granted
    },
    end() {
      // Findings on jobs and on every response were reported already.
      isOver = true
      jobs.judge(tallies)
      watch.copyTo(tallies)
      return { counts, bodies, tally: tallies.tally }
    },
  }
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
  // Two lists, since there may be millions of entries.
  const judged: number[] = []
  const requirements: RequirementId[] = []
  let kept = 0
  for (const index of har.inTime) {
    const entry = har.entry(index)
    const requirement = judge.see(entry)
    kept += entry.body.bytes.length
    if (kept > maxKept) {
      await nextTurn()
      kept = 0
    }
    if (!requirement) continue
    judged.push(index)
    requirements.push(requirement)
  }
  return {
    ...judge.end(),
    *exchanges(): Iterable<RecordedExchange> {
      for (const [n, index] of judged.entries())
        yield recordedExchange(n, har.entry(index), requirements[n], { target, redactor })
    },
  }
}

/** An entry as a line of an exchange log has it. @param requirement undefined if it was not judged */
export function recordedExchange(
  n: number,
  entry: RecordedEntry,
  requirement: RequirementId | undefined,
  { target, redactor }: Pick<RecordingJudgeOptions, 'target' | 'redactor'>,
): RecordedExchange {
  const place = requirement && operationAt(entry.method, pathUnder(target.baseUrl, entry.url)!)
  return {
    n,
    ...{ requirement: requirement ?? null, operation: place?.operation ?? null, role: 'probe' },
    startedAt: new Date(entry.startedAt ?? performance.timeOrigin).toISOString(),
    durationMs: entry.durationMs,
    httpVersion: entry.httpVersion,
    ...recordEntry(entry, redactor),
  }
}
