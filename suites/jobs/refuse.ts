import { declaredResource, grantedControl } from '../../harness/checks/index.ts'
import { NotExercised } from '../../harness/engine/index.ts'
import { askHolding } from '../../harness/run/index.ts'
import { isConflict } from '../../harness/journal/index.ts'
import type { Refusal } from '../created/created-object.ts'
import { type JobClient, jobRequest } from './client.ts'
import { kindsOf } from './faults.ts'
import { type Gate, gateOf } from './gate.ts'
import { moments, timesAlike, windowMs } from './no-effect.ts'
import { ids } from './rules.ts'

async function refuse(gate: Gate, refusals: readonly Refusal[]): Promise<void> {
  const { client, application } = gate
  for (const { requirement, what, change } of refusals) {
    const about = `jobs.create/${requirement}`
    const probe = await change(await jobRequest(client.run, application))
    const purpose = {
      requirement: ids.noEffect,
      about,
      what,
      role: 'setup',
      badInput: true,
    } as const
    const exchange = await askHolding(client.run, probe, purpose)
    if (client.eventOf(exchange).isGranted) await gate.settle()
  }
}

/** Refusals, and the delay until the next creation, in ms. */
interface Look {
  readonly refusals: readonly Refusal[]
  readonly afterMs: number
}

/** A creation, after refusals if given. `freed`: it got 409, but a later one did not; `lost`: all did. */
async function look(gate: Gate, after?: Look): Promise<'granted' | 'freed' | 'lost'> {
  if (after) {
    await refuse(gate, after.refusals)
    await gate.client.pause(after.afterMs)
  }
  if (isConflict(await gate.create(ids.noEffect)))
    return (await gate.untilFree(ids.noEffect)) ? 'freed' : 'lost'
  if (!(await gate.settle())) throw gate.giveUp('still had a job in progress')
  return 'granted'
}

/**
 * Repeats a creation that got 409 after a refusal three times, with others without a refusal in between; one more each
 * time, so that periodic failures do not align.
 */
async function lookClosely(gate: Gate, after: Look): Promise<void> {
  for (let time = 1; time <= timesAlike; time++) {
    await gate.client.pause(windowMs)
    for (let bare = 0; bare <= time; bare++) if ((await look(gate)) !== 'granted') return
    if ((await look(gate, after)) !== 'freed') return
  }
}

/**
 * Creations after refused ones, once per run before any other refusal: at once after each kind, and at several moments
 * after all, since a refused request may start its job from a queue.
 */
export async function provokeRefusals(client: JobClient): Promise<void> {
  const application = declaredResource(client.run, 'application')
  await grantedControl(client.run, 'jobs.create')
  const locking = await gateOf(client, application).hold(lookAlone)
  const { otherApplication: other } = client.run.target.resources
  // The same on another application: if it stays free, the refusals are not what locks one.
  if (locking && other && other.id !== application.id)
    await gateOf(client, other).tryHold(async (gate) => {
      if ((await look(gate)) === 'granted') await look(gate, locking)
    })
}

/** Approximate duration of a refusal and a following creation, in ms. */
const nextLookMs = 150

/** The look after which the application accepts no creation any more, if any. */
async function lookAlone(gate: Gate): Promise<Look | undefined> {
  const { client, application } = gate
  // If the application is not released after a job without refusals, nothing is shown.
  if (gate.jobs.length <= 1 && (await look(gate)) === 'lost')
    throw new NotExercised('the application answers 409 even if no creation was refused before')
  const { delayed, atOnce } = await kindsOf(client.run, application)
  const isOver = (): boolean => gate.isGivenUp || client.isBroken(ids.noEffect)
  let last: Look | undefined
  const lookAfter = async (refusals: readonly Refusal[], afterMs: number): Promise<void> => {
    last = { refusals, afterMs }
    if ((await look(gate)) !== 'freed') return
    // Another client's job more likely interferes with a long list: all refusals once more, with nothing else before.
    if (refusals.length > 1) {
      await client.pause(windowMs)
      if ((await look(gate, last)) !== 'freed') return
    }
    for (const refusal of refusals)
      if (!isOver()) await lookClosely(gate, { refusals: [refusal], afterMs })
  }
  const left = [...atOnce]
  const lookAtOnce = async (until: number): Promise<void> => {
    while (left.length > 0 && performance.now() < until - nextLookMs && !isOver()) {
      const refusals = left.shift()!
      await refuse(gate, refusals)
      await lookAfter(refusals, 0)
    }
  }
  if (delayed) {
    await refuse(gate, delayed)
    const refusedAt = performance.now()
    for (const afterMs of client.isQuick ? moments.slice(0, 1) : moments) {
      await client.pause(refusedAt + afterMs - performance.now())
      if (!isOver()) await lookAfter(delayed, afterMs)
      // Late jobs are rare: whatever fits into the last pause is checked there.
      if (afterMs === moments[1]) await lookAtOnce(refusedAt + moments[2])
    }
  }
  await lookAtOnce(Infinity)
  return gate.isGivenUp ? last : undefined
}
