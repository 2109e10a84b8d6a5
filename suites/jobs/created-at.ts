import { member } from '../../schemas/json-object.ts'
import { type Instant, parseDateTime } from '../../schemas/formats.ts'
import { preview } from '../../schemas/preview.ts'
import { jsonValue } from '../../harness/engine/response.ts'
import type { JobCase, SeenJob, SeenReading } from './seen-jobs.ts'

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

/** Of the jobs that were created long enough before, the one with the latest time: if that is no problem, none is. */
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
      if (latest === undefined || one.first.instant.epochMs > latest.first.instant.epochMs) latest = one
    }
    if (latest && after.instant.epochMs <= latest.first.instant.epochMs) {
      const { job, first: before } = latest
      const text = told(member(before.reading.job, 'created_at'))
      const expected = `a created_at after that of job ${job.id} (${text}), which was created ${apartMs / 1000} s or more before`
      const { exchange } = after.reading
      const actual = told(member(after.reading.job, 'created_at'))
      yield { job: later, problem: { exchange, expected, actual, against: before.reading.exchange } }
    }
  }
}

/** True if the jobs were given different times: a clock that stands still would not show otherwise. */
export function timesDiffer(jobs: readonly SeenJob[]): boolean {
  return new Set(jobs.flatMap((job) => datedReadings(job).map(({ instant }) => instant.epochMs))).size > 1
}
