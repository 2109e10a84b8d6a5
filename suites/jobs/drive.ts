import type { Run } from '../../harness/engine/index.ts'
import { isPlanned, orElse, pause, askHolding } from '../../harness/engine/index.ts'
import { createdId, historyOf, isConflict } from '../../harness/history/index.ts'
import type { ApplicationResource } from '../../harness/target-file/index.ts'
import {
  isDeclared,
  retryWhileSettling,
  sendAtOnce,
  validRequest,
} from '../../harness/checks/index.ts'
import {
  declaredBeside,
  gateOf,
  type Held,
  hold,
  holdOrSkip,
  isBroken,
  pauseMs,
  untilFree,
  wants,
} from './application.ts'
import { timesAlike } from './no-effect.ts'
import { isOwn, statusOf } from './job.ts'
import { jobOf, jobsOn, madeBy } from './view.ts'
import {
  cannotBeRead,
  create,
  createBeside,
  eventOf,
  jobRequest,
  read,
  withOtherValues,
} from './requests.ts'
import { ids } from './rules.ts'

/** Brings about the states that the rules about conflicts speak of; what they show is for the rules to say. */

/** True if a reading shows the job in progress, that very one. */
async function goesOn(run: Run, id: string, requirement: string): Promise<boolean> {
  const { settleMs } = run.target.limits
  for (;;) {
    const reading = await read(run, id, requirement)
    const madeAt = jobOf(historyOf(run), id)?.creation.endedAt ?? -Infinity
    const isSettled = performance.now() - madeAt > settleMs || cannotBeRead(run)
    if (statusOf(reading) !== undefined || isSettled)
      return statusOf(reading) === 'in_progress' && isOwn(reading, { id })
    await pause(run, 100)
  }
}

/** Pauses between creations during a job, in ms: none before the first two, then each half as long again as the last. */
const firstPauseMs = 10
const growth = 1.5
const maxMoments = { full: 20, quick: 3 }
/** A wait has at most so many parts of at least so many ms; a reading between them shows the end of a job soon. */
const maxParts = 4
const shortestPartMs = 20
/** Creations beside a job go on for so long after one that is no 409, in ms: its readings may lag behind. */
const longestLagMs = 500

/** Waits, in ms; false as soon as a reading shows that the job is no longer in progress. */
async function staysInProgress(run: Run, id: string, ms: number): Promise<boolean> {
  const parts = Math.min(maxParts, Math.max(1, Math.floor(ms / shortestPartMs)))
  for (let part = 0; part < parts; part++) {
    await pause(run, ms / parts)
    if (!(await goesOn(run, id, ids.inProgress))) return false
  }
  return true
}

/**
 * Further creations during the whole life of a job, with the same inputs and with other values: a server may compare
 * requests, or forget after a while that the job goes on.
 * @param turn 1: other values come first, as a short job may be over before the second creation
 */
async function createDuring(
  { run, application }: Held,
  id: string,
  { most = Infinity, turn = 0 }: { readonly most?: number; readonly turn?: number } = {},
): Promise<void> {
  let waitMs = firstPauseMs
  for (let moment = 0; moment < Math.min(most, maxMoments[run.options.depth]); moment++) {
    if (moment > 0 && !(await staysInProgress(run, id, moment > 1 ? waitMs : 0))) return
    if (moment > 1) waitMs *= growth
    const isOdd = (moment + turn) % 2 === 1
    const own = isOdd ? withOtherValues(application, moment + turn) : application
    const { status } = await createBeside(run, own)
    if (status === undefined || status === 409 || status === 400) continue
    if (status >= 500 && isOdd) continue
    for (const until = performance.now() + longestLagMs; performance.now() < until;)
      if (isBroken(run, ids.inProgress) || !(await staysInProgress(run, id, 100))) return
    return
  }
}

/** One more creation beside the newest job of an application: a server may look for conflicts on some of them alone. */
async function createBesideNewest(held: Held): Promise<void> {
  const { run } = held
  const job = held.jobs().at(-1)
  const isWanted = isPlanned(run, ids.inProgress) && run.options.depth === 'full'
  if (job && !job.isOver && isWanted) await createDuring(held, job.id, { most: 1 })
}

/** A creation after the end of a job; answered 409, two more. */
async function createAfterEnd(held: Held): Promise<void> {
  const made = await create(held.run, held.application, ids.released)
  if (isConflict(made)) await untilFree(held, ids.released)
}

/** How many creations start together. */
const burstSize = { full: 5, quick: 2 }

/** Starts the jobs of an attempt, by several creations at once if that can be judged, and gives their ids. */
async function begin(held: Held, other?: Held): Promise<string[]> {
  const { run, application } = held
  const history = historyOf(run)
  const { depth } = run.options
  const one = () => create(run, application, ids.released)
  let count = 0
  // A server may lock what it is asked for, and not the application.
  const next = () =>
    depth === 'full' && count++ % 2 ? withOtherValues(application, 2 * count) : application
  const burst = async () => {
    const make = () => jobRequest(run, next())
    const fresh = history.within(application.id).some(({ status }) => status === undefined)
    const together = { size: burstSize[depth], make, requirement: ids.atomic, fresh }
    return (await sendAtOnce(run, together)).map((exchange) => eventOf(run, exchange))
  }
  const isBurst = isPlanned(run, ids.atomic) && run.target.limits.concurrency > 1
  const made = isBurst ? await burst() : [await one()]
  // If all were throttled, one that waits its turn shows what is not about a burst.
  if (made.every(({ noise }) => noise === 'throttled')) made.push(await one())
  const idsMade = (): string[] => made.flatMap((event) => madeBy(history, event)?.id ?? [])
  if (idsMade().length === 0 && made.some(isConflict)) await untilFree(held, ids.released, other)
  return idsMade()
}

/** An older job of the application reads the same while a newer one is in progress. */
async function readOlder({ run, jobs }: Held, newer: string): Promise<void> {
  if (!isPlanned(run, ids.stable)) return
  const older = jobs().find((job) => {
    return job.id !== newer && job.end && job.end.endedAt + pauseMs <= performance.now()
  })
  if (older) await read(run, older.id, ids.stable)
}

/** A job, or a burst of creations, and what is created beside it until it ends. @param other kept idle beside it */
async function attempt(held: Held, other?: Held, turn = 0): Promise<void> {
  const { run } = held
  const [first, second] = await begin(held, other)
  if (first === undefined) return
  // A new job may not be found yet: then it is waited for.
  if (second !== undefined)
    for (const id of [first, second, first]) await goesOn(run, id, ids.atomic)
  const createElsewhere = () => other && create(run, other.application, ids.perApplication)
  // Beside what has to come while the job lasts, which may be a round trip.
  const older = readOlder(held, first)
  older.catch(() => undefined)
  const onOther = await createElsewhere()
  if (onOther) await goesOn(run, first, ids.perApplication)
  const beside = other && onOther?.isGranted ? createBesideNewest(other) : undefined
  beside?.catch(() => undefined)
  if (isPlanned(run, ids.inProgress) && !isBroken(run, ids.inProgress))
    await createDuring(held, first, { turn })
  await beside
  await older
  if (!(await held.settle())) throw held.giveUp('still had a job in progress')
  if (onOther && isConflict(onOther)) await createElsewhere()
  if (onOther) await other?.settle()
}

async function attemptBeside(held: Held, other: Held, turn: number): Promise<void> {
  // An application may be released some time after its last job ended, as `409-released` allows.
  const ends = other.jobs().map((job) => job.end?.endedAt ?? 0)
  await pause(held.run, Math.max(0, ...ends.map((end) => end + 2 * pauseMs - performance.now())))
  await attempt(held, other, turn)
}

/** Attempts on the busy application, as many as it takes; those on others, and after a job that failed, follow. */
export async function provokeConflicts(run: Run): Promise<void> {
  const { resources } = run.target
  const { application: plain, failingApplication: failing } = resources
  const busy = (resources.slowApplication ?? plain) as ApplicationResource
  const other = [resources.otherApplication, plain].find((one) => one && one.id !== busy.id)
  await hold(run, busy, async (held) => {
    // One that was blocked is looked at as often again: somebody else's job may have come between.
    for (let count = 1; count <= 2 * timesAlike; count++) {
      const isOpen = wants(run, ids.perApplication) && other !== undefined
      if (count > 1 && !wantsMore(run, count, isOpen)) break
      const turn = wants(run, ids.inProgress) ? count - 1 : 0
      const alone = () => attempt(held, undefined, turn)
      await (isOpen
        ? hold(run, other, (beside) => attemptBeside(held, beside, turn), alone)
        : alone())
      if (held.isGivenUp() || isBroken(run, ids.released)) break
    }
  })
  if (run.options.depth === 'quick') return
  if (plain && plain.id !== busy.id && !gateOf(run, plain.id).isGivenUp())
    await holdOrSkip(run, plain, async (held) => {
      if (isPlanned(run, ids.inProgress) || isPlanned(run, ids.atomic)) await attempt(held)
      if (isPlanned(run, ids.released)) await createAfterEnd(held)
    })
  await attemptOnCreated(run)
  // Last: a server that takes the jobs of all applications for one would refuse it beside any of them.
  if (!failing || !isPlanned(run, ids.released) || isBroken(run, ids.released)) return
  await holdOrSkip(run, failing, async (held) => {
    if (held.jobs().length === 0) await create(run, failing, 'jobs.retrieve/200-failed')
    await held.settle()
    await createAfterEnd(held)
    await createBesideNewest(held)
  })
}

function wantsMore(run: Run, count: number, isOpen: boolean): boolean {
  if (count > timesAlike) return isOpen && isBlockedBefore(run)
  const isQuick = run.options.depth === 'quick'
  const isAtomicOpen = isQuick ? wants(run, ids.atomic) : !isBroken(run, ids.atomic)
  return (
    (isPlanned(run, ids.atomic) && isAtomicOpen) ||
    isOpen ||
    wants(run, ids.inProgress) ||
    wants(run, ids.released)
  )
}

function isBlockedBefore(run: Run): boolean {
  const { otherApplication, application } = run.target.resources
  const creations = historyOf(run).within((otherApplication ?? application)?.id ?? '')
  return creations.some(
    (one) => isConflict(one) && one.exchange.purpose.requirement === ids.perApplication,
  )
}

/** Conflicts on an application that the run creates: nobody else uses it, and a server may check only those that it knew before. */
async function attemptOnCreated(run: Run): Promise<void> {
  const wanting = [ids.inProgress, ids.released, 'jobs.create/202-created'] as const
  if (!wanting.some((id) => isPlanned(run, id)) || !isDeclared(run, 'applications.create')) return
  await orElse(run, async () => {
    const purpose = { requirement: ids.inProgress, role: 'setup' } as const
    const make = () => validRequest(run, 'applications.create')
    const id = createdId(run, await askHolding(run, make, purpose))
    if (id === undefined) return
    // It may be made like the declared one, and want its inputs.
    for (const inputs of [[], run.target.resources.application?.inputs ?? []])
      if (await hold(run, { id, inputs, requiredInputs: [] }, attemptOnNew)) return
  })
}

/** False if it wants other inputs. */
async function attemptOnNew(held: Held): Promise<boolean> {
  const { run, application } = held
  const make = async () => (await create(run, application, ids.inProgress)).exchange
  const first = await retryWhileSettling(run, make, ({ response }) => response?.status !== 404)
  const event = eventOf(run, first)
  if (event.status === 400) return false
  if (isConflict(event)) await untilFree(held, ids.inProgress)
  const job = madeBy(historyOf(run), event)
  if (!job) return true
  await createDuring(held, job.id)
  if (isPlanned(run, ids.released) && (await held.settle())) await createAfterEnd(held)
  return true
}

/** Applications that were given up are looked at once more, at the end: somebody else's job may be over by then. */
export async function lookAtLast(run: Run): Promise<void> {
  for (const application of declaredBeside(run)) {
    const last = jobsOn(historyOf(run), application.id).at(-1)
    if (!gateOf(run, application.id).isGivenUp() || !last?.end) continue
    if (isBroken(run, ids.released) || isBroken(run, ids.noEffect)) return
    await holdOrSkip(run, application, createAfterEnd)
  }
}
