import { member } from '../schemas/json-object.ts'
import { isGranted } from '../harness/engine/answer.ts'
import { createdAtCases } from '../suites/jobs/created-at.ts'
import { identityCases, type JobCase, sameId, type SeenJob, type SeenReading } from '../suites/jobs/seen-jobs.ts'
import type { RecordedAnswer } from './recorded-exchange.ts'
import type { RowTallies } from './row-tallies.ts'

/** A job whose creation is recorded, with the retrievals of it. */
interface RecordedJob extends SeenJob {
  readonly readings: SeenReading[]
}

/** Gathers recorded creations and retrievals of jobs, and judges them as those of a live run are: when all are known. */
export interface JobReadings {
  /** Entries are to come in the order of time. */
  see(exchange: RecordedAnswer): void
  judge(tallies: RowTallies): void
}

export function createJobReadings(): JobReadings {
  const jobs: RecordedJob[] = []
  return {
    see(exchange) {
      const { operation, params } = exchange.probe
      const json = exchange.answer.json()
      if (!json.ok || !isGranted(exchange.answer)) return
      if (operation === 'jobs.create') {
        const id = member(json.value, 'id')
        const application = params['application_id'] ?? ''
        if (typeof id === 'string') jobs.push({ id, application, creation: exchange, readings: [] })
      }
      if (operation !== 'jobs.retrieve') return
      const job = jobs.find(({ id }) => sameId(params['job_id'] ?? '', id))
      job?.readings.push({ exchange, job: json.value })
    },
    judge(tallies) {
      judgeCases(tallies, 'jobs.retrieve/200-identity', identityCases(jobs))
      judgeCases(tallies, 'jobs.retrieve/200-created-at', createdAtCases(jobs))
    },
  }
}

function judgeCases(
  tallies: RowTallies,
  row: 'jobs.retrieve/200-identity' | 'jobs.retrieve/200-created-at',
  cases: Iterable<JobCase>,
): void {
  for (const { problem } of cases) {
    if (problem) tallies.fail(row, problem.exchange, problem.expected, problem.actual)
    else tallies.pass(row)
  }
}
