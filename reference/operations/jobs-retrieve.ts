import { randomUUID } from 'node:crypto'
import { type Answer, mispaired } from '../world/answer.ts'
import type { Call } from '../world/call.ts'
import { endJobs, noteReading } from '../world/jobs.ts'
import { likenessOf } from '../world/created.ts'
import { jobView } from '../world/job-view.ts'
import type { Operation } from '../world/operation.ts'
import { ownAccount, type Job, countUp, plainJob } from '../world/world.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** ms during which a new job cannot be retrieved under `jobs.create/202-retrievable#late`. */
const lateMs = 30_000

/** Time until a job can be read under `jobs/readable-late`, in ms, if nothing else is asked for. */
const settlingMs = 400

function isLost(call: Call, job: Job): boolean {
  const { broken, varied } = call.world.switches
  if (broken('jobs.create/202-retrievable')) return true
  const newest = call.world.store.applications.get(job.applicationId)?.job
  if (broken('jobs.retrieve/200-identity#newest-only') && newest && newest !== job && job.status !== 'in_progress')
    return true
  const age = call.world.clock.now() - job.createdAt
  if (varied('jobs/readable-late') && age < (call.world.pace.settle ?? settlingMs)) return true
  return broken('jobs.create/202-retrievable#late') && age < lateMs
}

/** The id as it was asked for; a uuid means the same in either letter case. */
function jobId(call: Call): string {
  const id = call.param('job_id').toLowerCase()
  // That defect gives ids of another form, under which the jobs are found all the same.
  return call.world.switches.broken('jobs.create/202-created#id') ? id.replace('job-', '') : id
}

function find(call: Call): Job {
  endJobs(call.world)
  const id = jobId(call)
  if (!uuid.test(id))
    call.refuse('4xx-malformed-id', 400, 'BadRequest', { kind: likenessOf(call, id, call.world.store.jobs.keys()) })
  const job = call.world.store.jobs.get(id)
  if (job && isLost(call, job)) call.reject(404, 'ResourceNotFound')
  const { broken } = call.world.switches
  if (!job && broken('envelope/status-tpe-pair')) mispaired(404, 'InvalidInputParameters')
  if (!job && broken('envelope/status-tpe-pair#unknown-name')) mispaired(404, 'NoSuchJob')
  if (job) return job
  const kind = likenessOf(call, id, call.world.store.jobs.keys())
  return call.refuse('4xx-unknown-job', 404, 'ResourceNotFound', { kind })
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
  access: (call, job) => {
    if (job.account !== call.key?.account) call.refuse('4xx-foreign-job', 403, 'InsufficientAccessRights')
  },
  run: (call, job) => {
    const isSecond = countUp(call.world, `readings of ${job.id}`) === 2 && job.status === 'in_progress'
    if (call.broken('200-job#second-5xx') && isSecond) throw new Error('the second reading breaks')
    if (job.status !== 'in_progress') job.readings += 1
    const body = jobView(call.world, job)
    noteReading(call.world, job)
    return { status: 200, body }
  },
  grant,
}
