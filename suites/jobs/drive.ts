import type { Run } from '../../harness/engine/index.ts'
import {
  isPlanned,
  oncePerRun,
  orElse,
  pause,
  sendWithRetries,
} from '../../harness/engine/index.ts'
import { createdId, type HistoryEvent, historyOf } from '../../harness/history/index.ts'
import type { ApplicationResource } from '../../harness/target-file/index.ts'
import {
  isDeclared,
  retryWhileSettling,
  sendAtOnce,
  validRequest,
} from '../../harness/checks/index.ts'
import { accessTo, create, createdBy, jobRequest, read, withOtherValues } from './applications.ts'
import { timesAlike } from './conflict-rules.ts'
import {
  createDuring,
  goesOn,
  type Held,
  hold,
  holdIfIdle,
  type Id,
  ids,
  isBroken,
  pauseMs,
  settle,
  untilFree,
  wants,
} from './held.ts'
import { endOf, isConflict, isEnded, jobsOn, madeBy } from './jobs.ts'

/** Brings about the states that the rules about conflicts speak of; what they show is for the rules to say. */

/** A creation after the end of a job; answered 409, two more. */
async function lookAfterEnd(held: Held, others: readonly ApplicationResource[]): Promise<void> {
  const { run, application } = held
  const made = await create(run, application, ids.released)
  if (isConflict(made)) await untilFree(held, ids.released, others)
}

/** How many creations start together. */
const burstSize = { full: 5, quick: 2 }

/** Starts the jobs of an attempt, by several creations at once if that can be judged, and gives their ids. */
async function begin(held: Held, others: readonly ApplicationResource[]): Promise<string[]> {
  const { run, application } = held
  const history = historyOf(run)
  const { depth } = run.options
  const isBurst = isPlanned(run, ids.atomic) && run.target.limits.concurrency > 1
  let count = 0
  // A server may lock what it is asked for, and not the application.
  const next = () =>
    depth === 'full' && count++ % 2 ? withOtherValues(application, 2 * count) : application
  const make = () => jobRequest(run, next())
  const burst = { size: burstSize[depth], make, requirement: ids.atomic }
  const wasLost = history.within(application.id).some(({ status }) => status === undefined)
  const made = isBurst
    ? (await sendAtOnce(run, { ...burst, fresh: wasLost })).map((one) => createdBy(run, one))
    : [await create(run, application, ids.released)]
  // If all were throttled, one that waits its turn shows what is not about a burst.
  if (made.every(({ noise }) => noise === 'throttled'))
    made.push(await create(run, application, ids.released))
  const idsOf = (events: readonly HistoryEvent[]): string[] =>
    events.flatMap((event) => madeBy(history, event)?.id ?? [])
  if (idsOf(made).length === 0 && made.some(isConflict)) await untilFree(held, ids.released, others)
  return idsOf(made)
}

/** An older job of the application reads the same while a newer one is in progress. */
async function readOlder(run: Run, application: string, newer: string): Promise<void> {
  if (!isPlanned(run, 'jobs.retrieve/200-stable')) return
  const older = jobsOn(historyOf(run), application).find((job) => {
    const end = endOf(job)
    return job.id !== newer && end && end.endedAt + pauseMs <= performance.now()
  })
  if (older) await read(run, older.id, 'jobs.retrieve/200-stable')
}

/** A job, or a burst of creations, and what is created beside it until it ends. @param other kept idle beside it */
async function attempt(held: Held, other?: Held): Promise<void> {
  const { run, application } = held
  const [first, second] = await begin(held, declaredBeside(run, held, other))
  if (first === undefined) return
  if (second !== undefined) for (const id of [first, second, first]) await read(run, id, ids.atomic)
  // Beside what has to come while the job lasts, which may be a round trip.
  const older = readOlder(run, application.id, first)
  void older.catch(() => undefined)
  const onOther = other && (await create(run, other.application, ids.perApplication))
  if (onOther) await goesOn(run, first, ids.perApplication)
  const beside = other && onOther?.isGranted ? createBesideNewest(other) : undefined
  void beside?.catch(() => undefined)
  if (isPlanned(run, ids.inProgress) && !isBroken(run, ids.inProgress))
    await createDuring(held, first)
  await beside
  await older
  if (!(await settle(held)))
    throw accessTo(run, application.id).giveUp('still had a job in progress')
  if (!other || !onOther) return
  if (isConflict(onOther)) await create(run, other.application, ids.perApplication)
  await settle(other)
}

/** One more creation beside the newest job of an application: a server may look for conflicts on some of them alone. */
async function createBesideNewest(held: Held): Promise<void> {
  const { run, application } = held
  const job = jobsOn(historyOf(run), application.id).at(-1)
  const isOver = !job || job.readings.some(isEnded)
  if (!isOver && isPlanned(run, ids.inProgress) && run.options.depth === 'full')
    await createDuring(held, job.id, 1)
}

/** The other declared applications, but for those that are held already. */
function declaredBeside(run: Run, ...held: readonly (Held | undefined)[]): ApplicationResource[] {
  const { application, otherApplication, slowApplication, failingApplication } =
    run.target.resources
  const taken = new Set(held.map((one) => one?.application.id))
  return [application, otherApplication, slowApplication, failingApplication].filter(
    (one) => one !== undefined && !taken.has(one.id),
  ) as ApplicationResource[]
}

/** Attempts on the busy application, as many as it takes; those on others, and after a job that failed, follow. */
export function provokeConflicts(run: Run): Promise<void> {
  return oncePerRun(run, 'conflicts', () => attemptAll(run))
}

async function attemptAll(run: Run): Promise<void> {
  const { resources } = run.target
  const busy = (resources.slowApplication ?? resources.application) as ApplicationResource
  const other = [resources.otherApplication, resources.application].find(
    (one) => one !== undefined && one.id !== busy.id,
  )
  await hold(run, busy, async (held) => {
    // One that was blocked is looked at as often again: somebody else's job may have come between.
    for (let count = 1; count <= 2 * timesAlike; count++) {
      const isOpen = wants(run, ids.perApplication) && other !== undefined
      if (count > 1 && !(await wantsMore(run, count, isOpen))) break
      await holdIfIdle(run, isOpen ? other : undefined, async (beside) => {
        if (beside) await awaitReleased(run, beside.application.id)
        await attempt(held, beside)
      })
      if (accessTo(run, busy.id).isGivenUp || isBroken(run, ids.released)) break
    }
  })
  if (run.options.depth === 'quick') return
  const { application: plain, failingApplication: failing } = resources
  if (plain && plain.id !== busy.id && !accessTo(run, plain.id).isGivenUp)
    await orElse(run, () =>
      hold(run, plain, async (held) => {
        if (isPlanned(run, ids.inProgress) || isPlanned(run, ids.atomic)) await attempt(held)
        if (isPlanned(run, ids.released)) await lookAfterEnd(held, declaredBeside(run, held))
      }),
    )
  await orElse(run, () => attemptOnCreated(run))
  // Last: a server that takes the jobs of all applications for one would refuse it beside any of them.
  if (failing && isPlanned(run, ids.released) && !isBroken(run, ids.released))
    await orElse(run, () =>
      hold(run, failing, async (held) => {
        if (jobsOn(historyOf(run), failing.id).length === 0)
          await create(run, failing, 'jobs.retrieve/200-failed')
        await settle(held)
        await lookAfterEnd(held, declaredBeside(run, held))
        await createBesideNewest(held)
      }),
    )
}

async function wantsMore(run: Run, count: number, isOpen: boolean): Promise<boolean> {
  if (count > timesAlike) return isOpen && blockedBefore(run)
  const isQuick = run.options.depth === 'quick'
  if (
    isPlanned(run, ids.atomic) &&
    !isBroken(run, ids.atomic) &&
    (!isQuick || wants(run, ids.atomic))
  )
    return true
  return isOpen || wants(run, ids.inProgress) || wants(run, ids.released)
}

function blockedBefore(run: Run): boolean {
  const { otherApplication, application } = run.target.resources
  const other = otherApplication ?? application
  return historyOf(run)
    .within(other?.id ?? '')
    .some((one) => isConflict(one) && one.exchange.purpose.requirement === ids.perApplication)
}

/** An application may be released some time after its last job ended, as `409-released` allows. */
async function awaitReleased(run: Run, application: string): Promise<void> {
  const ends = jobsOn(historyOf(run), application).map((job) => endOf(job)?.endedAt ?? 0)
  await pause(run, Math.max(0, ...ends.map((end) => end + 2 * pauseMs - performance.now())))
}

/** Conflicts on an application that the run creates: nobody else uses it, and a server may check only those that it knew before. */
async function attemptOnCreated(run: Run): Promise<void> {
  const isWanted = [ids.inProgress, ids.released, 'jobs.create/202-created'].some((id) =>
    isPlanned(run, id as Id),
  )
  if (!isWanted || !isDeclared(run, 'applications.create')) return
  const purpose = { requirement: ids.inProgress, role: 'setup' } as const
  const made = await sendWithRetries(run, () => validRequest(run, 'applications.create'), purpose)
  const id = createdId(run, made)
  if (id === undefined) return
  // It may be made like the declared one, and want its inputs.
  for (const inputs of [[], run.target.resources.application?.inputs ?? []]) {
    const isOver = await hold(run, { id, inputs, requiredInputs: [] }, async (held) => {
      const make = async () => (await create(run, held.application, ids.inProgress)).exchange
      const first = await retryWhileSettling(run, make, ({ response }) => response?.status !== 404)
      const event = createdBy(run, first)
      if (event.status === 400) return false
      const others = declaredBeside(run, held)
      if (isConflict(event)) await untilFree(held, ids.inProgress, others)
      const job = madeBy(historyOf(run), event)
      if (!job) return true
      await createDuring(held, job.id)
      if (isPlanned(run, ids.released) && (await settle(held))) await lookAfterEnd(held, others)
      return true
    })
    if (isOver) return
  }
}

/** Applications that were given up are looked at once more, at the end: somebody else's job may be over by then. */
export async function lookAtLast(run: Run): Promise<void> {
  const history = historyOf(run)
  for (const application of declaredBeside(run)) {
    const last = jobsOn(history, application.id).at(-1)
    if (!accessTo(run, application.id).isGivenUp || !last || !endOf(last)) continue
    if (isBroken(run, ids.released) || isBroken(run, ids.noEffect)) return
    await orElse(run, () =>
      hold(run, application, (held) => lookAfterEnd(held, declaredBeside(run, held))),
    )
  }
}
