import type { Exchange, Judge, Run } from '../../harness/engine/index.ts'
import {
  describeResponse,
  isGranted,
  NotExercised,
  oncePerRun,
  orElse,
  pause,
  sendWithRetries,
  Throttled,
} from '../../harness/engine/index.ts'
import { declaredResource, grantedByScenario, grantedControl } from '../../harness/checks/index.ts'
import type { Refusal } from '../created/created-object.ts'
import { maxLooks } from '../created/relations.ts'
import { kindsOf, type Refusals } from './faults.ts'
import { failureIn, type Finding, ids, isSettled } from './findings.ts'
import { create, gateOf, type Held, hold, releaseMs } from './gate.ts'
import { jobRequest, jobsOf } from './job-tracker.ts'

const of = ids.noEffect

/** Creations that were to be refused. */
interface Refused {
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
  const sent = () => ({
    kind: { ...kind, refusals: refused },
    refusedAt: performance.now(),
    findings,
  })
  for (const refusal of kind.refusals) {
    const { requirement, statuses, change } = refusal
    const purpose = {
      requirement: of,
      about: `jobs.create/${requirement}`,
      role: 'setup',
      badInput: true,
    } as const
    const exchange = await sendWithRetries(
      run,
      await change(await jobRequest(run, application)),
      purpose,
    )
    if (statuses.includes(exchange.response?.status ?? 0)) refused.push(refusal)
    else if (refused.length === 0 && exchange.response?.status === 409)
      return { ...sent(), isBusy: true }
    else
      findings.push(
        open(`a creation that should be refused was answered ${describeResponse(exchange)}`),
      )
    // Other requirements report a creation that is granted although it should be refused.
    const isOwn = exchange.probe.params['application_id'] === application.id
    if (isOwn && gate.record(exchange)) await jobsOf(run).awaitEnds(application.id)
  }
  return sent()
}

const open = (why: string): Finding => ({ of, cases: 1, open: why })

/** `refuseAll` on an application that is idle before it: waits for that as often as is looked. */
async function refuseIdle(held: Held, kind: Refusals): Promise<Refused> {
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
interface Moment {
  readonly afterMs: number
  readonly untilMs: number
}

/** A creation at that moment after refused ones; answered 409, it is looked at as `lookAfter` does. */
async function lookLater(
  held: Held,
  { kind, refusedAt }: Refused,
  moment: Moment,
): Promise<Refused> {
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
  const more = (await awaitIdle(held))
    ? await lookAfter(held, met)
    : [staysLocked(held, met, created.conflict)]
  return { ...from, findings: [...findings, ...more] }
}

/**
 * A creation at once after refused ones. Answered 409, it is a fault only if that is so in each of three looks, while a
 * creation without a refusal before it is granted in between; or if none is granted any more, for as long as a job may take.
 */
async function lookAfter(held: Held, kind: Refusals): Promise<Finding[]> {
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
      const busy =
        'the application is not free at once after a job, even if no creation was refused before'
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
  return {
    of,
    cases: 1,
    failure: { exchange, expected, what: `${after} (somebody else's job would look the same)` },
  }
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
async function awaitIdle(held: Held): Promise<boolean> {
  const { run, application, gate } = held
  // A wait that timed out is not repeated.
  const deadline = performance.now() + (gate.timedOut ? 0 : run.target.limits.jobTimeoutMs)
  while (await jobsOf(run).awaitEnds(application.id)) {
    const { exchange, job } = await create(held, of)
    if (job) return jobsOf(run).awaitEnds(application.id)
    if (exchange.throttled)
      throw new Throttled(`a creation was answered ${describeResponse(exchange)}`)
    if (performance.now() > deadline) return false
    await pause(run, releaseMs)
  }
  return false
}

/** Nothing else is asked of the application. */
function giveUp({ gate }: Held): void {
  gate.gaveUp = gate.timedOut = true
}

/** A refused request may start its job by a queue: creations so many ms after refusals in several ways. */
const moments = [
  { afterMs: 500, untilMs: 1000 },
  { afterMs: 1000, untilMs: 1700 },
  { afterMs: 1700, untilMs: 2000 },
] as const satisfies readonly Moment[]

/**
 * Looks, once a run, how refused creations affect an idle application, before any other is refused there: creates at once after each
 * kind of refusal, and at several moments after all of them. A finding for each kind.
 */
export function noEffectFindings(run: Run): Promise<readonly Finding[]> {
  return oncePerRun(run, 'no effect', async () => {
    const application = declaredResource(run, 'application')
    await grantedControl(run, 'jobs.create')
    const held = { run, application, gate: gateOf(run, application.id) }
    const looks = await held.gate.withExclusive(() => lookAlone(held))
    const isLocked = looks.flat().some(({ met }) => met === 'locked')
    const anyway = 'an application stays locked without refusals too'
    if (isLocked && (await locksAnyway(held)))
      return looks.map(() => ({ of, cases: 1, open: anyway }))
    return looks.map(inOne)
  })
}

/** Findings of each kind of refusal; nothing else goes to the application. */
async function lookAlone(held: Held): Promise<readonly (readonly Finding[])[]> {
  const { run, application, gate } = held
  // An application that is not free after a job, with no refusal in between, shows nothing of refusals.
  const wasFree = jobsOf(run).of(application.id).length > 1
  if (!wasFree && !(await awaitIdle(held))) {
    giveUp(held)
    throw new NotExercised('the application is busy even if no creation was refused before')
  }
  const { delayed, atOnce } = await kindsOf(run, application)
  const findings: Finding[] = []
  const looks: (readonly Finding[])[] = delayed ? [findings] : []
  const isOver = (): boolean => failureIn(looks.flat()) !== undefined || gate.timedOut
  const left = [...atOnce]
  const began = performance.now()
  let later = delayed && (await refuseIdle(held, delayed))
  const refusingMs = performance.now() - began
  findings.push(...(later?.findings ?? []))
  for (const moment of run.options.depth === 'quick' ? moments.slice(0, 1) : moments) {
    if (!later || isOver()) break
    later = await lookLater(held, later, moment)
    findings.push(...later.findings)
    const lookMs = refusingMs + Math.max(0, performance.now() - later.refusedAt - moment.afterMs)
    const fits = (until: number): boolean =>
      left.length > 0 && !isOver() && performance.now() + lookMs <= until
    // Jobs begin late seldom: what fits into the last pause comes there. If it had to wait, what it met is looked for anew.
    while (moment === moments[1] && fits(later.refusedAt + moments[2].untilMs)) {
      const before = jobsOf(run).of(application.id).length
      looks.push(await lookAfter(held, left.shift()!))
      if (jobsOf(run).of(application.id).length !== before + 1)
        later = { ...later, refusedAt: -Infinity }
    }
  }
  for (const kind of left) if (!isOver()) looks.push(await lookAfter(held, kind))
  return looks
}

/** Joins the findings of one kind of refusal. */
function inOne(findings: readonly Finding[]): Finding {
  const settled =
    findings.find(({ failure }) => failure) ?? findings.find(({ confirmed }) => confirmed)
  return {
    of,
    open: findings.findLast(({ open }) => open !== undefined)?.open ?? '',
    ...settled,
    cases: 1,
  }
}

/** Whether another application stays locked as well, after as many jobs with no refusal between them. */
async function locksAnyway({ run, application: { id } }: Held): Promise<boolean> {
  const other = run.target.resources.otherApplication
  if (!other || other.id === id) return false
  const jobs = jobsOf(run).of(id).length
  const look = async (held: Held): Promise<boolean> => {
    for (let made = 0; made <= jobs; made++) if (!(await awaitIdle(held))) return true
    return false
  }
  // If nothing can be learned there, the refusals are what is known.
  return (await orElse(run, () => hold(run, other, look))) === true
}

/** A refused creation starts no job, and leaves the application free. */
export const judgeNoEffect: Judge = async (context) => {
  const { run } = context
  if (context.scenario) return grantedByScenario(context)
  const findings = await noEffectFindings(run)
  context.control = 'granted'
  context.cases += findings.length
  const failure = failureIn(findings)
  if (failure) context.fail(failure.exchange, failure.expected, failure.what)
  if (!isSettled(findings, of)) throw new NotExercised(findings[0]?.open ?? '')
}
