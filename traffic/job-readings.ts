import { isDeepStrictEqual } from 'node:util'
import { member } from '../schemas/json.ts'
import { isGranted } from '../harness/engine/index.ts'
import type { SeenJob, SeenReading } from '../suites/jobs/seen-jobs.ts'
import { createdAtCases, identityCases, jobKey } from '../suites/jobs/seen-jobs.ts'
import type { RecordedHttpResponse } from './recorded-exchange.ts'

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
  for (const [requirement, rule] of rules)
    for (const { problem } of rule(jobs)) yield { requirement, fault: problem }
}

/**
 * Gathers recorded creations and retrievals of jobs, and judges them as those of a live run are: when all are known.
 * @param again reads the exchange of that index again: there may be more of them than memory holds
 */
export function createJobReadings(again: (index: number) => RecordedHttpResponse) {
  const jobs: RecordedJob[] = []
  const byId = new Map<string, RecordedJob>()
  /** An exchange without its answer, which is read again if somebody asks. */
  const trimmed = ({
    entry: { index },
    sentAt,
    endedAt,
  }: RecordedHttpResponse): RecordedHttpResponse =>
    new Proxy({ sentAt, endedAt, throttled: false } as RecordedHttpResponse, {
      get: (kept, name) => Reflect.get(name in kept ? kept : again(index), name) as unknown,
    })
  /** Faults of the jobs by themselves that this exchange shows. @param kept what is kept of it */
  const shown = (
    about: readonly SeenJob[],
    kept: SeenReading['exchange'],
    exchange: RecordedHttpResponse,
  ) =>
    [...casesOf(about)].flatMap(({ requirement, fault }) =>
      fault?.exchange === kept ? [{ requirement, fault: { ...fault, exchange } }] : [],
    )
  return {
    /** Gives what this exchange shows to be wrong with a job by itself. Entries are to come in the order of time. */
    see(exchange: RecordedHttpResponse) {
      const { operation, params } = exchange.probe
      if (operation !== 'jobs.create' && operation !== 'jobs.retrieve') return []
      const json = exchange.response.json()
      if (!json.ok || !isGranted(exchange.response)) return []
      const kept = trimmed(exchange)
      if (operation === 'jobs.create') {
        const id = member(json.value, 'id')
        if (typeof id !== 'string' || id.length > longestMember) return []
        const application = (params['application_id'] ?? '').slice(0, longestMember)
        const job = { id, application, creation: kept, readings: [] }
        jobs.push(job)
        const twin = byId.get(jobKey(id))
        if (twin) return shown([twin, job], kept, exchange)
        byId.set(jobKey(id), job)
        return []
      }
      const job = byId.get(jobKey(params['job_id'] ?? ''))
      const members = membersOf(json.value)
      if (!job || job.readings.some((reading) => isDeepStrictEqual(reading.job, members))) return []
      job.readings.push({ exchange: kept, job: members })
      return shown([job], kept, exchange)
    },
    cases: () => casesOf(jobs),
  }
}

/** Gives the parts of a retrieved job that are judged over time. */
function membersOf(read: unknown): Record<string, string> {
  const texts = ['id', 'application_id', 'created_at'].map(
    (name) => [name, member(read, name)] as const,
  )
  return Object.fromEntries(
    texts.flatMap(([name, text]) =>
      typeof text === 'string' ? [[name, text.slice(0, longestMember)]] : [],
    ),
  )
}
