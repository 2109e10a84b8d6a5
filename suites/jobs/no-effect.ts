import type { Exchange, Judge, Run } from '../../harness/engine/index.ts'
import { NotExercised, oncePerRun, orElse, pause } from '../../harness/engine/index.ts'
import { declaredResource, grantedByScenario, grantedControl } from '../../harness/checks/index.ts'
import { kindsOf } from './faults.ts'
import { failureIn, type Finding, ids, isSettled } from './findings.ts'
import { gateOf, type Held, hold } from './gate.ts'
import { jobsOf, longestMs } from './job-tracker.ts'
import {
  awaitIdle,
  giveUp,
  lookAfter,
  lookLater,
  type Moment,
  refuseIdle,
  type Refused,
} from './look-after-refusals.ts'

const of = ids.noEffect

/**
 * A refused request may start its job by a queue: creations so many ms after refusals in several ways. Until the first of them is
 * over, nothing goes to the application but the looks at each kind; then creations may go between, and other refusals last.
 */
const first: Moment = { afterMs: 500, untilMs: 1000 }
const second: Moment = { afterMs: 1000, untilMs: 1700 }
const last: Moment = { afterMs: 1700, untilMs: 2000 }

/** Findings of creations that came at once after refused ones. */
interface AtOnce {
  readonly held: Held
  /** Findings of each kind of refusal, in the order of `kindsOf`. */
  readonly looks: readonly (readonly Finding[])[]
  /** Refusals some time after which creations are still to be looked at, if there are any. */
  readonly later?: Refused | undefined
}

/**
 * Finds, once a run, how refused creations affect an idle application: creates at once after each kind of refusal, before any
 * other is refused there.
 */
export function noEffectAtOnce(run: Run): Promise<AtOnce> {
  return oncePerRun(run, 'no effect at once', async () => {
    const application = declaredResource(run, 'application')
    await grantedControl(run, 'jobs.create')
    const held = { run, application, gate: gateOf(run, application.id) }
    const { isShort, looks, later } = await held.gate.withExclusive(() => lookAlone(held))
    if (!later || !isShort) return { held, looks, later }
    const next = await lookBetween(held, later, second)
    const isOver = failureIn(next.findings) !== undefined || held.gate.timedOut
    return { held, looks: withMore(looks, next), later: isOver ? undefined : next }
  })
}

function withMore([delayed = [], ...atOnce]: AtOnce['looks'], { findings }: Refused): AtOnce['looks'] {
  return [[...delayed, ...findings], ...atOnce]
}

/**
 * Time left until the application is to be asked for, so many ms after refusals: some time before that moment, since a job of
 * somebody else may have to end first.
 */
function leftMs({ run, application }: Held, { refusedAt }: Refused, ms: number): number {
  const leadMs = Math.min(200, 2 * (longestMs(jobsOf(run).of(application.id)) ?? Infinity))
  return refusedAt + ms - leadMs - performance.now()
}

/** The looks at once, and the first of those some time after; nothing else goes to the application. */
async function lookAlone(held: Held): Promise<Omit<AtOnce, 'held'> & { readonly isShort: boolean }> {
  const { run, application, gate } = held
  // An application that is not free after a job, with no refusal in between, shows nothing of refusals.
  const wasFree = jobsOf(run).of(application.id).length > 1
  if (!wasFree && !(await awaitIdle(held))) {
    giveUp(held)
    throw new NotExercised('the application is busy even if no creation was refused before')
  }
  const { delayed, atOnce } = await kindsOf(run, application)
  // Jobs that take long do not fit into the pauses: each moment would be missed.
  const isShort =
    (longestMs(jobsOf(run).of(application.id)) ?? Infinity) * atOnce.length <= (first.afterMs + first.untilMs) / 2
  let later = delayed && (await refuseIdle(held, delayed))
  let looks: AtOnce['looks'] = later ? [later.findings] : []
  const isOver = (): boolean => failureIn(looks.flat()) !== undefined || gate.timedOut
  const lookAtEach = async (): Promise<void> => {
    for (const kind of atOnce) if (!isOver()) looks = [...looks, await lookAfter(held, kind, later?.kind)]
  }
  const lookAtSome = async (): Promise<void> => {
    for (const moment of isShort || run.options.depth === 'quick' ? [first] : [first, second]) {
      if (!later || isOver()) return
      later = await lookLater(held, later, moment)
      looks = withMore(looks, later)
    }
  }
  for (const look of isShort ? [lookAtEach, lookAtSome] : [lookAtSome, lookAtEach]) await look()
  if (!later || isOver() || run.options.depth === 'quick') return { looks, isShort }
  // On a slow road the next moment may be over by now, too.
  const isLate = leftMs(held, later, (isShort ? second : last).untilMs) < 0
  return { looks, isShort, later: isLate ? await refuseIdle(held, later.kind) : later }
}

/** Looks as `noEffectAtOnce` does, and some time after, while other creations are refused: a finding for each kind. */
export function noEffectFindings(run: Run): Promise<readonly Finding[]> {
  return oncePerRun(run, 'no effect', async () => {
    const { held, looks, later } = await noEffectAtOnce(run)
    const all = later ? withMore(looks, await lookBetween(held, later, last)) : looks
    const isLocked = all.flat().some(({ met }) => met === 'locked')
    const anyway = 'an application stays locked without refusals too'
    if (isLocked && (await locksAnyway(held))) return all.map(() => ({ of, cases: 1, open: anyway }))
    return all.map(inOne)
  })
}

/**
 * Looks while other requests go to the application before and after: if the moment is over then, refusals go anew. An
 * application that another requirement has found busy, or may have locked itself, leaves what was seen before that.
 */
async function lookBetween(held: Held, later: Refused, moment: Moment): Promise<Refused> {
  const { run, gate } = held
  const nothing: Refused = { ...later, findings: [] }
  const alone = (action: () => Promise<Refused>): Promise<Refused> =>
    gate.withExclusive(async () => (gate.timedOut ? nothing : action()), { urgent: true })
  const look = async (): Promise<Refused> => {
    const from = leftMs(held, later, moment.untilMs) < 0 ? await alone(() => refuseIdle(held, later.kind)) : later
    await pause(run, Math.max(0, leftMs(held, from, moment.afterMs)))
    const found = await alone(() => lookLater(held, from, moment))
    if (!othersCreated(held, later.refusedAt)) return found
    // `409-released` reports that the application stays locked.
    return { ...found, findings: found.findings.filter(({ met }) => met !== 'locked') }
  }
  return orElse(run, look, () => nothing)
}

/** Whether other requirements have created on the application since that time, or may have. */
function othersCreated({ run, application: { id }, gate }: Held, since: number): boolean {
  const { creations, broken } = jobsOf(run)
  const isOther = ({ probe, purpose, sentAt }: Exchange): boolean =>
    sentAt > since && purpose.requirement !== of && probe.params['application_id'] === id
  return (gate.lostAt ?? -Infinity) > since || [...creations, ...broken].some(isOther)
}

/** Joins the findings of one kind of refusal. */
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
