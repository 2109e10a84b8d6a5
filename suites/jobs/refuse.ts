import { declaredResource, grantedControl } from '../../harness/checks/index.ts'
import {
  NotExercised,
  oncePerRun,
  orElse,
  pause,
  sendWithRetries,
} from '../../harness/engine/index.ts'
import type { Run } from '../../harness/engine/index.ts'
import { historyOf } from '../../harness/history/index.ts'
import type { Refusal } from '../created/created-object.ts'
import { accessTo, create, createdBy, jobRequest } from './applications.ts'
import { timesAlike } from './conflict-rules.ts'
import { type Held, hold, ids, isBroken, settle, untilFree } from './held.ts'
import { kindsOf } from './faults.ts'
import { isConflict, jobsOn } from './jobs.ts'
import { moments, windowMs } from './no-effect-rule.ts'

/** Sends creations that are to be refused to an idle application; what is granted nevertheless is waited for. */
async function refuse(held: Held, refusals: readonly Refusal[]): Promise<void> {
  const { run, application } = held
  for (const { requirement, what, change } of refusals) {
    const about = `jobs.create/${requirement}`
    const purpose = {
      requirement: ids.noEffect,
      about,
      role: 'setup',
      badInput: true,
      what,
    } as const
    const probe = await change(await jobRequest(run, application))
    const exchange = await sendWithRetries(run, probe, purpose)
    if (createdBy(run, exchange).isGranted) await settle(held)
  }
}

/** A valid creation whose job is waited for; false if it is answered 409. */
async function createAfter(held: Held): Promise<boolean> {
  const made = await create(held.run, held.application, ids.noEffect)
  if (isConflict(made)) return false
  if (!(await settle(held)))
    throw accessTo(held.run, held.application.id).giveUp('still had a job in progress')
  return true
}

/**
 * A creation at that moment after a refusal, three times if it is answered 409 each time, with others in between that nothing
 * was refused before; one more of them each time, so that what comes in every so many requests does not keep step.
 */
async function lookClosely(held: Held, refusal: Refusal, afterMs: number): Promise<void> {
  const { run } = held
  for (let look = 1; look <= timesAlike; look++) {
    await pause(run, windowMs)
    for (let bare = 0; bare <= look; bare++)
      if (!(await createAfter(held))) return void (await free(held))
    await refuse(held, [refusal])
    await pause(run, afterMs)
    if (await createAfter(held)) return
    if (!(await free(held))) return
  }
}

/** After a 409: waits until the application is free; if it is not any more, looks whether it is the refusals that lock one. */
const free = (held: Held): Promise<boolean> => untilFree(held, ids.noEffect)

/** Refusals, and how long after them a creation comes, in ms. */
interface Look {
  readonly refusals: readonly Refusal[]
  readonly afterMs: number
}

/** The same refusals on another application: one that stays free after them shows that it is not they that lock one. */
async function lookElsewhere(
  { run, application }: Held,
  { refusals, afterMs }: Look,
): Promise<void> {
  const other = run.target.resources.otherApplication
  if (!other || other.id === application.id) return
  await orElse(run, () =>
    hold(run, other, async (held) => {
      if (!(await createAfter(held))) return
      await refuse(held, refusals)
      await pause(run, afterMs)
      if (!(await createAfter(held))) await free(held)
    }),
  )
}

/**
 * Creations after refused ones, once a run, before any other is refused there: at once after each kind of refusal, and at
 * several moments after all of them, since a refused request may start its job by a queue.
 */
export function provokeRefusals(run: Run): Promise<void> {
  return oncePerRun(run, 'refused creations', async () => {
    const application = declaredResource(run, 'application')
    await grantedControl(run, 'jobs.create')
    const locking = await hold(run, application, lookAlone)
    if (locking) await lookElsewhere({ run, application }, locking)
  })
}

/** Gives the look since which the application takes no creation any more, if it is so. */
async function lookAlone(held: Held): Promise<Look | undefined> {
  const { run, application } = held
  const access = accessTo(run, application.id)
  // An application that is not free after a job, with no refusal in between, shows nothing of refusals.
  const wasFree = jobsOn(historyOf(run), application.id).length > 1
  if (!wasFree && !(await createAfter(held)) && !(await free(held)))
    throw new NotExercised('the application is busy even if no creation was refused before')
  const { delayed, atOnce } = await kindsOf(run, application)
  const left = atOnce.map(({ refusals }) => refusals)
  const isOver = (): boolean => access.isGivenUp || isBroken(run, ids.noEffect)
  let last: Look | undefined
  const look = async (refusals: readonly Refusal[], afterMs: number): Promise<void> => {
    last = { refusals, afterMs }
    if ((await createAfter(held)) || !(await free(held))) return
    // Somebody else's job is more likely to meet a long list than one request.
    if (refusals.length > 1 && (await isHarmlessAgain(held, refusals, afterMs))) return
    for (const refusal of refusals) if (!isOver()) await lookClosely(held, refusal, afterMs)
  }
  const next = async (): Promise<void> => {
    const refusals = left.shift()!
    await refuse(held, refusals)
    await look(refusals, 0)
  }
  if (delayed) {
    await refuse(held, delayed.refusals)
    const refusedAt = performance.now()
    for (const afterMs of run.options.depth === 'quick' ? moments.slice(0, 1) : moments) {
      await pause(run, Math.max(0, refusedAt + afterMs - performance.now()))
      if (!isOver()) await look(delayed.refusals, afterMs)
      // Jobs begin late seldom: what fits into the last pause comes there.
      const until = afterMs === moments[1] ? refusedAt + moments[2] - nextLookMs : 0
      while (left.length > 0 && performance.now() < until && !isOver()) await next()
    }
  }
  while (left.length > 0 && !isOver()) await next()
  return access.isGivenUp ? last : undefined
}

/** A refusal and a creation after it take about so long, in ms. */
const nextLookMs = 150

/** Whether all of them once more, with nothing else refused before, leave the application free. */
async function isHarmlessAgain(
  held: Held,
  refusals: readonly Refusal[],
  afterMs: number,
): Promise<boolean> {
  await pause(held.run, windowMs)
  await refuse(held, refusals)
  await pause(held.run, afterMs)
  if (await createAfter(held)) return true
  return !(await free(held))
}
