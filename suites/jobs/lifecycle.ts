import { control, notGranted } from '../../harness/checks/control.ts'
import { sendThroughGate } from '../../harness/engine/check-context.ts'
import { declaredResource } from '../../harness/checks/valid-request.ts'
import { isEnded, type Job, jobRequest, jobsOf, type Reading } from './job-tracker.ts'
import { NotExercised, pause } from '../../harness/engine/outcome.ts'
import type { Run } from '../../harness/engine/run.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { describeResponse } from '../../harness/engine/describe.ts'

/** Readings of one job from its creation to its end. */
interface Lifecycle {
  readonly job: Job
  /** Readings within `settleMs`, until one was 200. */
  readonly first: readonly Reading[]
  /** False if it had not ended within `jobTimeoutMs`. */
  readonly ended: boolean
}

/** Pauses before the readings of a new job: at once, and until it has to be readable; as shares of `settleMs`. */
const pauseShares = [0, 1 / 20, 3 / 20, 3 / 10, 1 / 2] as const

/** The job that the control of `jobs.create` made. */
async function mainJob(run: Run): Promise<Job> {
  if (run.options.readOnly) throw new NotExercised(leftOut('--read-only'))
  const granted = await control(run, 'jobs.create')
  const { exchange, said } = granted
  if (granted.state !== 'granted') throw notGranted(granted, 'no job could be created')
  const job = jobsOf(run).all.find(({ creation }) => creation.response === exchange?.response)
  if (!job) throw new NotExercised(`the creation response names no id: ${said}`)
  return job
}

/** Follows the main job to its end, once a run. */
export function mainLifecycle(run: Run): Promise<Lifecycle> {
  return run.once('lifecycle', async () => follow(run, await mainJob(run)))
}

/** Creates a job of the failing application and follows it to its end, once a run. */
export function failingLifecycle(run: Run): Promise<Lifecycle> {
  return run.once('failing lifecycle', async () => {
    const name = 'failingApplication'
    const application = declaredResource(run, name)
    const source = () => jobRequest(run, application)
    const purpose = { requirement: 'jobs.retrieve/200-failed', role: 'setup' } as const
    const exchange = await sendThroughGate(run, source, purpose)
    const job = jobsOf(run).all.find(({ creation }) => creation.response === exchange.response)
    if (!job) throw new NotExercised(`no job of resources.${name} could be created: ${describeResponse(exchange)}`)
    return follow(run, job)
  })
}

/** Reads a new job until it can be read, once a run: right after its creation, and until `settleMs` have passed. */
function firstReadings(run: Run, job: Job): Promise<readonly Reading[]> {
  return run.once(`first readings ${job.id}`, async () => {
    const readings: Reading[] = []
    for (const share of pauseShares) {
      await pause(run, share * run.target.limits.settleMs)
      const reading = await jobsOf(run).read(job, 'jobs.create/202-retrievable')
      readings.push(reading)
      if (reading.exchange.response?.status === 200) break
    }
    return readings
  })
}

/** The id of the main job, once it can be read. */
export async function readableJob(run: Run): Promise<string> {
  const job = await mainJob(run)
  await firstReadings(run, job)
  return job.id
}

async function follow(run: Run, job: Job): Promise<Lifecycle> {
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  const first = await firstReadings(run, job)
  const ended = await jobsOf(run).awaitEnd(job, deadline)
  return { job, first, ended: ended || isEnded(job.readings.at(-1)) }
}
