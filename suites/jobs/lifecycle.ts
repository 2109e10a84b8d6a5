import { control } from '../../harness/checks/control.ts'
import { askThroughGate } from '../../harness/engine/story.ts'
import { jobRequest } from './request.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Run } from '../../harness/engine/run.ts'
import type { ApplicationResource } from '../../harness/target/model.ts'
import { describeAnswer } from '../../harness/engine/describe.ts'
import { isEnded, settleMs } from './job-tracker.ts'
import type { Job, Reading } from './model.ts'
import { pause } from '../../harness/engine/pause.ts'
import { jobsOf } from './job-tracker.ts'

/** What was seen of one job from its creation to its end. */
export interface Lifecycle {
  readonly job: Job
  /** Looks within the first second, until one was 200. */
  readonly first: readonly Reading[]
  /** False where it had not ended within `jobTimeoutMs`. */
  readonly ended: boolean
}

/** Pauses before the looks at a new job, in ms: at once, and until it has to be readable. */
const pauses = [0, settleMs / 4, (3 * settleMs) / 4] as const

/** The job that the control of `jobs.create` made. */
export async function mainJob(run: Run): Promise<Job> {
  if (run.options.readOnly) throw new NotExercised('left out: --read-only')
  const { exchange, said, state } = await control(run, 'jobs.create')
  if (state !== 'granted') throw new NotExercised(`no job could be created: ${said}`)
  const job = jobsOf(run).all.find(({ creation }) => creation.answer === exchange?.answer)
  if (!job) throw new NotExercised(`the creation response names no id: ${said}`)
  return job
}

/** Follows the main job to its end, once a run. */
export function mainLifecycle(run: Run): Promise<Lifecycle> {
  return run.once('lifecycle', async () => follow(run, await mainJob(run)))
}

/** Creates a job of another application and follows it to its end, once a run. */
export function lifecycleOf(
  run: Run,
  name: string,
  application: ApplicationResource,
  requirement: string,
): Promise<Lifecycle> {
  return run.once(`lifecycle ${name}`, async () => {
    const source = () => jobRequest(run, application)
    const exchange = await askThroughGate(run, source, { requirement, role: 'setup' })
    const job = jobsOf(run).all.find(({ creation }) => creation.answer === exchange?.answer)
    if (!job) throw new NotExercised(`no job of resources.${name} could be created: ${describeAnswer(exchange)}`)
    return follow(run, job)
  })
}

/** Looks at a new job until it can be read, once a run: right after its creation, and for a second. */
function firstLooks(run: Run, job: Job): Promise<readonly Reading[]> {
  return run.once(`first looks ${job.id}`, async () => {
    const readings: Reading[] = []
    for (const ms of pauses) {
      await pause(run, ms)
      const reading = await jobsOf(run).read(job, 'jobs.create/202-retrievable')
      readings.push(reading)
      if (reading.exchange.answer?.status === 200) break
    }
    return readings
  })
}

/** The id of the main job, once it can be read. */
export async function readableJob(run: Run): Promise<string> {
  const job = await mainJob(run)
  await firstLooks(run, job)
  return job.id
}

async function follow(run: Run, job: Job): Promise<Lifecycle> {
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  const first = await firstLooks(run, job)
  const ended = await jobsOf(run).awaitEnd(job, deadline)
  return { job, first, ended: ended || isEnded(job.readings.at(-1)) }
}
