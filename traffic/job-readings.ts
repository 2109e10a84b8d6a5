import { isDeepStrictEqual } from 'node:util'
import { member } from '../schemas/json.ts'
import { isGranted } from '../harness/engine/index.ts'
import type { SeenJob, SeenReading } from '../suites/jobs/seen-jobs.ts'
import { createdAtCases, identityCases, jobKey } from '../suites/jobs/seen-jobs.ts'
import type { RecordedHttpResponse } from './recorded-exchange.ts'
import type { OnFailure, RequirementTallies } from './successes.ts'

/** A job whose creation is recorded, with those retrievals of it that show something new. */
interface RecordedJob extends SeenJob {
  readonly readings: SeenReading[]
}

/** Longest text of a member that is kept; what a job may say there is shorter. */
const longestMember = 200

const rules = [
  ['jobs.retrieve/200-identity', identityCases],
  ['jobs.retrieve/200-created-at', createdAtCases],
] as const

function* casesOf(jobs: readonly SeenJob[]) {
  for (const [requirement, rule] of rules) for (const { problem } of rule(jobs)) yield { requirement, problem }
}

/**
 * Gathers recorded creations and retrievals of jobs, and judges them as those of a live run are: when all are known.
 * @param again reads the exchange of that index again: there may be more of them than memory holds
 * @param onFailure called with what is wrong with a job by itself, as soon as it shows
 */
export function createJobReadings(again: (index: number) => RecordedHttpResponse, onFailure?: OnFailure) {
  const jobs: RecordedJob[] = []
  const byId = new Map<string, RecordedJob>()
  /** An exchange without its answer, which is read again if somebody asks. */
  const trimmed = ({ entry: { index }, sentAt, endedAt }: RecordedHttpResponse): RecordedHttpResponse =>
    new Proxy({ sentAt, endedAt, throttled: false } as RecordedHttpResponse, {
      get: (kept, name) => Reflect.get(name in kept ? kept : again(index), name) as unknown,
    })
  /** Finds faults of the jobs by themselves, if it is this exchange that shows them. */
  const tell = (about: readonly SeenJob[], shown: SeenReading['exchange'], exchange: RecordedHttpResponse): void => {
    if (!onFailure) return
    for (const { requirement, problem } of casesOf(about))
      if (problem?.exchange === shown) onFailure(requirement, exchange, problem.expected, problem.actual)
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
        const job = { id, application, creation: trimmed(exchange), readings: [] }
        jobs.push(job)
        const twin = byId.get(jobKey(id))
        if (twin) tell([twin, job], job.creation, exchange)
        else byId.set(jobKey(id), job)
        return
      }
      const job = byId.get(jobKey(params['job_id'] ?? ''))
      const members = membersOf(json.value, job)
      if (!job || job.readings.some((reading) => isDeepStrictEqual(reading.job, members))) return
      const reading = { exchange: trimmed(exchange), job: members }
      job.readings.push(reading)
      tell([job], reading.exchange, exchange)
    },
    judge(tallies: RequirementTallies): void {
      for (const { requirement, problem } of casesOf(jobs)) {
        if (problem) tallies.fail(requirement, problem.exchange, problem.expected, problem.actual)
        else tallies.pass(requirement)
      }
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
