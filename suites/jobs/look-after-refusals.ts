import type { Exchange } from '../../harness/engine/index.ts'
import { describeResponse, isGranted, Throttled, pause, sendWithRetries } from '../../harness/engine/index.ts'
import { maxLooks } from '../created/relations.ts'
import type { Refusal } from '../created/created-object.ts'
import type { Refusals } from './faults.ts'
import { failureIn, type Finding, ids } from './findings.ts'
import { create, type Held, releaseMs } from './gate.ts'
import { jobRequest, jobsOf } from './job-tracker.ts'

const of = ids.noEffect

/** Creations that were to be refused. */
export interface Refused {
  /** Creations that were refused: one that got no answer, or a job, is not sent again. */
  readonly kind: Refusals
  /** Time of the last refusal (`performance.now()`). */
  readonly refusedAt: number
  /** The first was answered 409: the application was not idle before any of these. */
  readonly isBusy?: true
  readonly findings: readonly Finding[]
}

/** Sends each creation that is to be refused. A granted one is waited for. */
async function refuseAll({ run, application, gate }: Held, kind: Refusals): Promise<Refused> {
  const findings: Finding[] = []
  const refused: Refusal[] = []
  const sent = () => ({ kind: { ...kind, refusals: refused }, refusedAt: performance.now(), findings })
  for (const refusal of kind.refusals) {
    const { requirement, statuses, change } = refusal
    const purpose = { requirement: of, about: `jobs.create/${requirement}`, role: 'setup', badInput: true } as const
    const exchange = await sendWithRetries(run, await change(await jobRequest(run, application)), purpose)
    if (statuses.includes(exchange.response?.status ?? 0)) refused.push(refusal)
    else if (refused.length === 0 && exchange.response?.status === 409) return { ...sent(), isBusy: true }
    else findings.push(open(`a creation that should be refused was answered ${describeResponse(exchange)}`))
    // Other requirements report a creation that is granted although it should be refused.
    const isOwn = exchange.probe.params['application_id'] === application.id
    if (isOwn && gate.record(exchange)) await jobsOf(run).awaitEnds(application.id)
  }
  return sent()
}

const open = (why: string): Finding => ({ of, cases: 1, open: why })

/** `refuseAll` on an application that is idle before it: waits for that as often as is looked. */
export async function refuseIdle(held: Held, kind: Refusals): Promise<Refused> {
  const busy = open('the application was busy before anything was refused')
  for (let waits = 0; ; waits++) {
    const sent = await refuseAll(held, kind)
    if (!sent.isBusy) return sent
    if (waits === maxLooks || !(await awaitIdle(held))) return { ...sent, findings: [busy] }
  }
}

/** A creation after refused ones, whose job is waited for. */
async function createAfter(held: Held): Promise<Finding> {
  const { run, application, gate } = held
  const { exchange, job, isConflict } = await create(held, of)
  if (isConflict) return { of, cases: 1, conflict: exchange }
  if (!exchange.response || !isGranted(exchange.response))
    return open(`the creation after a refused one was answered ${describeResponse(exchange)}`)
  if (job && !(await jobsOf(run).awaitEnds(application.id))) gate.timedOut = true
  return { of, cases: 1, confirmed: true }
}

/** When a creation is to come after refused ones, in ms; one that would come later follows on refusals of its own. */
export interface Moment {
  readonly afterMs: number
  readonly untilMs: number
}

/** A creation at that moment after refused ones; answered 409, it is looked at as `lookAfter` does. */
export async function lookLater(held: Held, { kind, refusedAt }: Refused, moment: Moment): Promise<Refused> {
  const { run } = held
  const { afterMs, untilMs } = moment
  const isLate = performance.now() > refusedAt + untilMs
  const from = isLate ? await refuseIdle(held, kind) : { kind, refusedAt, findings: [] }
  if (from.kind.refusals.length === 0) return from
  await pause(run, Math.max(0, from.refusedAt + afterMs - performance.now()))
  const created = await createAfter(held)
  const findings = [...from.findings, created]
  if (!created.conflict) return { ...from, findings }
  const met = { ...kind, afterMs }
  const more = (await awaitIdle(held)) ? await lookAfter(held, met) : [staysLocked(held, met, created.conflict)]
  return { ...from, findings: [...findings, ...more] }
}

/**
 * A creation at once after refused ones. Answered 409, it is a fault only if that is so in each of three looks, while a
 * creation without a refusal before it is granted in between; or if none is granted any more, for as long as a job may take.
 */
export async function lookAfter(held: Held, kind: Refusals): Promise<Finding[]> {
  const { run } = held
  const findings: Finding[] = []
  for (let look = 1; ; look++) {
    const sent = await refuseIdle(held, kind)
    findings.push(...sent.findings)
    if (sent.kind.refusals.length === 0) return findings
    await pause(run, kind.afterMs ?? 0)
    const created = await createAfter(held)
    findings.push(created)
    const { conflict } = created
    if (!conflict) return findings
    if (!(await awaitIdle(held))) return [...findings, staysLocked(held, kind, conflict)]
    // An application that is released late, or that somebody else uses, is busy without a refusal, too.
    if (!(await isFreeAtOnce(held, look))) {
      await awaitIdle(held)
      const busy = 'the application is not free at once after a job, even if no creation was refused before'
      return [...findings, open(busy)]
    }
    // Then each by itself: a job of somebody else is more likely to meet a long list than one request.
    if (kind.refusals.length > 1) return [...findings, ...(await lookAfterEach(held, kind))]
    if (look === maxLooks) return [...findings, failureOf(conflict, kind, `in ${look} attempts`)]
  }
}

/** Reports that no creation is granted any more, unless a job of this run goes on and on. */
function staysLocked(held: Held, kind: Refusals, exchange: Exchange): Finding {
  giveUp(held)
  const jobs = jobsOf(held.run).of(held.application.id)
  if (jobs.some(({ readings }) => readings.at(-1)?.status === 'in_progress'))
    return open('a job of this run on the application did not end')
  const { jobTimeoutMs } = held.run.target.limits
  return { ...failureOf(exchange, kind, `and for ${jobTimeoutMs} ms after that`), met: 'locked' }
}

function failureOf(exchange: Exchange, { what, afterMs }: Refusals, how: string): Finding {
  const when = afterMs === undefined ? 'at once' : `${afterMs} ms`
  const after = `with a valid body, ${when} after others were refused ${what}, ${how}`
  const expected = '202: a refused creation starts no job'
  return { of, cases: 1, failure: { exchange, expected, what: `${after} (somebody else's job would look the same)` } }
}

async function lookAfterEach(held: Held, kind: Refusals): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const refusal of kind.refusals) {
    findings.push(...(await lookAfter(held, { ...kind, what: refusal.what, refusals: [refusal] })))
    if (failureIn(findings) || held.gate.timedOut) break
  }
  return findings
}

/**
 * Creations one after the other, each at once after the end of a job, nothing refused in between; true if all are granted. One
 * more of them in each look, so that what comes in every so many requests does not keep step.
 */
async function isFreeAtOnce(held: Held, times: number): Promise<boolean> {
  for (let time = 0; time < times; time++) {
    const { job } = await create(held, of)
    if (job === undefined || !(await jobsOf(held.run).awaitEnds(held.application.id))) return false
  }
  return true
}

/** Waits until a creation is granted and its job has ended, at most `jobTimeoutMs`; false if none is granted. */
export async function awaitIdle(held: Held): Promise<boolean> {
  const { run, application, gate } = held
  // A wait that timed out is not repeated.
  const deadline = performance.now() + (gate.timedOut ? 0 : run.target.limits.jobTimeoutMs)
  while (await jobsOf(run).awaitEnds(application.id)) {
    const { exchange, job } = await create(held, of)
    if (job) return jobsOf(run).awaitEnds(application.id)
    if (exchange.throttled) throw new Throttled(`a creation was answered ${describeResponse(exchange)}`)
    if (performance.now() > deadline) return false
    await pause(run, releaseMs)
  }
  return false
}

/** Nothing else is asked of the application. */
export function giveUp({ gate }: Held): void {
  gate.gaveUp = gate.timedOut = true
}
