import {
  derived,
  type Evidence,
  type History,
  type HistoryEvent,
  type Rule,
} from '../../harness/history/index.ts'
import { type Instant, parseDateTime } from '../../schemas/formats.ts'
import { member } from '../../schemas/json.ts'
import { isReading, type Job, jobOf, ownJobs, statusOf } from './jobs.ts'
import { contradiction, isRead, shownBy, told, verdictOf } from './reading-rules.ts'
import { readIds } from './stable-rule.ts'

/** Two readings of one clock may be this far apart, in ms: a server may take the time twice. */
const clockMs = 1000
/** From the answer to one creation to the request of another, in ms: then the later job has the later time. */
export const apartMs = 2000

/** Zeros at the end of the fraction are no precision: a server that keeps whole seconds may still write `.000`. */
function withoutIdleZeros(text: string): string {
  const [, whole = text, fraction = '', zone = ''] = /^([^.]*)\.(\d+)(.*)$/s.exec(text) ?? []
  let kept = fraction.length
  while (fraction[kept - 1] === '0') kept--
  return whole + (kept > 0 ? `.${fraction.slice(0, kept)}` : '') + zone
}

/** An instant and the size of one unit of its last digit that counts, in ms; undefined if the text is no date-time. */
function instantAt(name: string, { body }: HistoryEvent): Instant | undefined {
  const value = member(body, name)
  return typeof value === 'string' ? parseDateTime(withoutIdleZeros(value)) : undefined
}

/** A reading with a `created_at` that can be compared. A text that is not a date-time is a fault of shape, reported there. */
interface Dated {
  readonly job: Job
  readonly reading: HistoryEvent
  readonly instant: Instant
}

const datedReadings = derived((history) => {
  const known = new Map<Job, Dated[]>()
  for (const job of ownJobs(history)) {
    const dated = job.readings.flatMap((reading) => {
      const instant = reading.isGranted ? instantAt('created_at', reading) : undefined
      return instant ? [{ job, reading, instant }] : []
    })
    known.set(job, dated)
  }
  return known
})

/** Readings that tell another time than the creation, or than the first reading. */
function wrongTimes(job: Job, dated: readonly Dated[]): Evidence[] {
  const created = instantAt('created_at', job.creation)
  const [first] = dated
  return dated.flatMap(({ reading, instant }): Evidence[] => {
    const actual = told('created_at', reading)
    const tolerance = Math.max(clockMs, created?.unitMs ?? 0, instant.unitMs)
    if (created && Math.abs(instant.epochMs - created.epochMs) > tolerance) {
      const expected = `${told('created_at', job.creation)}, as in the response to its creation`
      return [contradiction(job, reading, { expected, actual, against: job.creation })]
    }
    if (!first || instant.epochMs === first.instant.epochMs) return []
    const expected = `${told('created_at', first.reading)}, as when it was read before`
    return [contradiction(job, reading, { expected, actual, against: first.reading })]
  })
}

/** Compares with the job of the latest time among those that were created long enough before: if that is no fault, none is. */
function wrongOrder(dated: readonly Dated[]): Evidence[] {
  const byEnd = [...dated].sort((a, b) => a.job.creation.endedAt - b.job.creation.endedAt)
  const bySending = [...dated].sort((a, b) => a.job.creation.sentAt - b.job.creation.sentAt)
  let latest: Dated | undefined
  let seen = 0
  return bySending.flatMap(({ job, reading, instant }) => {
    for (; seen < byEnd.length; seen++) {
      const one = byEnd[seen]!
      if (!(job.creation.sentAt - one.job.creation.endedAt >= apartMs)) break
      if (!latest || one.instant.epochMs > latest.instant.epochMs) latest = one
    }
    if (!latest || instant.epochMs > latest.instant.epochMs) return []
    const before = latest.reading
    const expected = `a created_at after that of job ${latest.job.id} (${told('created_at', before)}), which was created ${apartMs / 1000} s or more before`
    return [
      contradiction(job, reading, {
        expected,
        actual: told('created_at', reading),
        against: before,
      }),
    ]
  })
}

/**
 * §2.3, §2.4: `created_at` is that of the creation response, to 1 s or one unit of the coarser precision; it reads the
 * same ever after; and of jobs that were created 2 s or more apart the later one has the later time.
 */
export const createdAtRule: Rule = (history) => {
  const dated = [...datedReadings(history)]
  const wrong = dated.flatMap(([job, readings]) => wrongTimes(job, readings))
  const order = wrongOrder(dated.flatMap(([, readings]) => readings.slice(0, 1)))
  const cases = dated.reduce((sum, [, readings]) => sum + readings.length, 0)
  const why = 'no reading of a job had a created_at that can be compared'
  return verdictOf([...wrong, ...order].slice(0, 1), cases, why)
}

/** True if jobs were given different times: a clock that stands still would not show otherwise. */
export function timesDiffer(history: History): boolean {
  const instants = [...datedReadings(history).values()].flat().map(({ instant }) => instant.epochMs)
  return new Set(instants).size > 1
}

/** A job that the history made is no older than that by the target's own clock, in ms. */
const longAgoMs = 30 * 24 * 3600 * 1000

/** What a reading says of a job that its status, or the time, contradicts (§2.3). */
function inconsistency(
  reading: HistoryEvent,
  isMade: boolean,
): Pick<Evidence, 'expected' | 'actual'> | undefined {
  const { body, exchange } = reading
  const isThere = (name: string): boolean => (member(body, name) ?? null) !== null
  const early = ['completed_at', 'data', 'error'].find(isThere)
  if (statusOf(reading) === 'in_progress' && early !== undefined) {
    const expected = `no ${early} while the status is in_progress: ${early === 'completed_at' ? 'that is when a job was completed' : early === 'data' ? 'that is the result of a completed job' : 'that says why a job failed'}`
    return { expected, actual: told(early, reading) }
  }
  const [created, completed] = [
    instantAt('created_at', reading),
    instantAt('completed_at', reading),
  ]
  if (created && completed && completed.epochMs < created.epochMs - clockMs) {
    const expected = `a completed_at that is not before ${told('created_at', reading)}`
    return { expected, actual: told('completed_at', reading) }
  }
  const date = Date.parse(exchange.response?.header('date') ?? '')
  const now = Number.isNaN(date) ? performance.timeOrigin + reading.endedAt : date
  if (!isMade || !created || !(Math.abs(created.epochMs - now) > longAgoMs)) return undefined
  const expected = `a created_at within 30 days of ${new Date(now).toISOString()}, as the job was created just now`
  return { expected, actual: told('created_at', reading) }
}

/** §2.3: what a job says of itself fits its status, and the time. */
export const consistent: Rule = (history) => {
  let cases = 0
  const evidence = readIds(history).flatMap((id): Evidence[] => {
    const job = jobOf(history, id)
    const readings = history.of(id).filter((one) => isReading(one) && isRead(one))
    cases += readings.length
    return readings.flatMap((reading) => {
      const found = inconsistency(reading, job !== undefined)
      const what = job ? `for job ${job.id}` : ''
      return found
        ? [{ exchange: reading.exchange, what, ...found, shownBy: job && shownBy(job) }]
        : []
    })
  })
  return verdictOf(evidence.slice(0, 1), cases, 'no job was read')
}
