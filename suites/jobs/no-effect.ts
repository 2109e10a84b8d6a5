import { isGranted } from '../../harness/engine/response.ts'
import { describeResponse } from '../../harness/engine/describe.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { NotExercised, pause } from '../../harness/engine/outcome.ts'
import type { Run } from '../../harness/engine/run.ts'
import { sendWithRetries } from '../../harness/engine/send-with-retries.ts'
import type { Judge } from '../../harness/engine/check-context.ts'
import { control, notGranted } from '../../harness/checks/control.ts'
import { granted } from '../../harness/checks/granted.ts'
import { declaredResource } from '../../harness/checks/valid-request.ts'
import type { ApplicationResource } from '../../harness/target-file/model.ts'
import { mostLooks } from '../created/relations.ts'
import {
  awaitJobs,
  type Conflict,
  create,
  type Finding,
  isSettled,
  newFinding,
  newFindings,
  releaseMs,
} from './conflict.ts'
import { gatesOf } from './gate.ts'
import { jobRequest, jobsOf } from './job-tracker.ts'
import { kindsOf, type Refusals } from './kinds-of-refusals.ts'

const requirement = 'jobs.create/4xx-no-effect'

/** A refused request may start its job by a queue: creations so many ms after refusals in several ways. */
const laterMs = { full: [500, 1000, 2000], quick: [500] }

/** Looks at an application, and what they found so far. */
interface Looks {
  readonly conflict: Conflict
  readonly findings: Finding[]
  locked: boolean
  /** When refusals in several ways ended, if creations some time after them are still to be looked at. */
  later?: { readonly kind: Refusals; readonly refusedAt: number }
}

/**
 * What refused creations do to an application that is idle, once a run: creations at once after each kind of refusal, before any
 * other is refused there.
 */
export function noEffectAtOnce(run: Run): Promise<Looks> {
  return run.once('no effect at once', async () => {
    const application = declaredResource(run, 'application')
    const granted = await control(run, 'jobs.create')
    if (granted.state !== 'granted') throw notGranted(granted)
    const gate = gatesOf(run).of(application.id)
    const conflict: Conflict = { run, application, gate, other: undefined, found: newFindings(false) }
    const looks: Looks = { conflict, findings: [], locked: false }
    await gate.withExclusive(async () => {
      // An application that is not free after a job, with no refusal in between, shows nothing of refusals.
      if (!(await awaitIdle(conflict))) {
        gate.gaveUp = gate.timedOut = true
        throw new NotExercised('the application is busy even if no creation was refused before')
      }
      for (const kind of await kindsOf(run, application)) {
        const finding = newFinding('')
        looks.findings.push(finding)
        if (kind.isLater) {
          if (await refuseIdle(conflict, kind, finding)) looks.later = { kind, refusedAt: performance.now() }
        } else looks.locked = await lookAfter(conflict, kind, finding)
        if (finding.failure || gate.timedOut) return
      }
    })
    return looks
  })
}

/** Looks as `noEffectAtOnce` does, and some time after, while other creations are refused. */
export function noEffect(run: Run): Promise<Finding & { locked: boolean }> {
  return run.once('no effect', async () => {
    const looks = await noEffectAtOnce(run)
    const { findings } = looks
    if (looks.later && !looks.conflict.gate.timedOut) await lookLater(looks, looks.later)
    const { locked } = looks
    if (locked && (await locksAnyway(run, looks.conflict.application)))
      return {
        ...newFinding('an application stays locked without refusals too'),
        cases: findings.length,
        locked: false,
      }
    const failed = findings.find(({ failure }) => failure)
    const settled = findings.filter(isSettled)
    const open = findings.find((finding) => !isSettled(finding))
    return {
      ...((failed ?? (settled.length === 0 && open)) || newFinding('')),
      confirmed: !failed && settled.length > 0,
      cases: findings.length,
      locked,
    }
  })
}

/** Whether another application stays locked as well, after as many jobs with no refusal between them. */
async function locksAnyway(run: Run, { id }: ApplicationResource): Promise<boolean> {
  const application = run.target.resources.otherApplication
  if (!application || application.id === id) return false
  const gate = gatesOf(run).of(application.id)
  const jobs = jobsOf(run).all.filter((job) => job.application === id).length
  const conflict: Conflict = { run, application, gate, other: undefined, found: newFindings(false) }
  try {
    return await gate.withExclusive(async () => {
      for (let made = 0; made <= jobs; made++) if (!(await awaitIdle(conflict))) return true
      return false
    })
  } catch (error) {
    // If nothing can be learned there, the refusals are what is known.
    if (!(error instanceof NotExercised) || run.life.ended) throw error
    return false
  }
}

/**
 * Sends each creation that is to be refused; true if one of them was. A granted one is waited for. `busy`: the first was
 * answered 409, so that the application was not idle before any of these.
 */
async function refuseAll(
  { run, application, gate }: Conflict,
  { refusals }: Refusals,
  finding: Finding,
): Promise<boolean | 'busy'> {
  let isRefused = false
  for (const { requirement: of, statuses, change } of refusals) {
    const purpose = { requirement: requirement, about: `jobs.create/${of}`, role: 'setup', badInput: true } as const
    const exchange = await sendWithRetries(run, await change(await jobRequest(run, application)), purpose)
    if (statuses.includes(exchange.response?.status ?? 0)) isRefused = true
    else if (!isRefused && exchange.response?.status === 409) return 'busy'
    else finding.inconclusive = `a creation that should be refused was answered ${describeResponse(exchange)}`
    // One that is granted where it should not be is told by other requirements.
    if (gate.record(exchange)) await awaitJobs(run, application.id)
  }
  return isRefused
}

/** `refuseAll` on an application that is idle before it: waits for that as often as is looked. */
async function refuseIdle(conflict: Conflict, kind: Refusals, finding: Finding): Promise<boolean> {
  let sent = await refuseAll(conflict, kind, finding)
  for (let waits = 0; sent === 'busy' && waits < mostLooks && (await awaitIdle(conflict)); waits++)
    sent = await refuseAll(conflict, kind, finding)
  if (sent === 'busy') finding.inconclusive = 'the application was busy before anything was refused'
  return sent === true
}

/** A creation after refused ones: its exchange if it is answered 409, else whether it was granted or nothing is learned. */
async function createAfter(
  { run, application, gate }: Conflict,
  finding: Finding,
): Promise<Exchange | 'granted' | 'open'> {
  const exchange = await create(run, application, requirement)
  const job = gate.record(exchange)
  finding.cases++
  if (exchange.response && isGranted(exchange.response)) {
    finding.confirmed = true
    if (job && !(await awaitJobs(run, application.id))) gate.timedOut = true
    return 'granted'
  }
  if (exchange.response?.status === 409) return exchange
  finding.inconclusive = `the creation after a refused one was answered ${describeResponse(exchange)}`
  return 'open'
}

/** If a creation comes later than that after its moment, it and the next ones follow on refusals of their own, in ms. */
const lateMs = 250

/** A creation at each of `laterMs` after refused ones. One that is answered 409 is looked at as `lookAfter` does. */
async function lookLater(looks: Looks, { kind, refusedAt }: NonNullable<Looks['later']>): Promise<void> {
  const { conflict, findings } = looks
  const { run, gate } = conflict
  const finding = findings.at(-1) as Finding
  let since = refusedAt
  for (const afterMs of laterMs[run.options.depth]) {
    await pause(run, Math.max(0, since + afterMs - performance.now()))
    await gate.withExclusive(async () => {
      const met = { ...kind, afterMs }
      if (performance.now() - since - afterMs > lateMs) {
        if (!(await refuseIdle(conflict, kind, finding))) return
        since = performance.now()
        await pause(run, afterMs)
      }
      const exchange = await createAfter(conflict, finding)
      if (typeof exchange === 'string') return
      looks.locked = (await awaitIdle(conflict))
        ? await lookAfter(conflict, met, finding)
        : staysLocked(conflict, met, finding, exchange)
    })
    if (finding.failure || gate.timedOut) return
  }
}

/**
 * A creation at once after refused ones. Answered 409, it is a fault only if that is so in each of three looks, while a
 * creation without a refusal before it is granted in between; or if none is granted any more, for as long as a job may take.
 * True if the application stays locked.
 */
async function lookAfter(conflict: Conflict, kind: Refusals, finding: Finding): Promise<boolean> {
  const { run } = conflict
  for (let look = 1; ; look++) {
    if (!(await refuseIdle(conflict, kind, finding))) return false
    await pause(run, kind.afterMs ?? 0)
    const exchange = await createAfter(conflict, finding)
    if (typeof exchange === 'string') return false
    if (!(await awaitIdle(conflict))) return staysLocked(conflict, kind, finding, exchange)
    // An application that is released late, or that somebody else uses, is busy without a refusal, too.
    if (!(await isFreeAtOnce(conflict, look))) {
      finding.inconclusive = 'the application is not free at once after a job, even if no creation was refused before'
      await awaitIdle(conflict)
      return false
    }
    // Then each by itself: a job of somebody else is more likely to meet a long list than one request.
    if (kind.refusals.length > 1) return lookAfterEach(conflict, kind, finding)
    if (look < mostLooks) continue
    finding.failure = failureOf(exchange, kind, `in ${look} attempts`)
    return false
  }
}

/** No creation is granted any more: that is the failure, and nothing else is asked of the application. */
function staysLocked({ run, gate }: Conflict, kind: Refusals, finding: Finding, exchange: Exchange): true {
  finding.failure = failureOf(exchange, kind, `and for ${run.target.limits.jobTimeoutMs} ms after that`)
  gate.gaveUp = gate.timedOut = true
  return true
}

function failureOf(exchange: Exchange, kind: Refusals, how: string): NonNullable<Finding['failure']> {
  const what = `with a valid body, ${when(kind)} after others were refused ${kind.what}, ${how}`
  const expected = '202: a refused creation starts no job'
  return { exchange, expected, what: `${what} (somebody else's job would look the same)` }
}

async function lookAfterEach(conflict: Conflict, kind: Refusals, finding: Finding): Promise<boolean> {
  for (const refusal of kind.refusals) {
    const locked = await lookAfter(conflict, { ...kind, what: refusal.what, refusals: [refusal] }, finding)
    if (finding.failure || conflict.gate.timedOut) return locked
  }
  return false
}

const when = ({ afterMs }: Refusals): string => (afterMs === undefined ? 'at once' : `${afterMs} ms`)

/**
 * Creations one after the other, each at once after the end of a job, nothing refused in between; true if all are granted. One
 * more of them in each look, so that what comes in every so many requests does not keep step.
 */
async function isFreeAtOnce({ run, application, gate }: Conflict, times: number): Promise<boolean> {
  for (let time = 0; time < times; time++) {
    const job = gate.record(await create(run, application, requirement))
    if (job === undefined || !(await awaitJobs(run, application.id))) return false
  }
  return true
}

/** Waits until a creation is granted and its job has ended, at most `jobTimeoutMs`; false if none is granted. */
async function awaitIdle({ run, application, gate }: Conflict): Promise<boolean> {
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  while (await awaitJobs(run, application.id)) {
    if (gate.record(await create(run, application, requirement))) return awaitJobs(run, application.id)
    if (performance.now() > deadline) return false
    await pause(run, releaseMs)
  }
  return false
}

/** A refused creation starts no job, and leaves the application free. */
export const judgeNoEffect: Judge = async (context) => {
  if (context.run.target.scenarios[requirement]) return granted('as the scenario of the target file says')(context)
  const { failure, confirmed, inconclusive, cases } = await noEffect(context.run)
  context.control = 'granted'
  context.cases += cases
  if (failure) context.fail(failure.exchange, failure.expected, failure.what, failure.actual)
  if (!confirmed) throw new NotExercised(inconclusive)
}
