import { isDeepStrictEqual } from 'node:util'
import { member } from '../schemas/json.ts'
import { isGranted } from '../harness/engine/index.ts'
import type { JobCase, SeenJob, SeenReading } from '../suites/jobs/seen-jobs.ts'
import { createdAtCases, identityCases, jobKey } from '../suites/jobs/seen-jobs.ts'
import type { RecordedHttpResponse } from './recorded-exchange.ts'
import type { OnFailure, RequirementTallies } from './successes.ts'

/** A job whose creation is recorded, with those retrievals of it that show something new. */
interface RecordedJob extends SeenJob {
  readonly readings: SeenReading[]
}

/** Longest text of a member that is kept; what a job may say there is shorter. */
const longestMember = 200

/**
 * Gathers recorded creations and retrievals of jobs, and judges them as those of a live run are: when all are known.
 * @param again reads the exchange of that index again: there may be more of them than memory holds
 * @param onFailure called with what is wrong with a job by itself, as soon as it shows
 */
export function createJobReadings(again: (index: number) => RecordedHttpResponse, onFailure?: OnFailure) {
  const jobs: RecordedJob[] = []
  const byId = new Map<string, RecordedJob>()
  /** Finds faults of the jobs by themselves, if it is this exchange that shows them. */
  const tell = (about: readonly SeenJob[], shown: SeenReading['exchange'], exchange: RecordedHttpResponse): void => {
    if (!onFailure) return
    const problems = {
      'jobs.retrieve/200-identity': identityCases(about),
      'jobs.retrieve/200-created-at': createdAtCases(about),
    } as const
    for (const [requirement, cases] of Object.entries(problems) as [keyof typeof problems, Iterable<JobCase>][]) {
      for (const { problem } of cases) {
        if (problem?.exchange === shown) onFailure(requirement, exchange, problem.expected, problem.actual)
      }
    }
  }
  return {
    /** Entries are to come in the order of time. */
    see(exchange: RecordedHttpResponse): void {
      const { operation, params } = exchange.probe
      if (operation !== 'jobs.create' && operation !== 'jobs.retrieve') return
      const json = exchange.response.json()
      if (!json.ok || !isGranted(exchange.response)) return
      if (operation === 'jobs.create') {
        const id = member(json.value, 'id')
        if (typeof id !== 'string' || id.length > longestMember) return
        const application = (params['application_id'] ?? '').slice(0, longestMember)
        const job = { id, application, creation: new TrimmedResponse(exchange, again), readings: [] }
        jobs.push(job)
        const twin = byId.get(jobKey(id))
        if (twin) tell([twin, job], job.creation, exchange)
        else byId.set(jobKey(id), job)
        return
      }
      const job = byId.get(jobKey(params['job_id'] ?? ''))
      const members = membersOf(json.value, job)
      if (!job || job.readings.some((reading) => isDeepStrictEqual(reading.job, members))) return
      const reading = { exchange: new TrimmedResponse(exchange, again), job: members }
      job.readings.push(reading)
      tell([job], reading.exchange, exchange)
    },
    judge(tallies: RequirementTallies): void {
      judgeCases(tallies, 'jobs.retrieve/200-identity', identityCases(jobs))
      judgeCases(tallies, 'jobs.retrieve/200-created-at', createdAtCases(jobs))
    },
  }
}

/** Gives the parts of a retrieved job that are judged over time; a text that the job has already is not held twice. */
function membersOf(read: unknown, job: RecordedJob | undefined): Record<string, string> {
  const known = [job?.id, job?.application]
  const members: Record<string, string> = {}
  for (const name of ['id', 'application_id', 'created_at']) {
    const value = member(read, name)
    if (typeof value === 'string') members[name] = known.find((text) => text === value) ?? value.slice(0, longestMember)
  }
  return members
}

/** An exchange without its answer, which is read again if somebody asks. */
class TrimmedResponse implements RecordedHttpResponse {
  readonly sentAt: number
  readonly endedAt: number
  readonly throttled = false
  readonly #index: number
  readonly #again: (index: number) => RecordedHttpResponse

  constructor({ entry, sentAt, endedAt }: RecordedHttpResponse, again: (index: number) => RecordedHttpResponse) {
    this.sentAt = sentAt
    this.endedAt = endedAt
    this.#index = entry.index
    this.#again = again
  }

  get entry() {
    return this.#again(this.#index).entry
  }
  get probe() {
    return this.#again(this.#index).probe
  }
  get purpose() {
    return this.#again(this.#index).purpose
  }
  get response() {
    return this.#again(this.#index).response
  }
  get recorded() {
    return this.#again(this.#index).recorded
  }
}

function judgeCases(
  tallies: RequirementTallies,
  requirement: 'jobs.retrieve/200-identity' | 'jobs.retrieve/200-created-at',
  cases: Iterable<JobCase>,
): void {
  for (const { problem } of cases) {
    if (problem) tallies.fail(requirement, problem.exchange, problem.expected, problem.actual)
    else tallies.pass(requirement)
  }
}
