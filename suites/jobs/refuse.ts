import { declaredResource, grantedControl } from '../../harness/checks/index.ts'
import { isConflict } from '../../harness/history/index.ts'
import { NotExercised, pause, askHolding } from '../../harness/engine/index.ts'
import type { Run } from '../../harness/engine/index.ts'
import type { Refusal } from '../created/created-object.ts'
import { type Held, hold, holdOrSkip, isBroken, untilFree } from './application.ts'
import { kindsOf } from './faults.ts'
import { moments, timesAlike, windowMs } from './no-effect.ts'
import { create, eventOf, jobRequest } from './requests.ts'
import { ids } from './rules.ts'

/** Sends creations that are to be refused to an idle application; what is granted nevertheless is waited for. */
async function refuse(
  { run, application, settle }: Held,
  refusals: readonly Refusal[],
): Promise<void> {
  for (const { requirement, what, change } of refusals) {
    const about = `jobs.create/${requirement}`
    const role = { role: 'setup', badInput: true } as const
    const probe = await change(await jobRequest(run, application))
    const purpose = { ...role, requirement: ids.noEffect, about, what }
    const exchange = await askHolding(run, probe, purpose)
    if (eventOf(run, exchange).isGranted) await settle()
  }
}

/** A valid creation whose job is waited for; false if it is answered 409. */
async function createAfter({ run, application, settle, giveUp }: Held): Promise<boolean> {
  const made = await create(run, application, ids.noEffect)
  if (isConflict(made)) return false
  if (!(await settle())) throw giveUp('still had a job in progress')
  return true
}

/** Refusals, and how long after them a creation comes, in ms. */
interface Look {
  readonly refusals: readonly Refusal[]
  readonly afterMs: number
}

/** A creation, after those refusals if there are any. `freed`: it was answered 409, but not a later one; `lost`: all were. */
async function look(held: Held, after?: Look): Promise<'granted' | 'freed' | 'lost'> {
  if (after) {
    await refuse(held, after.refusals)
    await pause(held.run, after.afterMs)
  }
  if (await createAfter(held)) return 'granted'
  return (await untilFree(held, ids.noEffect)) ? 'freed' : 'lost'
}

/**
 * A creation at that moment after a refusal, three times if it is answered 409 each time, with others in between that nothing
 * was refused before; one more of them each time, so that what comes in every so many requests does not keep step.
 */
async function lookClosely(held: Held, refusal: Refusal, afterMs: number): Promise<void> {
  for (let time = 1; time <= timesAlike; time++) {
    await pause(held.run, windowMs)
    for (let bare = 0; bare <= time; bare++) if ((await look(held)) !== 'granted') return
    if ((await look(held, { refusals: [refusal], afterMs })) !== 'freed') return
  }
}

/**
 * Creations after refused ones, once a run, before any other is refused there: at once after each kind of refusal, and at
 * several moments after all of them, since a refused request may start its job by a queue.
 */
export async function provokeRefusals(run: Run): Promise<void> {
  const application = declaredResource(run, 'application')
  await grantedControl(run, 'jobs.create')
  const locking = await hold(run, application, lookAlone)
  const other = run.target.resources.otherApplication
  // The same on another application: one that stays free after them shows that it is not they that lock one.
  if (locking && other?.id !== application.id)
    await holdOrSkip(run, other, async (held) => {
      if (await createAfter(held)) await look(held, locking)
    })
}

/** A refusal and a creation after it take about so long, in ms. */
const nextLookMs = 150

/** Gives the look since which the application takes no creation any more, if it is so. */
async function lookAlone(held: Held): Promise<Look | undefined> {
  const { run, application, isGivenUp } = held
  // An application that is not free after a job, with no refusal in between, shows nothing of refusals.
  if (held.jobs().length <= 1 && (await look(held)) === 'lost')
    throw new NotExercised('the application is busy even if no creation was refused before')
  const { delayed, atOnce: left } = await kindsOf(run, application)
  const isOver = (): boolean => isGivenUp() || isBroken(run, ids.noEffect)
  let last: Look | undefined
  const lookAfter = async (refusals: readonly Refusal[], afterMs: number): Promise<void> => {
    last = { refusals, afterMs }
    if ((await look(held)) !== 'freed') return
    // Somebody else's job is more likely to meet a long list than one request: all of them once more, with nothing else before.
    if (refusals.length > 1) {
      await pause(run, windowMs)
      if ((await look(held, last)) !== 'freed') return
    }
    for (const refusal of refusals) if (!isOver()) await lookClosely(held, refusal, afterMs)
  }
  const next = async (): Promise<void> => {
    const refusals = left.shift()!
    await refuse(held, refusals)
    await lookAfter(refusals, 0)
  }
  if (delayed) {
    await refuse(held, delayed)
    const refusedAt = performance.now()
    for (const afterMs of run.options.depth === 'quick' ? moments.slice(0, 1) : moments) {
      await pause(run, Math.max(0, refusedAt + afterMs - performance.now()))
      if (!isOver()) await lookAfter(delayed, afterMs)
      // Jobs begin late seldom: what fits into the last pause comes there.
      const until = afterMs === moments[1] ? refusedAt + moments[2] - nextLookMs : 0
      while (left.length > 0 && performance.now() < until && !isOver()) await next()
    }
  }
  while (left.length > 0 && !isOver()) await next()
  return isGivenUp() ? last : undefined
}
