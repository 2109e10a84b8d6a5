import { member, preview } from '../../schemas/json.ts'
import { control } from '../../harness/checks/control.ts'
import { grantedProbe, inScenario } from '../../harness/checks/granted.ts'
import { jsonValue } from '../../harness/engine/response.ts'
import { judgeGranted } from '../../harness/engine/judge-response.ts'
import { judgeShape } from '../../harness/checks/shapes.ts'
import { validRequest } from '../../harness/checks/valid-request.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { Failed, NotExercised } from '../../harness/engine/outcome.ts'
import type { Run } from '../../harness/engine/run.ts'
import { leftOut } from '../../harness/report/reason.ts'
import type { Judge, CheckContext } from '../../harness/engine/check-context.ts'
import { describeResponse } from '../../harness/engine/describe.ts'
import { createdAtCases, identityCases, isOwn, type JobCase, sameId } from './seen-jobs.ts'
import { isGone, oldestJobs, ownJobs, seeLaterJob, seeOldestAgain } from './every-job.ts'
import { isEnded, type Job, type Reading } from './job-tracker.ts'
import { failingLifecycle, mainLifecycle } from './lifecycle.ts'
import fc from 'fast-check'
import { any, type Fault, refused, unknown } from '../../harness/checks/conditions.ts'
import { condition } from '../../harness/checks/refusals.ts'
import type { Probe } from '../../harness/engine/probe.ts'

/** Readings that count: before `settleMs` have passed a new job may not be found, or break the server until it was read. */
function readingsOf(run: Run): { job: Job; reading: Reading }[] {
  return ownJobs(run).flatMap((job) => {
    const found = job.readings.findIndex(({ status }) => status !== undefined)
    return job.readings
      .filter(({ exchange }, at) => {
        const { response, throttled, sentAt, purpose } = exchange
        if (!response || throttled) return false
        // That an older job is gone once there is a newer one is told by the requirement that asks for it.
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
    judgeGranted(context, withOthers(job, reading), aJob, '')
    judgeShape(context, reading.exchange, 'job', '')
  }
}

/** The reading of a job that can be read before and after it: the answers differ by themselves. */
function withOthers({ readings }: Job, reading: Reading): Exchange {
  const at = readings.indexOf(reading)
  const isRead = ({ status }: Reading): boolean => status !== undefined
  if (isRead(reading) || !readings.slice(0, at).some(isRead) || !readings.slice(at).some(isRead))
    return reading.exchange
  const times = new Map<string, number>()
  for (const { exchange, status } of readings) {
    const response = status === undefined ? describeResponse(exchange) : '200 with the job'
    times.set(response, (times.get(response) ?? 0) + 1)
  }
  return { ...reading.exchange, finding: { kind: 'answers-differ', responses: [...times] } }
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
  if (!sameId(read, job)) context.fail(exchange, `id ${job}`, 'for the declared job', `id ${preview(read)}`)
}

export const judgeIdentity: Judge = async (context) => {
  const { run } = context
  await mainLifecycle(run)
  await seeOldestAgain(run)
  await judgeDeclaredIdentity(context)
  judgeCases(context, identityCases(ownJobs(run)))
  for (const { id, creation, readings } of oldestJobs(run)) {
    const last = readings.at(-1)
    if (!last || !isGone(last.exchange) || !readings.some(({ status }) => status !== undefined)) continue
    context.shownBy = creation.purpose.requirement
    context.fail(
      last.exchange,
      '200 with that job, as when it was read before',
      `for job ${id}, after newer ones were made`,
    )
  }
  if (context.cases === 0) throw new NotExercised('no reading of a job had an id')
}

export const judgeCreatedAt: Judge = async (context) => {
  const { run } = context
  await mainLifecycle(run)
  await seeLaterJob(run)
  judgeCases(context, createdAtCases(ownJobs(run)))
  if (context.cases === 0) throw new NotExercised('no reading of a job had a created_at that can be compared')
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
  // The reading that ended it counts: whether it stays so is another row.
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
  if (context.run.target.scenarios[context.requirement.id]) return judgeFailedScenario(context)
  const { job, ended } = await failingLifecycle(context.run)
  // The reading that ended it counts: whether it stays so is another row.
  const end = job.readings.find(isEnded)
  if (!end || !ended) throw new NotExercised('the job of resources.failingApplication did not end in time')
  if (!isOwn(end, job))
    throw new NotExercised('what is read under the id of the job is another job: see jobs.retrieve/200-identity')
  judgeFailed(context, end.exchange, end.job)
}

/** A retrieval that the target's scenario leads to a failed job. */
async function judgeFailedScenario(context: CheckContext): Promise<void> {
  const make = grantedProbe(context, 'jobs.retrieve', () => validRequest(context.run, 'jobs.retrieve'))
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

/** No uuid in any spelling, hyphens left out included. */
function isNoUuid(id: string): boolean {
  return !/^[0-9a-f]{32}$/i.test(id.replaceAll('-', ''))
}

const named = ['not-a-uuid', '0', '1234567890', 'zzzzzzzz-zzzz-4zzz-8zzz-zzzzzzzzzzzz', 'x'.repeat(64)]

const generated = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/).filter(isNoUuid)

const noUuid = (id: string): Fault<string> => told(id, 'an id that is not a uuid', 'another form')

function told(id: string, what: string, fault: string): Fault<string> {
  return { what: `with ${what}`, value: id, fault: `id: ${fault}` }
}

const withId = (probe: Probe, id: string): Probe => refused({ ...probe, params: { job_id: id } })

/** By how many characters an existing id is cut: a server may find ids by their beginning. */
const cuts = [1, 2, 3, 4, 5, 6, 7, 8] as const

/** An id with a hexadecimal digit more; with one in place of another digit, at that place. */
const otherDigit = (digit: string): string => (digit === '0' ? '1' : '0')

/** The id of a job with its last digit changed, and with all but its first group changed: a server may compare less than all of it. */
const likeJob = [
  ['with its last digit changed', (id: string) => id.slice(0, -1) + otherDigit(id.slice(-1))],
  [
    'with all but its first group changed',
    // Version and variant stay, so that it is a uuid of the same kind.
    (id: string) =>
      id.replaceAll(/[0-9a-f]/gi, (digit, at: number) =>
        at < 9 || at === 14 || at === 19 ? digit : otherDigit(digit),
      ),
  ],
] as const

/** The uuid of nothing, twice, and two that are like that of a job. */
export const unknownJob = condition(async (refusal) => {
  const { valid, judge } = refusal
  await unknown('job_id', ['unknown', 'asked twice', 'of another kind']).bringAbout(refusal)
  for (const [what, change] of likeJob) {
    const probe = await valid()
    const id = change(probe.params['job_id'] ?? '')
    if (refusal.context.run.objects.takenIds.has(id.toLowerCase())) continue
    await judge({ ...withId(probe, id), fault: 'id: like another' }, `with the id of a job ${what}`)
  }
})

/** 1 to 64 letters, digits, `-` and `_` that are no uuid; an existing id that is cut, longer, or with a wildcard of SQL in it. */
export const malformedId = condition(async (refusal) => {
  const id = (await refusal.valid()).params['job_id'] ?? ''
  const likeExisting = [
    ...cuts
      .filter((cut) => cut < id.length)
      .map((cut) => told(id.slice(0, -cut), `an existing id that is cut by ${cut}`, 'cut')),
    told(`${id}0`, 'an existing id and a character more', 'lengthened'),
    told(`${id.slice(0, -1)}_`, 'an existing id, its last character _', 'wildcard'),
  ]
  await any([...likeExisting, ...named.map(noUuid)], generated.map(noUuid), withId).bringAbout(refusal)
})
