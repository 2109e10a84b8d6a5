import type { Exchange, Judge, Run } from '../../harness/engine/index.ts'
import {
  describeResponse,
  isGranted,
  NotExercised,
  oncePerRun,
  orElse,
  pause,
  sendWithRetries,
} from '../../harness/engine/index.ts'
import { control, declaredResource, grantedByScenario, notGranted } from '../../harness/checks/index.ts'
import { maxLooks } from '../created/relations.ts'
import type { Refusal } from '../created/created-object.ts'
import { kindsOf, type Refusals } from './faults.ts'
import { failureIn, type Finding, ids, isSettled } from './findings.ts'
import { create, gateOf, type Held, hold, releaseMs } from './gate.ts'
import { jobRequest, jobsOf } from './job-tracker.ts'

const of = ids.noEffect

/**
 * A refused request may start its job by a queue: creations so many ms after refusals in several ways. Until the first of them is
 * over, nothing goes to the application but the looks at each kind; then, in a full run, creations go between, and other
 * refusals last.
 */
const aloneMs = 500
const amongCreationsMs = 1000
const amongRefusalsMs = 1700

/** What creations at once after refused ones showed. */
interface AtOnce {
  readonly held: Held
  /** Findings of each kind of refusal, in the order of `kindsOf`. */
  readonly looks: readonly (readonly Finding[])[]
  /** Creations some time after these are still to be looked at. */
  readonly later?: Refused
}

/**
 * What refused creations do to an application that is idle, once a run: creations at once after each kind of refusal, before any
 * other is refused there.
 */
export function noEffectAtOnce(run: Run): Promise<AtOnce> {
  return oncePerRun(run, 'no effect at once', async () => {
    const application = declaredResource(run, 'application')
    const granted = await control(run, 'jobs.create')
    if (granted.state !== 'granted') throw notGranted(granted)
    const held = { run, application, gate: gateOf(run, application.id) }
    const { looks, later } = await held.gate.withExclusive(() => lookAlone(held))
    if (!later || run.options.depth === 'quick') return { held, looks }
    const next = await lookBetween(held, later, amongCreationsMs)
    const all = { held, looks: [[...looks[0]!, ...next.findings], ...looks.slice(1)] }
    return failureIn(next.findings) || held.gate.timedOut ? all : { ...all, later: next }
  })
}

/** The looks at once, and the first of those some time after; nothing else goes to the application. */
async function lookAlone(held: Held): Promise<Omit<AtOnce, 'held'>> {
  const { run, application, gate } = held
  // An application that is not free after a job, with no refusal in between, shows nothing of refusals.
  const wasFree = jobsOf(run).of(application.id).length > 1
  if (!wasFree && !(await awaitIdle(held))) {
    giveUp(held)
    throw new NotExercised('the application is busy even if no creation was refused before')
  }
  const looks: (readonly Finding[])[] = []
  const isOver = (): boolean => failureIn(looks.flat()) !== undefined || gate.timedOut
  const { delayed, atOnce } = await kindsOf(run, application)
  const later = delayed && (await refuseIdle(held, delayed))
  if (later) looks.push(later.findings)
  for (const kind of atOnce) {
    looks.push(await lookAfter(held, kind))
    if (isOver()) return { looks }
  }
  if (!later || later.kind.refusals.length === 0) return { looks }
  looks[0] = [...later.findings, ...(await lookLater(held, later, aloneMs))]
  return isOver() ? { looks } : { looks, later }
}

/** Nothing else is asked of the application. */
function giveUp({ gate }: Held): void {
  gate.gaveUp = gate.timedOut = true
}

/** Looks as `noEffectAtOnce` does, and some time after, while other creations are refused: a finding for each kind. */
export function noEffectFindings(run: Run): Promise<readonly Finding[]> {
  return oncePerRun(run, 'no effect', async () => {
    const { held, looks, later } = await noEffectAtOnce(run)
    const more = later && (await lookBetween(held, later, amongRefusalsMs))
    const all = more ? [[...looks[0]!, ...more.findings], ...looks.slice(1)] : looks
    const isLocked = all.flat().some(({ met }) => met === 'locked')
    const anyway = 'an application stays locked without refusals too'
    if (isLocked && (await locksAnyway(held))) return all.map(() => ({ of, cases: 1, open: anyway }))
    return all.map(inOne)
  })
}

/** What one kind of refusal showed. */
function inOne(findings: readonly Finding[]): Finding {
  const settled = findings.find(({ failure }) => failure) ?? findings.find(({ confirmed }) => confirmed)
  return { of, open: findings.findLast(({ open }) => open !== undefined)?.open ?? '', ...settled, cases: 1 }
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
  return orElse(
    run,
    () => hold(run, other, look),
    () => false,
  )
}

/** Creations that were to be refused. */
interface Refused {
  /** Those that were: what got no answer, or a job, is not sent again. */
  readonly kind: Refusals
  /** When the last was (`performance.now()`). */
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
    // One that is granted where it should not be is told by other requirements.
    const isOwn = exchange.probe.params['application_id'] === application.id
    if (isOwn && gate.record(exchange)) await jobsOf(run).awaitEnds(application.id)
  }
  return sent()
}

const open = (why: string): Finding => ({ of, cases: 1, open: why })

/** `refuseAll` on an application that is idle before it: waits for that as often as is looked. */
async function refuseIdle(held: Held, kind: Refusals): Promise<Refused> {
  let sent = await refuseAll(held, kind)
  for (let waits = 0; sent.isBusy && waits < maxLooks && (await awaitIdle(held)); waits++)
    sent = await refuseAll(held, kind)
  return sent.isBusy ? { ...sent, findings: [open('the application was busy before anything was refused')] } : sent
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

/** The application is asked for so long before a moment, in ms: a job of somebody else may have to end first. */
const leadMs = 200
/** A creation that comes later than that after its moment follows on refusals of its own, in ms. */
const lateMs = 300

/** A creation so many ms after refused ones, anew if that has passed; answered 409, it is looked at as `lookAfter` does. */
async function lookLater(held: Held, { kind, refusedAt }: Refused, afterMs: number): Promise<Finding[]> {
  const { run } = held
  const isLate = performance.now() - refusedAt - afterMs > lateMs
  const from = isLate ? await refuseIdle(held, kind) : { kind, refusedAt, findings: [] }
  if (from.kind.refusals.length === 0) return [...from.findings]
  await pause(run, Math.max(0, from.refusedAt + afterMs - performance.now()))
  const created = await createAfter(held)
  const findings = [...from.findings, created]
  if (!created.conflict) return findings
  const met = { ...kind, afterMs }
  const isFree = await awaitIdle(held)
  return [...findings, ...(isFree ? await lookAfter(held, met) : [staysLocked(held, met, created.conflict)])]
}

/**
 * Looks while other requests go to the application before and after. On a slow road that moment may be over: then refusals go
 * anew. A job of another requirement that does not end leaves what was seen before it.
 */
async function lookBetween(held: Held, later: Refused, afterMs: number): Promise<Refused> {
  const { run, gate } = held
  const alone = <T>(action: () => Promise<T>): Promise<T> => gate.withExclusive(action, { urgent: true })
  const leftMs = ({ refusedAt }: Refused): number => refusedAt + afterMs - leadMs - performance.now()
  const look = async (): Promise<Refused> => {
    const from = leftMs(later) < 0 ? await alone(() => refuseIdle(held, later.kind)) : later
    await pause(run, Math.max(0, leftMs(from)))
    return { ...from, findings: await alone(() => lookLater(held, from, afterMs)) }
  }
  return orElse(run, look, () => ({ ...later, findings: [] }))
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
      const busy = 'the application is not free at once after a job, even if no creation was refused before'
      return [...findings, open(busy)]
    }
    // Then each by itself: a job of somebody else is more likely to meet a long list than one request.
    if (kind.refusals.length > 1) return [...findings, ...(await lookAfterEach(held, kind))]
    if (look === maxLooks) return [...findings, failureOf(conflict, kind, `in ${look} attempts`)]
  }
}

/** No creation is granted any more: that is the failure, unless a job of this run goes on and on. */
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
async function awaitIdle(held: Held): Promise<boolean> {
  const { run, application, gate } = held
  // What was waited for once is not waited for again.
  const deadline = performance.now() + (gate.timedOut ? 0 : run.target.limits.jobTimeoutMs)
  while (await jobsOf(run).awaitEnds(application.id)) {
    if ((await create(held, of)).job) return jobsOf(run).awaitEnds(application.id)
    if (performance.now() > deadline) return false
    await pause(run, releaseMs)
  }
  return false
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
