import type { Judge, Run } from '../../harness/engine/index.ts'
import { NotExercised, oncePerRun, orElse } from '../../harness/engine/index.ts'
import { declaredResource, grantedByScenario, grantedControl } from '../../harness/checks/index.ts'
import { kindsOf } from './faults.ts'
import { failureIn, type Finding, ids, isSettled } from './findings.ts'
import { gateOf, type Held, hold } from './gate.ts'
import { jobsOf } from './job-tracker.ts'
import { awaitIdle, giveUp, lookAfter, lookLater, type Moment, refuseIdle } from './look-after-refusals.ts'

const of = ids.noEffect

/** A refused request may start its job by a queue: creations so many ms after refusals in several ways. */
const moments: readonly Moment[] = [
  { afterMs: 500, untilMs: 1000 },
  { afterMs: 1000, untilMs: 1700 },
  { afterMs: 1700, untilMs: 2000 },
]

/**
 * Looks, once a run, how refused creations affect an idle application, before any other is refused there: creates at once after each
 * kind of refusal, and some time after all of them. A finding for each kind.
 */
export function noEffectFindings(run: Run): Promise<readonly Finding[]> {
  return oncePerRun(run, 'no effect', async () => {
    const application = declaredResource(run, 'application')
    await grantedControl(run, 'jobs.create')
    const held = { run, application, gate: gateOf(run, application.id) }
    const looks = await held.gate.withExclusive(() => lookAlone(held))
    const isLocked = looks.flat().some(({ met }) => met === 'locked')
    const anyway = 'an application stays locked without refusals too'
    if (isLocked && (await locksAnyway(held))) return looks.map(() => ({ of, cases: 1, open: anyway }))
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
  const looks: (readonly Finding[])[] = []
  const isOver = (): boolean => failureIn(looks.flat()) !== undefined || gate.timedOut
  for (const kind of atOnce) if (!isOver()) looks.push(await lookAfter(held, kind))
  if (!delayed || isOver()) return looks
  let later = await refuseIdle(held, delayed)
  const findings = [...later.findings]
  for (const moment of run.options.depth === 'quick' ? moments.slice(0, 1) : moments) {
    if (failureIn(findings) || gate.timedOut) break
    later = await lookLater(held, later, moment)
    findings.push(...later.findings)
  }
  return [findings, ...looks]
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
