import { isGranted } from '../../harness/engine/response.ts'
import { describeResponse } from '../../harness/engine/describe.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { type Conflict, awaitJobs, create, noLonger, readSettled, showsInProgress } from './conflict.ts'
import { gatesOf, mostAttempts } from './gate.ts'
import type { Job } from './model.ts'

const requirement = 'jobs.create/409-per-application'

/** A creation on the other application while the first job is in progress; gives the 409 that may be a fault. */
export async function createOnOther(conflict: Conflict, first: Job): Promise<Exchange | undefined> {
  const { run, other, found } = conflict
  if (!other) return undefined
  const finding = found.perApplication
  const exchange = await create(run, other, requirement)
  gatesOf(run).of(other.id).record(exchange)
  finding.cases++
  const reading = await readSettled(run, first, requirement)
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
  const exchange = await create(run, other, requirement)
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
