import { member } from '../../schemas/json-object.ts'
import { preview } from '../../schemas/preview.ts'
import { isUuid } from '../../schemas/formats.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'

/** A job as it was seen: how it was created, and each reading of it. Of a live run, or of recorded traffic. */
export interface SeenJob {
  readonly id: string
  readonly application: string
  readonly creation: Exchange
  readonly readings: readonly SeenReading[]
}

export interface SeenReading {
  readonly exchange: Exchange
  /** The job object that was read; undefined if the answer was none. */
  readonly job: unknown
}

/** What is wrong with a job, with its evidence. */
interface JobProblem {
  readonly exchange: Exchange
  readonly expected: string
  readonly actual: string
  /** The exchange that the first one contradicts. */
  readonly against?: Exchange
}

/** One case; `problem` is undefined if it is as it should be. */
export type JobCase = { readonly job: SeenJob; readonly problem?: JobProblem }

/** The id as it is compared: uuids are the same in either letter case. */
export function jobKey(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id
}

export function sameId(one: string, other: string): boolean {
  return jobKey(one) === jobKey(other)
}

/** Whether what was read under the id of a job may be that job: one that names another id is none. */
export function isOwn({ job: read }: SeenReading, { id }: Pick<SeenJob, 'id'>): boolean {
  const own = member(read, 'id')
  return typeof own !== 'string' || sameId(own, id)
}

/** §2.3, §2.4: the members of a retrieved job are its own, and no two creations give one id. */
export function* identityCases(jobs: readonly SeenJob[]): Generator<JobCase> {
  const first = new Map<string, SeenJob>()
  for (const job of jobs) {
    const twin = first.get(jobKey(job.id))
    if (!twin) first.set(jobKey(job.id), job)
    else {
      const expected = 'an id that no other creation gave'
      yield { job, problem: { exchange: job.creation, expected, actual: `id ${job.id}`, against: twin.creation } }
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
      const problem = { exchange: reading.exchange, expected: `${name} ${value}`, actual: `${name} ${preview(read)}` }
      yield { job, problem: { ...problem, against: job.creation } }
    }
  }
}
