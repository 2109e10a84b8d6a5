import {
  control,
  grantedProbe,
  inScenario,
  judgeEach,
  retryWhileSettling,
  validRequest,
} from '../../harness/checks/index.ts'
import type { CheckContext, Exchange, Judge, Run } from '../../harness/engine/index.ts'
import {
  describeResponse,
  differing,
  Failed,
  fits,
  jsonValue,
  judgeGranted,
  judgeShape,
  NotExercised,
  pause,
} from '../../harness/engine/index.ts'
import { member, preview } from '../../schemas/json.ts'
import { leftOut } from '../../harness/report/index.ts'
import type { JobCase, SeenReading } from './seen-jobs.ts'
import { sameId } from '../../harness/history/index.ts'
import { createdAtCases, identityCases, isOwn, readsTheSame } from './seen-jobs.ts'
import {
  endedBefore,
  isEnded,
  isWhole,
  type Job,
  jobsOf,
  maxLagMs,
  type Reading,
} from './job-tracker.ts'
import {
  failingLifecycle,
  isGone,
  mainLifecycle,
  oldestJobs,
  ownJobs,
  seeLaterJob,
  seeOldestAgain,
} from './lifecycle.ts'

/** Readings that count: before `settleMs` have passed a new job may not be found, or break the server until it was read. */
function readingsOf(run: Run): { job: Job; reading: Reading }[] {
  return ownJobs(run).flatMap((job) => {
    const found = job.readings.findIndex(({ status }) => status !== undefined)
    return job.readings
      .filter(({ exchange }, at) => {
        const { response, throttled, sentAt, purpose } = exchange
        if (!response || throttled) return false
        // The requirement that asks for it reports an older job that is gone once there is a newer one.
        if (isGone(exchange) && purpose.requirement === 'jobs.retrieve/200-identity') return false
        const settled = sentAt - job.createdAtMs > run.target.limits.settleMs
        const wasRead = found >= 0 && at > found && ![404, 410].includes(response.status)
        return response.status < 300 || settled || wasRead
      })
      .map((reading) => ({ job, reading }))
  })
}

const aJob = '200 with a job'

export const judgeJobs: Judge = async (context) => {
  const { run } = context
  const { exchange } = await control(run, 'jobs.retrieve')
  if (!exchange) throw new NotExercised(leftOut('--read-only'))
  judgeGranted(context, exchange, aJob, '')
  judgeShape(context, exchange, 'job', '')
  for (const { job, reading } of readingsOf(run)) {
    context.shownBy = job.creation.purpose.requirement
    const read = withOthers(job, reading)
    judgeGranted(context, read, aJob, '')
    judgeShape(context, read, 'job', '')
  }
}

/** The reading of a job that is read as it should be before and after it: the answers differ by themselves. */
function withOthers({ readings }: Job, reading: Reading): Exchange {
  const at = readings.indexOf(reading)
  const isRead = ({ exchange }: Reading): boolean =>
    exchange.response?.status === 200 && fits(exchange, 'job')
  if (isRead(reading) || !readings.slice(0, at).some(isRead) || !readings.slice(at).some(isRead))
    return reading.exchange
  const responses = readings.map((one) =>
    isRead(one) ? '200 with the job' : describeResponse(one.exchange),
  )
  return { ...reading.exchange, finding: differing(responses) }
}

/** Judges cases of jobs; a failure shows both exchanges that contradict each other. */
function judgeCases(context: CheckContext, cases: Iterable<JobCase>): void {
  for (const { job, problem } of cases) {
    context.shownBy = job.creation.purpose.requirement
    context.cases++
    if (!problem) continue
    const { exchange, expected, actual, against } = problem
    const what = `for job ${job.id}`
    const more = against ? [context.failure(against, expected, `${what}, before`)] : []
    throw new Failed(context.failure(exchange, expected, what, actual), more)
  }
}

/** A declared job shows its own id; the target file does not say of which application it is. */
async function judgeDeclaredIdentity(context: CheckContext): Promise<void> {
  const { job } = context.run.target.resources
  if (job === undefined) return
  const { exchange } = await control(context.run, 'jobs.retrieve')
  const read = member(jsonValue(exchange?.response), 'id')
  if (!exchange || typeof read !== 'string') return
  context.cases++
  if (!sameId(read, job))
    context.fail(exchange, `id ${job}`, 'for the declared job', `id ${preview(read)}`)
}

export const judgeIdentity: Judge = async (context) => {
  const { run } = context
  await mainLifecycle(run)
  await seeOldestAgain(run)
  await judgeDeclaredIdentity(context)
  judgeCases(context, identityCases(ownJobs(run)))
  for (const { id, creation, readings } of oldestJobs(run)) {
    const last = readings.at(-1)
    if (!last || !isGone(last.exchange) || !readings.some(({ status }) => status !== undefined))
      continue
    context.shownBy = creation.purpose.requirement
    const what = `for job ${id}, after newer ones were made`
    context.fail(last.exchange, '200 with that job, as when it was read before', what)
  }
  if (context.cases === 0) throw new NotExercised('no reading of a job had an id')
}

export const judgeCreatedAt: Judge = async (context) => {
  const { run } = context
  await mainLifecycle(run)
  await seeLaterJob(run)
  judgeCases(context, createdAtCases(ownJobs(run)))
  if (context.cases === 0)
    throw new NotExercised('no reading of a job had a created_at that can be compared')
}

export const judgeOutcome: Judge = async (context) => {
  const { job } = await mainLifecycle(context.run)
  const last = job.readings.at(-1)
  if (last?.status === undefined) {
    throw new NotExercised(
      `the last reading of the job shows no status: ${last ? describeResponse(last.exchange) : ''}`,
    )
  }
  context.cases++
  // The reading that ended it counts: whether it stays so is another requirement.
  const { jobTimeoutMs } = context.run.target.limits
  const expected = `a job that is completed or failed within ${jobTimeoutMs} ms (limits.jobTimeoutMs)`
  if (!job.readings.some(({ status }) => status === 'completed' || status === 'failed')) {
    context.fail(last.exchange, expected, '')
  }
  for (const other of ownJobs(context.run)) {
    const unfinished = unfinishedAfter(other, jobTimeoutMs)
    context.shownBy = other.creation.purpose.requirement
    if (unfinished) context.fail(unfinished.exchange, expected, `for job ${other.id}`)
  }
}

/** The last reading of a job that has been in progress for longer than that. */
function unfinishedAfter({ readings, createdAtMs }: Job, ms: number): Reading | undefined {
  const last = readings.at(-1)
  const isLate = last !== undefined && last.exchange.sentAt - createdAtMs > ms
  return isLate && last.status === 'in_progress' && !readings.some(isEnded) ? last : undefined
}

export const judgeFailedJob: Judge = async (context) => {
  if (context.scenario) return judgeFailedScenario(context)
  const { job, ended } = await failingLifecycle(context.run)
  // The reading that ended it counts: whether it stays so is another requirement.
  const end = job.readings.find(isEnded)
  if (!end || !ended)
    throw new NotExercised('the job of resources.failingApplication did not end in time')
  if (!isOwn(end, job))
    throw new NotExercised(
      'what is read under the id of the job is another job: see jobs.retrieve/200-identity',
    )
  judgeFailed(context, end.exchange, end.job)
}

/** A retrieval that the target's scenario leads to a failed job. */
async function judgeFailedScenario(context: CheckContext): Promise<void> {
  const make = grantedProbe(context, 'jobs.retrieve', () =>
    validRequest(context.run, 'jobs.retrieve'),
  )
  await inScenario(context, 'jobs.retrieve', async () => {
    const exchange = await context.send(make)
    judgeGranted(context, exchange, '200 with a failed job', failing)
    judgeFailed(context, exchange, jsonValue(exchange.response))
  })
}

const failing = 'of an application whose jobs fail'

function judgeFailed(context: CheckContext, exchange: Exchange, job: unknown): void {
  context.cases++
  const expected = 'status failed; error, if present, a string'
  if (member(job, 'status') !== 'failed') context.fail(exchange, expected, failing)
  const error = member(job, 'error')
  if (error !== undefined && typeof error !== 'string')
    context.fail(exchange, expected, failing, `error ${preview(error)}`)
}

/** The members that the spec shows (§2.3), but for `updated_at`, which may move: others may change as a server likes. */
const shown = [
  'id',
  'status',
  'application_id',
  'created_at',
  'completed_at',
  'data',
  'error',
] as const

/** Least time from the end of a job to the last reading of it, in ms. */
const laterMs = 200

/** Most ended jobs that are read again for each application and outcome; the latest are taken. */
const maxReadAgain = { full: 2, quick: 1 }

/** Reads the ended jobs of the run again, and a declared one: what the spec shows of them reads the same. */
export const judgeStable: Judge = async (context) => {
  const { run } = context
  const ended = [...endedReadings(run), ...(await declaredReading(run))]
  const [first, ...others] = ended
  if (!first) throw new NotExercised('no job ended during this run')
  for (const reading of ended) judgeLaterReadings(context, reading)
  await judgeEach(latestOfEach(run, others), (reading) => judgeAgain(context, reading))
  await pause(run, Math.max(0, first.exchange.endedAt + laterMs - performance.now()))
  await judgeAgain(context, first)
}

/** Judges the readings of an ended job that came later in the run, while others were in progress. */
function judgeLaterReadings(context: CheckContext, before: SeenReading): void {
  const job = jobOf(context.run, before.exchange)
  for (const later of job?.readings ?? []) {
    const isLate =
      job !== undefined &&
      later.exchange !== before.exchange &&
      endedBefore(job, later.exchange.sentAt)
    if (!isLate || later.status === undefined || !isWhole(later)) continue
    context.cases++
    context.shownBy = before.exchange.purpose.requirement
    compare(context, before, later)
  }
}

/** The last ones of each application and outcome; of applications that the run created as of one, of all in a quick run. */
function latestOfEach(run: Run, ended: readonly SeenReading[]): SeenReading[] {
  const { target, options } = run
  const counts = new Map<string, number>()
  return ended.toReversed().filter(({ exchange, job }) => {
    const id = jobOf(run, exchange)?.application ?? ''
    const isOne = options.depth === 'quick' || !target.applicationIds.has(id)
    const kind = `${isOne ? '' : id} ${String(member(job, 'status'))}`
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    return count <= maxReadAgain[options.depth]
  })
}

async function judgeAgain(context: CheckContext, before: SeenReading): Promise<void> {
  const { run } = context
  // A new job may not be known everywhere yet, nor the end of one.
  const madeAt = jobOf(run, before.exchange)?.createdAtMs ?? -Infinity
  const send = (): Promise<Exchange> => context.send(before.exchange.probe)
  const first = await retryWhileSettling(run, send, (one) => !isGone(one), madeAt)
  const lag = before.exchange.endedAt + maxLagMs - performance.now()
  const mayLag = lag > 0 && member(jsonValue(first.response), 'status') === 'in_progress'
  const exchange = mayLag ? await pause(run, lag).then(send) : first
  const { response } = exchange
  const json = response?.json()
  if (!response || exchange.throttled) throw new NotExercised('the job could not be read again')
  context.cases++
  context.shownBy = before.exchange.purpose.requirement
  if (response.status !== 200 || !json?.ok) {
    context.fail(exchange, '200 with the job, as when the ended job was read before', '')
  }
  compare(context, before, { exchange, job: json.value })
}

/** Fails if a member that the spec shows reads another way. */
function compare(context: CheckContext, before: SeenReading, { exchange, job }: SeenReading): void {
  for (const name of shown) {
    const [was, is] = [member(before.job, name), member(job, name)]
    if (readsTheSame(was, is)) continue
    const told = (value: unknown): string =>
      `${name} ${value === undefined ? 'absent' : preview(value)}`
    context.fail(exchange, `${told(was)}, as when the ended job was read before`, '', told(is))
  }
}

/** The job that was asked for, whatever the answer says of it. */
function jobOf(run: Run, { probe }: Exchange): Job | undefined {
  return jobsOf(run).all.find(({ id }) => id === probe.params['job_id'])
}

/** First reading of each job of the run that showed it ended; the last of all if only that was kept whole, and shows it. */
function endedReadings(run: Run): SeenReading[] {
  return jobsOf(run)
    .all.filter(({ creation }) => creation.probe.credential.full)
    .flatMap(({ readings }) => {
      const first = readings.find(({ job }) => hasEnded(job))
      if (!first || isWhole(first)) return first ? [first] : []
      return readings.slice(-1).filter(({ job }) => hasEnded(job))
    })
}

async function declaredReading(run: Run): Promise<SeenReading[]> {
  if (run.target.resources.job === undefined) return []
  const { exchange } = await control(run, 'jobs.retrieve')
  const job = jsonValue(exchange?.response)
  return exchange && hasEnded(job) ? [{ exchange, job }] : []
}

/** A status that the spec does not know may be one of a job that goes on. */
function hasEnded(job: unknown): boolean {
  const status = member(job, 'status')
  return status === 'completed' || status === 'failed'
}
