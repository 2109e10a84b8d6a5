import { member } from '../../schemas/json-object.ts'
import { preview } from '../../schemas/preview.ts'
import { isUuid } from '../../schemas/uuid.ts'
import { control } from '../../harness/checks/control.ts'
import { settleMs } from './job-tracker.ts'
import type { Job, Reading } from './model.ts'
import { lifecycleOf, mainLifecycle } from './lifecycle.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { validRequest } from '../../harness/checks/valid-request.ts'
import { grantedProbe, inScenario } from '../../harness/checks/granted.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Run } from '../../harness/engine/run.ts'
import { judgeGranted } from '../../harness/checks/judge.ts'
import { judgeShape } from '../../harness/checks/shapes.ts'
import type { Story } from '../../harness/engine/story.ts'
import { seeAllStates } from './other-jobs.ts'
import { jobsOf } from './job-tracker.ts'

/** Every reading of every job of the run that counts as one: a new id may not be found at once. */
function readingsOf(run: Run): { job: Job; reading: Reading }[] {
  // What a wrong key was granted may belong to nobody.
  return jobsOf(run)
    .all.filter(({ creation }) => creation.probe.credential.full)
    .flatMap((job) =>
      job.readings
        .filter(({ exchange }) => {
          const { answer, throttled, sentAt } = exchange
          const settled = sentAt - job.createdAtMs > settleMs
          return answer && !throttled && (answer.status < 300 || settled)
        })
        .map((reading) => ({ job, reading })),
    )
}

const aJob = '200 with a job'

export async function judgeJobs(story: Story): Promise<void> {
  const { run } = story
  const { exchange } = await control(run, 'jobs.retrieve')
  if (!exchange) throw new NotExercised('left out: --read-only')
  judgeGranted(story, exchange, aJob, '')
  judgeShape(story, exchange, 'job', '')
  if (jobsOf(run).all.length > 0) {
    await mainLifecycle(run)
    await seeAllStates(run)
  }
  for (const { job, reading } of readingsOf(run)) {
    story.shownBy = job.creation.purpose.requirement
    judgeGranted(story, reading.exchange, aJob, '')
    judgeShape(story, reading.exchange, 'job', '')
  }
}

function sameId(one: string, other: string): boolean {
  return isUuid(other) ? one.toLowerCase() === other.toLowerCase() : one === other
}

export async function judgeIdentity(story: Story): Promise<void> {
  await mainLifecycle(story.run)
  for (const { job, reading } of readingsOf(story.run)) {
    story.shownBy = job.creation.purpose.requirement
    for (const [name, own] of [
      ['id', job.id],
      ['application_id', job.application],
    ] as const) {
      const read = member(reading.job, name)
      // An absent or ill-typed member is a fault of the job's shape, and told there.
      if (typeof read !== 'string') continue
      story.count()
      if (!sameId(read, own)) story.fail(reading.exchange, `${name} ${own}`, '', `${name} ${read}`)
    }
  }
  if (story.cases === 0) throw new NotExercised('no reading of a job had an id')
}

export async function judgeOutcome(story: Story): Promise<void> {
  const { job } = await mainLifecycle(story.run)
  const last = job.readings.at(-1)
  if (last?.status === undefined) throw new NotExercised('the job could not be retrieved')
  story.count()
  // The reading that ended it counts: whether it stays so is another row.
  if (job.readings.some(({ status }) => status === 'completed' || status === 'failed')) return
  const within = `within ${story.run.target.limits.jobTimeoutMs} ms (limits.jobTimeoutMs)`
  story.fail(last.exchange, `a job that is completed or failed ${within}`, '')
}

export async function judgeFailedJob(story: Story): Promise<void> {
  if (story.run.target.scenarios[story.row.id]) return judgeFailedScenario(story)
  const { failingApplication } = story.run.target.resources
  if (!failingApplication) throw new NotExercised('declare resources.failingApplication')
  const { job, ended } = await lifecycleOf(story.run, 'failingApplication', failingApplication, story.row.id)
  const last = job.readings.at(-1)
  if (!last || !ended) throw new NotExercised('the job of resources.failingApplication did not end in time')
  judgeFailed(story, last.exchange, last.job)
}

/** A retrieval that the target's scenario leads to a failed job. */
async function judgeFailedScenario(story: Story): Promise<void> {
  const make = grantedProbe(story, 'jobs.retrieve', () => validRequest(story.run, 'jobs.retrieve'))
  await inScenario(story, 'jobs.retrieve', async () => {
    const exchange = await story.ask(make)
    judgeGranted(story, exchange, '200 with a failed job', failing)
    const json = exchange.answer?.json()
    judgeFailed(story, exchange, json?.ok ? json.value : undefined)
  })
}

const failing = 'of an application whose jobs fail'

function judgeFailed(story: Story, exchange: Exchange, job: unknown): void {
  story.count()
  const expected = 'status failed; error, where present, a string'
  if (member(job, 'status') !== 'failed') story.fail(exchange, expected, failing)
  const error = member(job, 'error')
  if (error !== undefined && typeof error !== 'string')
    story.fail(exchange, expected, failing, `error ${preview(error)}`)
}
