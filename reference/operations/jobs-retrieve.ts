import { randomUUID } from 'node:crypto'
import { type Answer, mispaired } from '../world/answer.ts'
import type { Call } from '../world/call.ts'
import { jobView } from '../world/job-view.ts'
import { endJobs, noteReading } from '../world/jobs.ts'
import { likenessOf } from '../world/created.ts'
import type { Operation } from '../world/operation.ts'
import { countUp, type Job, ownAccount, plainJob } from '../world/world.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** ms during which a new job cannot be retrieved under `jobs.create/202-retrievable#late`. */
const lateMs = 30_000

/** Time until a job can be read under `jobs/readable-late`, in ms, if nothing else is asked for. */
const settlingMs = 400

/** Answers that a job is not there although it is. */
function lose(call: Call, job: Job): void {
  const { clock, pace, store } = call.world
  const newest = store.applications.get(job.applicationId)?.job
  const isOld = newest !== undefined && newest !== job && job.status !== 'in_progress'
  const age = clock.now() - job.createdAt
  call.rejectIf('jobs.create/202-retrievable', true, '404-ResourceNotFound')
  call.rejectIf('jobs.create/202-retrievable#late', age < lateMs, '404-ResourceNotFound')
  call.rejectIf('200-identity#newest-only', isOld, '404-ResourceNotFound')
  if (call.varied('jobs/readable-late') && age < (pace.settle ?? settlingMs)) call.reject('404-ResourceNotFound')
}

/** The id as it was asked for; a uuid means the same in either letter case. */
function jobId(call: Call): string {
  const id = call.param('job_id').toLowerCase()
  // That defect gives ids of another form, under which the jobs are found all the same.
  return call.broken('jobs.create/202-created#id') ? id.replace('job-', '') : id
}

function find(call: Call): Job {
  endJobs(call.world)
  const id = jobId(call)
  const { jobs } = call.world.store
  if (!uuid.test(id)) call.refuse('4xx-malformed-id', '400-BadRequest', likenessOf(call, id, jobs.keys()))
  const job = jobs.get(id)
  if (job) {
    lose(call, job)
    return job
  }
  if (call.broken('envelope/status-tpe-pair')) mispaired('404-InvalidInputParameters')
  if (call.broken('envelope/status-tpe-pair#unknown-name')) mispaired('404-NoSuchJob')
  return call.refuse('4xx-unknown-job', '404-ResourceNotFound', likenessOf(call, id, jobs.keys()))
}

/** A completed job of that very id. */
function grant(call: Call): Answer {
  const createdAt = call.world.clock.now()
  const id = uuid.test(call.param('job_id').toLowerCase()) ? call.param('job_id') : randomUUID()
  const job = plainJob({ id, account: ownAccount, applicationId: randomUUID(), createdAt, status: 'completed' })
  return { status: 200, body: jobView(call.world, job) }
}

/** §4.3 */
export const jobsRetrieve: Operation<Job> = {
  id: 'jobs.retrieve',
  method: 'GET',
  paths: ['/v1/applications/jobs/:job_id'],
  requirement: () => '200-job',
  find,
  foreign: '4xx-foreign-job',
  run: (call, job) => {
    const isSecond = countUp(call.world, `readings of ${job.id}`) === 2 && job.status === 'in_progress'
    call.breakIf('200-job#second-5xx', isSecond)
    if (job.status !== 'in_progress') job.readings += 1
    const body = jobView(call.world, job)
    noteReading(call.world, job)
    return { status: 200, body }
  },
  grant,
}
