import type { Run } from '../../harness/engine/index.ts'
import {
  isPlanned,
  NotExercised,
  pastBlocks,
  pause,
  sendWithStaleRetry,
} from '../../harness/engine/index.ts'
import { type HistoryEvent, historyOf, type Rule } from '../../harness/history/index.ts'
import { holdBack } from '../../harness/checks/index.ts'
import type { ApplicationResource } from '../../harness/target-file/index.ts'
import {
  accessTo,
  cannotBeRead,
  create,
  createdBy,
  jobRequest,
  read,
  withOtherValues,
} from './applications.ts'
import { isConflict, isOwn, jobOf, statusOf } from './jobs.ts'
import { jobRules } from './rules.ts'

export const ids = {
  inProgress: 'jobs.create/409-job-in-progress',
  released: 'jobs.create/409-released',
  perApplication: 'jobs.create/409-per-application',
  atomic: 'jobs.create/409-atomic',
  noEffect: 'jobs.create/4xx-no-effect',
} as const satisfies Record<string, keyof typeof jobRules>
export type Id = (typeof ids)[keyof typeof ids]

const verdictOn = (run: Run, id: Id): ReturnType<Rule> => jobRules[id](historyOf(run))
export const isBroken = (run: Run, id: Id): boolean => verdictOn(run, id).outcome === 'broken'
export const wants = (run: Run, id: Id): boolean =>
  isPlanned(run, id) && verdictOn(run, id).outcome === 'open'

/** An application while nothing else is sent to it: what is sent here goes past all others. */
export interface Held {
  readonly run: Run
  readonly application: ApplicationResource
}

export function hold<T>(
  run: Run,
  application: ApplicationResource,
  action: (held: Held) => Promise<T>,
): Promise<T> {
  return accessTo(run, application.id).hold(() => action({ run, application }))
}

/** The same, if it is idle in time; otherwise without it. */
export async function holdIfIdle<T>(
  run: Run,
  application: ApplicationResource | undefined,
  action: (held?: Held) => Promise<T>,
): Promise<T> {
  if (!application) return action()
  const state = { entered: false }
  try {
    return await hold(run, application, (held) => {
      state.entered = true
      return action(held)
    })
  } catch (error) {
    if (state.entered || !(error instanceof NotExercised) || run.life.ended) throw error
    return action()
  }
}

export const settle = ({ run, application }: Held): Promise<boolean> =>
  accessTo(run, application.id).settle()

/** Between two creations on an application that should be free, in ms. */
export const pauseMs = 1000

/**
 * After a 409: creations, a second apart, until one is granted and its job has ended; false if none is for so long that nothing
 * more is to be learned.
 * @param others kept idle while the last of them are sent: a job of theirs may be what blocks this one
 */
export async function untilFree(
  { run, application }: Held,
  requirement: string,
  others: readonly ApplicationResource[] = [],
): Promise<boolean> {
  const access = accessTo(run, application.id)
  const deadline = performance.now() + (access.isGivenUp ? 0 : run.target.limits.jobTimeoutMs)
  const send = (): Promise<HistoryEvent> => create(run, application, requirement)
  const alone = others.reduce<() => Promise<HistoryEvent>>(
    (inner, other) => () => holdIfIdle(run, other, inner),
    send,
  )
  for (let tries = 1; await access.settle(); tries++) {
    await access.pauseBusy(pauseMs)
    const made = await (tries < 2 ? send() : alone())
    if (made.isGranted) return access.settle()
    if (made.noise === 'throttled') return false
    if (isConflict(made) && !isBroken(run, ids.released) && performance.now() <= deadline) continue
    if (isConflict(made) && performance.now() > deadline) access.giveUp('was still answered 409')
    return false
  }
  return false
}

/** True if a reading shows the job in progress, that very one. */
export async function goesOn(run: Run, id: string, requirement: string): Promise<boolean> {
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

/** Waits, in ms; false as soon as a reading shows that the job is no longer in progress. */
async function staysInProgress(run: Run, id: string, ms: number): Promise<boolean> {
  const parts = Math.min(maxParts, Math.max(1, Math.floor(ms / shortestPartMs)))
  for (let part = 0; part < parts; part++) {
    await pause(run, ms / parts)
    if (!(await goesOn(run, id, ids.inProgress))) return false
  }
  return true
}

/** Creations beside a job go on for so long after one that is no 409, in ms: its readings may lag behind. */
const longestLagMs = 500

/**
 * Further creations during the whole life of a job, with the same inputs and with other values: a server may compare
 * requests, or forget after a while that the job goes on.
 */
export async function createDuring(
  { run, application }: Held,
  id: string,
  most = Infinity,
): Promise<void> {
  let waitMs = firstPauseMs
  for (let moment = 0; moment < Math.min(most, maxMoments[run.options.depth]); moment++) {
    if (moment > 0 && !(await staysInProgress(run, id, moment > 1 ? waitMs : 0))) return
    if (moment > 1) waitMs *= growth
    const own = moment % 2 === 1 ? withOtherValues(application, moment) : application
    const made = await createBeside({ run, application: own })
    if (isConflict(made) || made.status === 400 || made.status === undefined) continue
    if (made.status >= 500 && moment % 2 === 1) continue
    for (const until = performance.now() + longestLagMs; performance.now() < until;)
      if (isBroken(run, ids.inProgress) || !(await staysInProgress(run, id, 100))) return
    return
  }
}

/** Creates beside a job. Sent once: while a throttled creation waited, the job would end. */
async function createBeside({ run, application }: Held): Promise<HistoryEvent> {
  const purpose = {
    requirement: ids.inProgress,
    role: 'probe',
    expects: [[409, 'BadRequest']],
  } as const
  const probe = await jobRequest(run, application)
  const send = (fresh: boolean) =>
    pastBlocks(() => sendWithStaleRetry(run, probe, purpose, { fresh }))
  let exchange = await send(false)
  let made = createdBy(run, exchange)
  // The previous request on the connection may have spoiled any other answer, and a connection may be lost.
  const isClear = isConflict(made) || made.isGranted || (made.status !== undefined && made.isFirst)
  if (!isClear) made = createdBy(run, (exchange = await send(true)))
  holdBack(run, exchange)
  return made
}
