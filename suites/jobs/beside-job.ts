import { isGranted } from '../../harness/engine/response.ts'
import { describeResponse } from '../../harness/engine/describe.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { pause } from '../../harness/engine/outcome.ts'
import type { Run } from '../../harness/engine/run.ts'
import { sendWithStaleRetry } from '../../harness/engine/send.ts'
import { isThrottled } from '../../harness/engine/throttle.ts'
import type { ApplicationResource } from '../../harness/target-file/model.ts'
import { getAt } from '../../schemas/json.ts'
import {
  awaitJobs,
  type Conflict,
  conflictId,
  create,
  createdAt,
  noLonger,
  readSettled,
  showsInProgress,
} from './conflict.ts'
import { gatesOf, mostAttempts } from './gate.ts'
import { type Job, jobRequest } from './job-tracker.ts'
import { sameId } from './seen-jobs.ts'

/** Moments of a job at which another creation is sent: twice at once, and then each half as long again after the last, in ms. */
const firstPauseMs = 10
const growth = 1.5
const mostMoments = { full: 20, quick: 4 }

/** Inputs of the same form, each text another one. */
function withOtherValues(application: ApplicationResource, moment: number): ApplicationResource {
  const inputs = application.inputs.map((input) => {
    const texts = getAt(input, '/value')
    if (!Array.isArray(texts)) return input
    return { ...input, value: texts.map((text) => `${String(text)} ${moment}`) }
  })
  return { ...application, inputs }
}

/** A wait is cut into so many parts at most, none shorter than that in ms unless the whole is, so that the end of a job is soon seen. */
const mostParts = 4
const shortestPartMs = 20

/** Waits so long; false as soon as a reading shows the job in progress no more. */
async function staysInProgress(run: Run, job: Job, ms: number): Promise<boolean> {
  const parts = Math.min(mostParts, Math.max(1, Math.floor(ms / shortestPartMs)))
  for (let part = 0; part < parts; part++) {
    await pause(run, ms / parts)
    if (!showsInProgress(await readSettled(run, job, conflictId.inProgress), job)) return false
  }
  return true
}

/**
 * Further creations during the whole life of a job, with the same inputs and with other values: a server may compare
 * requests, or forget after a while that the job goes on.
 */
export async function createDuringJob(conflict: Conflict, first: Job): Promise<void> {
  const { run, application, found } = conflict
  const finding = found.inProgress
  found.inProgress.lost = 0
  let refused = 0
  let pauseMs = firstPauseMs
  for (let moment = 0; moment < mostMoments[run.options.depth]; moment++) {
    if (moment > 0 && !(await staysInProgress(run, first, moment > 1 ? pauseMs : 0))) break
    if (moment > 1) pauseMs *= growth
    const isOther = moment % 2 === 1
    const answered = await createBeside(conflict, first, isOther ? withOtherValues(application, moment) : application)
    if (answered === 'conflict') refused++
    if (answered === 'over' || finding.failure) break
  }
  if (refused > 0 && !finding.failure) finding.confirmed = true
}

/** A creation without an answer is a failure if that is so of so many of them, each sent on two connections. */
const leastLost = 3

/** One creation beside the job: refused as it should be, or the job had ended by then, or nobody can tell. */
async function createBeside(
  conflict: Conflict,
  first: Job,
  application: ApplicationResource,
): Promise<'conflict' | 'over' | 'unknown'> {
  const { run, gate, found } = conflict
  const finding = found.inProgress
  // Sent once: while a throttled creation is backed off the job would end.
  const purpose = { requirement: conflictId.inProgress, role: 'probe', expects: [[409, 'BadRequest']] } as const
  const probe = await jobRequest(run, application)
  let exchange = await sendWithStaleRetry(run, probe, purpose)
  const isClear = exchange.response && (exchange.response.status === 409 || isGranted(exchange.response))
  // What went before on the connection may have spoiled anything else, and a connection may be lost.
  if (!isClear && (exchange.previousRequest || !exchange.response))
    exchange = await sendWithStaleRetry(run, probe, purpose, { fresh: true })
  const made = gate.record(exchange)
  finding.cases++
  const status = exchange.response?.status
  if (status === 409) {
    finding.conflicts.push(exchange)
    return 'conflict'
  }
  // A server may refuse values that nobody declared.
  if (status === 400 && application !== conflict.application) return 'unknown'
  // The very same answer is that of the first job; an id that is given again may be another one's.
  if (made && sameId(made.id, first.id) && createdAt(made) !== createdAt(first)) {
    finding.inconclusive = `another creation gave the id of the first job, ${first.id}: no reading tells them apart`
    return 'over'
  }
  const reading = await readSettled(run, first, conflictId.inProgress)
  const isLost = !exchange.response && ++found.inProgress.lost < leastLost
  if (!showsInProgress(reading, first, made)) {
    finding.inconclusive = `another creation was answered ${describeResponse(exchange)}, but ${noLonger(reading)}`
    return 'over'
  }
  if (isLost) {
    finding.inconclusive = `another creation got no answer: ${describeResponse(exchange)}`
    return 'unknown'
  }
  if (isLimit(conflict, exchange)) {
    finding.inconclusive = `another creation was answered ${describeResponse(exchange)}`
    return 'over'
  }
  const values = application === conflict.application ? 'the same inputs' : 'other values'
  const what = `with ${values}, while job ${first.id} of the application was in progress`
  finding.failure = { exchange, expected: '409 BadRequest', what }
  return 'over'
}

/**
 * True for a limit on creations, not on jobs. The first creation of each attempt was granted: what is throttled beside it in all
 * of them is the answer to the conflict, unless it names a time to wait.
 */
function isLimit({ run, found }: Conflict, { response }: Exchange): boolean {
  if (!response || !isThrottled(response)) return false
  run.client.throttle.hold('jobs.create', response, 0)
  return response.header('retry-after') !== undefined || ++found.inProgress.throttled < mostAttempts
}

/** A creation on the other application while the first job is in progress; gives the 409 that may be a fault. */
export async function createOnOther(conflict: Conflict, first: Job): Promise<Exchange | undefined> {
  const { run, other, found } = conflict
  if (!other) return undefined
  const finding = found.perApplication
  const exchange = await create(run, other, conflictId.perApplication)
  gatesOf(run).of(other.id).record(exchange)
  finding.cases++
  const reading = await readSettled(run, first, conflictId.perApplication)
  if (!showsInProgress(reading, first)) {
    finding.inconclusive = `a creation on the other application was answered ${describeResponse(exchange)}, but ${noLonger(reading)}`
    return undefined
  }
  if (exchange.response?.status === 409) return exchange
  if (exchange.response && isGranted(exchange.response)) finding.confirmed = true
  else finding.inconclusive = `a creation on the other application was answered ${describeResponse(exchange)}`
  return undefined
}

/**
 * The 409 of the other application counts if a creation there is granted once the first job has ended, and if that is so
 * in each of three attempts: somebody else may be using it now and then.
 */
export async function confirmBlocked(conflict: Conflict, blocked: Exchange, first: Job): Promise<void> {
  const { run, other, found } = conflict
  if (!other) return
  const finding = found.perApplication
  const gate = gatesOf(run).of(other.id)
  const exchange = await create(run, other, conflictId.perApplication)
  const job = gate.record(exchange)
  if (!job) {
    finding.inconclusive = `a creation on the other application was answered ${describeResponse(exchange)} even after the job had ended`
    return
  }
  finding.blocked++
  finding.inconclusive = `the other application was busy during a job in ${finding.blocked} attempts`
  await awaitJobs(run, other.id)
  if (finding.blocked < mostAttempts) return
  const what = `with a valid body, while only job ${first.id} of another application was in progress, in ${mostAttempts} attempts (somebody else's job there would look the same)`
  finding.failure = {
    exchange: blocked,
    expected: '202: a job in progress on another application is no conflict',
    what,
  }
}

/** How many creations start together. */
export const burstSize = { full: 6, quick: 2 }

/** Proof by one reading of the second job as in progress between two of the first. */
export async function proveOverlap({ run, found }: Conflict, first: Job, second: Job): Promise<void> {
  const finding = found.atomic
  if (sameId(first.id, second.id)) {
    finding.inconclusive = `two concurrent creations gave the same id, ${first.id}: no reading tells them apart`
    return
  }
  const shown: boolean[] = []
  for (const job of [first, second, first])
    shown.push(showsInProgress(await readSettled(run, job, conflictId.atomic), job))
  if (shown.includes(false)) {
    finding.inconclusive = 'two concurrent creations were granted, but the jobs ended before they could be read'
    return
  }
  finding.failure = {
    exchange: second.creation,
    expected: '409 BadRequest for all but one of several concurrent creations',
    what: `with a valid body, at the same time as others; jobs ${first.id} and ${second.id} were then both read as in progress`,
  }
}
