import { member, preview } from '../../schemas/json.ts'
import { type Instant, parseDateTime } from '../../schemas/formats.ts'
import { type Exchange, jsonValue, NotExercised } from '../../harness/engine/index.ts'
import {
  type History,
  type HistoryEvent,
  idKey,
  readsTheSame as readAlike,
  sameId,
} from '../../harness/history/index.ts'

/** A job as it was seen: how it was created, and each reading of it. Of a live run, or of recorded traffic. */
export interface SeenJob {
  readonly id: string
  readonly application: string
  readonly creation: Exchange
  readonly readings: readonly SeenReading[]
}

export interface SeenReading {
  readonly exchange: Exchange
  /** The job object; undefined if the answer was not 200 with a JSON body. */
  readonly job: unknown
}

/** A fault of a job, with its evidence. */
interface JobProblem {
  readonly exchange: Exchange
  readonly expected: string
  readonly actual: string
  /** The exchange that the first one contradicts. */
  readonly against?: Exchange
}

/** One case; `problem` is undefined if it is as it should be. */
export type JobCase = { readonly job: SeenJob; readonly problem?: JobProblem }

/** Throws `NotExercised` if the values are nested too deep to be compared. */
export function readsTheSame(before: unknown, after: unknown): boolean {
  try {
    return readAlike(before, after)
  } catch {
    throw new NotExercised('the job is nested too deep to be compared')
  }
}

/** The jobs of a history, in the order in which their creations were answered. @param of only those of that id */
export function seenJobs(history: History, of?: string): SeenJob[] {
  const events = of === undefined ? history.events : history.of(of)
  const seen = new Set<string>()
  return events.flatMap((event) => {
    const { kind, operation, object, within, exchange } = event
    if (operation !== 'jobs.create' || kind !== 'creation' || object === undefined) return []
    // What is read under an id is read of the first job that was given it.
    const isTwin = seen.has(idKey(object))
    seen.add(idKey(object))
    const about = history.of(object)
    const later = isTwin ? [] : about.slice(about.indexOf(event))
    const readings = later.filter(isReading).map(readingOf)
    return [{ id: object, application: within ?? '', creation: exchange, readings }]
  })
}

const isReading = ({ kind, isGranted, body }: HistoryEvent): boolean =>
  kind === 'reading' && isGranted && body !== undefined

const readingOf = ({ exchange, body }: HistoryEvent): SeenReading => ({ exchange, job: body })

/** Whether what was read under the id of a job may be that job: one that names another id is none. */
export function isOwn({ job: read }: SeenReading, { id }: Pick<SeenJob, 'id'>): boolean {
  const own = member(read, 'id')
  return typeof own !== 'string' || sameId(own, id)
}

/** §2.3, §2.4: the members of a retrieved job are its own, and no two creations give one id. */
export function* identityCases(jobs: readonly SeenJob[]): Generator<JobCase> {
  const first = new Map<string, SeenJob>()
  for (const job of jobs) {
    const twin = first.get(idKey(job.id))
    if (!twin) first.set(idKey(job.id), job)
    else {
      const expected = 'an id that no other creation gave'
      yield {
        job,
        problem: {
          exchange: job.creation,
          expected,
          actual: `id ${job.id}`,
          against: twin.creation,
        },
      }
      continue
    }
    for (const reading of job.readings) yield* membersOf(job, reading)
  }
}

function* membersOf(job: SeenJob, reading: SeenReading): Generator<JobCase> {
  const own = { id: job.id, application_id: job.application }
  for (const [name, value] of Object.entries(own)) {
    const read = member(reading.job, name)
    // An absent or ill-typed member is a fault of the shape of the job, and reported there.
    if (typeof read !== 'string') continue
    if (sameId(read, value)) yield { job }
    else {
      const problem = {
        exchange: reading.exchange,
        expected: `${name} ${value}`,
        actual: `${name} ${preview(read)}`,
      }
      yield { job, problem: { ...problem, against: job.creation } }
    }
  }
}

/** Two readings of one clock may be this far apart, in ms: a server may take the time twice. */
const clockMs = 1000
/** From the answer to one creation to the request of another, in ms: then the later job has the later time. */
export const apartMs = 2000

/** Zeros at the end of the fraction are no precision: a server that keeps whole seconds may still write `.000`. */
function withoutIdleZeros(text: string): string {
  const [, seconds = text, fraction = '', zone = ''] = /^([^.]*)\.(\d+)(.*)$/s.exec(text) ?? []
  let kept = fraction.length
  while (fraction[kept - 1] === '0') kept--
  return seconds + (kept > 0 ? `.${fraction.slice(0, kept)}` : '') + zone
}

/** An instant and the size of one unit of its last digit that counts, in ms; undefined if the text is no date-time. */
function instantOf(value: unknown): Instant | undefined {
  return typeof value === 'string' ? parseDateTime(withoutIdleZeros(value)) : undefined
}

/** A reading with a `created_at` that can be compared. A text that is not a date-time is a fault of shape, reported there. */
interface Dated {
  readonly reading: SeenReading
  readonly instant: Instant
}

function datedReadings({ readings }: SeenJob): Dated[] {
  return readings.flatMap((reading) => {
    const instant = instantOf(member(reading.job, 'created_at'))
    return instant ? [{ reading, instant }] : []
  })
}

const told = (value: unknown): string => `created_at ${preview(value)}`

/**
 * §2.3, §2.4: `created_at` is that of the creation response, to 1 s or one unit of the coarser precision; it reads the
 * same ever after; and of jobs that were created 2 s or more apart the later one has the later time.
 */
export function* createdAtCases(jobs: readonly SeenJob[]): Generator<JobCase> {
  for (const job of jobs) {
    const written = member(jsonValue(job.creation.response), 'created_at')
    const created = instantOf(written)
    const dated = datedReadings(job)
    for (const { reading, instant } of dated) {
      const { exchange } = reading
      const actual = told(member(reading.job, 'created_at'))
      const tolerance = Math.max(clockMs, created?.unitMs ?? 0, instant.unitMs)
      const [first] = dated
      if (created && Math.abs(instant.epochMs - created.epochMs) > tolerance) {
        const expected = `${told(written)}, as in the response to its creation`
        yield { job, problem: { exchange, expected, actual, against: job.creation } }
      } else if (first && instant.epochMs !== first.instant.epochMs) {
        const expected = `${told(member(first.reading.job, 'created_at'))}, as when it was read before`
        yield { job, problem: { exchange, expected, actual, against: first.reading.exchange } }
      } else yield { job }
    }
  }
  yield* orderCases(jobs)
}

/** A job, and the first reading that dates it. */
interface DatedJob {
  readonly job: SeenJob
  readonly first: Dated
}

/** Compares with the job of the latest time among those that were created long enough before: if that is no problem, none is. */
function* orderCases(jobs: readonly SeenJob[]): Generator<JobCase> {
  const dated = jobs.flatMap((job): DatedJob[] =>
    datedReadings(job)
      .slice(0, 1)
      .map((first) => ({ job, first })),
  )
  const byEnd = [...dated].sort((a, b) => a.job.creation.endedAt - b.job.creation.endedAt)
  const bySending = [...dated].sort((a, b) => a.job.creation.sentAt - b.job.creation.sentAt)
  let latest: DatedJob | undefined
  let seen = 0
  for (const { job: later, first: after } of bySending) {
    for (; seen < byEnd.length; seen++) {
      const one = byEnd[seen]!
      if (later.creation.sentAt - one.job.creation.endedAt < apartMs) break
      if (latest === undefined || one.first.instant.epochMs > latest.first.instant.epochMs)
        latest = one
    }
    if (latest && after.instant.epochMs <= latest.first.instant.epochMs) {
      const { job, first: before } = latest
      const text = told(member(before.reading.job, 'created_at'))
      const expected = `a created_at after that of job ${job.id} (${text}), which was created ${apartMs / 1000} s or more before`
      const { exchange } = after.reading
      const actual = told(member(after.reading.job, 'created_at'))
      yield {
        job: later,
        problem: { exchange, expected, actual, against: before.reading.exchange },
      }
    }
  }
}

/** True if the jobs were given different times: a clock that stands still would not show otherwise. */
export function timesDiffer(jobs: readonly SeenJob[]): boolean {
  return (
    new Set(jobs.flatMap((job) => datedReadings(job).map(({ instant }) => instant.epochMs))).size >
    1
  )
}
