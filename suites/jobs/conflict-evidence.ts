import { isGranted } from '../../harness/engine/answer.ts'
import { ask } from '../../harness/engine/ask.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { sendSurely } from '../../harness/engine/send-once.ts'
import { isThrottled } from '../../harness/engine/throttle.ts'
import { jobRequest } from './request.ts'
import type { Run } from '../../harness/engine/run.ts'
import type { ApplicationResource } from '../../harness/target/model.ts'
import { describeAnswer } from '../../harness/engine/describe.ts'
import type { ConflictFindings, Finding } from './finding.ts'
import { looks } from './gate.ts'
import { isEnded, settleMs } from './job-tracker.ts'
import { pause } from '../../harness/engine/pause.ts'
import type { Gate, Job, Reading } from './model.ts'
import { jobsOf } from './job-tracker.ts'
import { gatesOf } from './gate.ts'

/**
 * A creation that goes past the gate, which the story holds. Its connection is its own: one that is sent once more,
 * because the target had closed a connection, may have made a job that nobody knows of.
 */
export function create(run: Run, application: ApplicationResource, requirement: string): Promise<Exchange> {
  const purpose = { requirement, role: 'probe', expects: [[409, 'BadRequest']] } as const
  return ask(run, () => jobRequest(run, application), purpose, { fresh: true })
}

/** A job that cannot be read yet is looked at so often, in ms. */
const lookEveryMs = 100

/** A reading that began after whatever it is evidence of; repeated while a new job cannot be read yet. */
async function readSettled(run: Run, job: Job, requirement: string): Promise<Reading> {
  for (;;) {
    const reading = await jobsOf(run).read(job, requirement)
    if (reading.status !== undefined || performance.now() - job.createdAtMs > settleMs) return reading
    await pause(run, lookEveryMs)
  }
}

/** What a reading without `in_progress` says of the state in which another creation was answered. */
function noLonger(reading: Reading): string {
  return isEnded(reading) ? 'the first job had ended by then' : 'the first job could not be read'
}

/** Of two granted jobs, one reading of the second as in progress between two of the first. */
export async function proveOverlap(run: Run, first: Job, second: Job, finding: Finding): Promise<void> {
  const readings: Reading[] = []
  for (const job of [first, second, first]) readings.push(await readSettled(run, job, 'jobs.create/409-atomic'))
  if (!readings.every(({ status }) => status === 'in_progress')) {
    finding.unseen = 'two concurrent creations were granted, but the jobs ended before they could be read'
    return
  }
  finding.failure = {
    exchange: second.creation,
    expected: '409 BadRequest for all but one of several concurrent creations',
    what: `with a valid body, at the same time as others; jobs ${first.id} and ${second.id} were then both read as in progress`,
  }
}

/** A second creation while the first job is in progress. */
export async function askSecond(
  run: Run,
  gate: Gate,
  application: ApplicationResource,
  first: Job,
  { inProgress }: ConflictFindings,
): Promise<void> {
  // Sent once: while a throttled creation is backed off the job would end.
  const purpose = {
    requirement: 'jobs.create/409-job-in-progress',
    role: 'probe',
    expects: [[409, 'BadRequest']],
  } as const
  const exchange = await sendSurely(run, await jobRequest(run, application), purpose)
  gate.note(exchange)
  inProgress.cases++
  if (exchange.answer?.status === 409) {
    inProgress.held = true
    inProgress.second = exchange
    return
  }
  const throttled = exchange.answer !== undefined && isThrottled(exchange.answer)
  if (throttled) run.client.throttle.hold('jobs.create', exchange.answer, 0)
  const reading = await readSettled(run, first, 'jobs.create/409-job-in-progress')
  if (reading.status !== 'in_progress') {
    inProgress.unseen = `the second creation was answered ${describeAnswer(exchange)}, but ${noLonger(reading)}`
    return
  }
  // Each look's own creation was granted: what is throttled in all of them is the answer to the conflict.
  // One that names a time to wait is a limit on creations, not on jobs.
  if (throttled && (exchange.answer.header('retry-after') !== undefined || ++inProgress.throttled < looks)) {
    inProgress.unseen = `the second creation was answered ${describeAnswer(exchange)}`
    return
  }
  const what = `with a valid body, while job ${first.id} of the application was in progress`
  inProgress.failure = { exchange, expected: '409 BadRequest', what }
}

/** A creation on another application while the first job is in progress. */
export async function askOther(run: Run, other: ApplicationResource, first: Job, finding: Finding): Promise<void> {
  const exchange = await create(run, other, 'jobs.create/409-per-application')
  gatesOf(run).of(other.id).note(exchange)
  finding.cases++
  const reading = await readSettled(run, first, 'jobs.create/409-per-application')
  const proven = reading.status === 'in_progress'
  finding.unseen = `the other application answered ${describeAnswer(exchange)}, but ${noLonger(reading)}`
  if (!proven) return
  if (exchange.answer?.status === 409) {
    const what = `with a valid body, while only job ${first.id} of another application was in progress`
    finding.failure = { exchange, expected: '202: a job in progress on another application is no conflict', what }
  } else if (exchange.answer && isGranted(exchange.answer)) finding.held = true
  else finding.unseen = `the other application answered ${describeAnswer(exchange)}`
}
