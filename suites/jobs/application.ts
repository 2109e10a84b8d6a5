import { isDeepStrictEqual } from 'node:util'
import type { Exchange, GatedSend, Run } from '../../harness/engine/index.ts'
import {
  createSemaphore,
  describeResponse,
  isPlanned,
  NotExercised,
  orElse,
  pause,
  perRun,
  Throttled,
} from '../../harness/engine/index.ts'
import { historyOf, idKey, isConflict, type Verdict } from '../../harness/history/index.ts'
import type { ApplicationResource } from '../../harness/target-file/index.ts'
import { isEnded, isRead, statusOf } from './job.ts'
import { jobOf, jobsOn } from './view.ts'
import { cannotBeRead, create, read, withOtherValues } from './requests.ts'
import { inProgressWithOthers } from './conflicts.ts'
import { ids, type JobRuleId, jobRules } from './rules.ts'

/** What the history of the run says of a requirement. If the inputs have texts, creations beside a job are to have other ones, too. */
export function verdictOn(run: Run, id: JobRuleId): Verdict {
  const hasTexts = declaredBeside(run).some(
    (one) => !isDeepStrictEqual(withOtherValues(one, 1).inputs, one.inputs),
  )
  const rule = id === ids.inProgress && hasTexts ? inProgressWithOthers : jobRules[id]
  return rule(historyOf(run))
}

const outcomeOf = (run: Run, id: JobRuleId): Verdict['outcome'] => verdictOn(run, id).outcome
export const isBroken = (run: Run, id: JobRuleId): boolean => outcomeOf(run, id) === 'broken'
export const wants = (run: Run, id: JobRuleId): boolean =>
  isPlanned(run, id) && outcomeOf(run, id) === 'open'

/** An application while nothing else is sent to it: what is sent here goes past all others. */
export interface Held extends Gate {
  readonly application: ApplicationResource
}

/** Pauses before a request is sent again to an application that is busy with somebody else's job, in ms. */
const busyPausesMs = [250, 500, 1000, 2000, 3000, 5000]
/** What starts no job is sent so often. */
const maxAttempts = 5
/** So many lost answers to creations have to fit into `jobTimeoutMs`: then no chance explains them. */
const triesIfLost = 13

type Gate = ReturnType<typeof createGate>

/**
 * The gate of one application: while it has a job in progress, only what a 409 requirement sends itself goes there. Refusals go
 * through together, creations alone.
 */
function createGate(run: Run, id: string) {
  // A refusal takes one place, a creation all of them.
  const places = createSemaphore(Number.MAX_SAFE_INTEGER)
  const { jobTimeoutMs, settleMs } = run.target.limits
  const unread = new Set<string>()
  /** How long it is waited for yet, in ms, if its jobs cannot be read: one of the run may go on for as long as it likes. */
  let blindMs = settleMs
  let gaveUp: NotExercised | undefined
  const jobs = () => jobsOn(historyOf(run), id)
  const giveUp = (why: string): NotExercised =>
    (gaveUp ??= new NotExercised(
      `application ${id} ${why} after ${jobTimeoutMs} ms (limits.jobTimeoutMs)`,
    ))
  /** Waits for the end of every job of it, at most `jobTimeoutMs`; false if one is still read as in progress then. */
  const settle = async (): Promise<boolean> => {
    const deadline = performance.now() + jobTimeoutMs
    for (const job of jobs()) {
      if (unread.has(job.id) || (await awaitEnd(run, job.id, deadline))) continue
      const last = jobOf(historyOf(run), job.id)?.readings.at(-1)
      if (last?.noise !== undefined)
        throw new Throttled(`a reading was answered ${describeResponse(last.exchange)}`)
      if (last && statusOf(last) === 'in_progress') return false
      unread.add(job.id)
    }
    return true
  }
  /** Throws if a job does not end, now or before: it is not waited for any more. */
  const idle = async (): Promise<void> => {
    if (gaveUp) throw gaveUp
    if (!(await settle())) throw giveUp('still had a job in progress')
  }
  /** Pauses while it is busy; throws if its jobs cannot be read and it has been waited for long enough. */
  const pauseBusy = async (ms: number): Promise<void> => {
    if (cannotBeRead(run) && (blindMs -= ms) < 0)
      throw (gaveUp ??= new NotExercised(`application ${id} is busy, and its jobs cannot be read`))
    await pause(run, ms)
  }
  return {
    run,
    /** Polls under way, by job. */
    polls: new Map<string, Promise<boolean>>(),
    jobs,
    settle,
    idle,
    pauseBusy,
    giveUp,
    isGivenUp: (): boolean => gaveUp !== undefined,
    /**
     * Sends once the application is idle; if it is answered 409 unexpectedly, waits and sends again.
     * @param exclusive it may start a job: nothing else goes to the application meanwhile
     */
    async sendWhenIdle(
      exclusive: boolean,
      expects409: boolean,
      send: GatedSend,
    ): Promise<Exchange> {
      // Kept over all attempts: another request would make the application busy again.
      // Refusals, of which many go at once, do not wait for creations that wait too, each for a job to end.
      const turn = exclusive ? { count: places.size } : { count: 1, urgent: true }
      const release = await places.acquire(run.life.signal, turn)
      try {
        let busySince: number | undefined
        /** Connections of their own on which no answer came: such a creation may be what makes the application busy. */
        let lost = 0
        let fresh = false
        for (let attempt = 1; ; attempt++) {
          await idle()
          const exchange = await send({ fresh })
          if (exchange.response?.status !== 409 || expects409) return exchange
          const { unanswered } = exchange
          const isLost = unanswered && !unanswered.noResponse?.staleConnection
          if (isLost && ++lost >= run.client.losses.proof(lost, 0))
            return { ...unanswered, unansweredTwice: true }
          fresh ||= unanswered !== undefined
          busySince ??= performance.now()
          const waits = (exclusive || fresh) && performance.now() - busySince < jobTimeoutMs
          if (attempt >= maxAttempts && !waits) {
            if (exclusive) giveUp('was still answered 409')
            throw new NotExercised(
              `application ${id} is busy: answered 409 ${attempt} times in a row`,
            )
          }
          // Busy with a job that this run did not create, or not released yet: all that helps is time.
          const mostMs = isLost ? jobTimeoutMs / triesIfLost : jobTimeoutMs
          await pauseBusy(Math.min(busyPausesMs[attempt - 1] ?? 5000, mostMs))
        }
      } finally {
        release()
      }
    },
    /**
     * Has the idle application to itself while `action` lasts.
     * @param otherwise if it is not idle in time; without it that is thrown
     */
    async hold<T>(action: () => Promise<T>, otherwise?: () => Promise<T>): Promise<T> {
      const release = await places.acquire(run.life.signal, { count: places.size })
      try {
        // Even then its release is judged, if a reading showed that its last job ended.
        const isKnownIdle = gaveUp !== undefined && jobs().every(({ isOver }) => isOver)
        const enter = (): Promise<unknown> => (isKnownIdle ? Promise.resolve() : idle())
        const isIdle = otherwise
          ? await orElse(
              run,
              () => enter().then(() => true),
              () => false,
            )
          : (await enter(), true)
        if (isIdle || !otherwise) return await action()
      } finally {
        release()
      }
      return otherwise()
    },
  }
}

const gates = perRun(() => new Map<string, Gate>())

export function gateOf(run: Run, application: string): Gate {
  const gate = gates(run).get(application) ?? createGate(run, application)
  gates(run).set(application, gate)
  return gate
}

export function hold<T>(
  run: Run,
  application: ApplicationResource,
  action: (held: Held) => Promise<T>,
  otherwise?: () => Promise<T>,
): Promise<T> {
  const gate = gateOf(run, application.id)
  return gate.hold(() => action({ ...gate, application }), otherwise)
}

/** The same, or nothing at all if nothing can be judged by it. */
export const holdOrSkip = (
  run: Run,
  application: ApplicationResource | undefined,
  action: (held: Held) => Promise<unknown>,
): Promise<unknown> =>
  orElse(run, async () => application && (await hold(run, application, action)))

/** The declared applications, but for those that are held already. */
export function declaredBeside(
  run: Run,
  ...held: readonly (Held | undefined)[]
): ApplicationResource[] {
  const { application, otherApplication, slowApplication, failingApplication } =
    run.target.resources
  const taken = new Set(held.map((one) => one?.application.id))
  return [application, otherApplication, slowApplication, failingApplication].filter(
    (one) => one !== undefined && !taken.has(one.id),
  ) as ApplicationResource[]
}

/** Between two creations on an application that should be free, in ms. */
export const pauseMs = 1000

/**
 * After a 409: creations, a second apart, until one is granted and its job has ended; false if none is for so long that nothing
 * more is to be learned.
 * @param beside held as well. All other declared ones are kept idle while the last of them are sent: a job of theirs may be what
 *   blocks this one, unless that is a refusal
 */
export async function untilFree(held: Held, requirement: string, beside?: Held): Promise<boolean> {
  const { run, application, settle, giveUp } = held
  const others = requirement === ids.noEffect ? [] : declaredBeside(run, held, beside)
  const deadline = performance.now() + (held.isGivenUp() ? 0 : run.target.limits.jobTimeoutMs)
  const send = () => create(run, application, requirement)
  const alone = others.reduce((inner, other) => () => hold(run, other, inner, inner), send)
  for (let tries = 1; await settle(); tries++) {
    await held.pauseBusy(pauseMs)
    const made = await (tries < 2 ? send() : alone())
    if (made.isGranted) return settle()
    const isLate = performance.now() > deadline
    if (isConflict(made) && isLate) giveUp('was still answered 409')
    if (!isConflict(made) || isLate || isBroken(run, ids.released)) return false
  }
  return false
}

// The end of a job

/** Readings are so far apart at least, in ms, and no further than that share of the time that the job has taken. */
const firstPauseMs = { full: 15, quick: 30 }
const longestPauseMs = 1000
/** A quick run sees the end of a job later, with fewer requests. */
const pauseShare = { full: 0.2, quick: 0.4 }
/** A job that cannot be read for so much longer than `settleMs` is not waited for, in ms. */
const unreadableMs = 1000

/** Waits until a reading shows that the job has ended, at most `jobTimeoutMs`, or until `deadline` (`performance.now()`); false if none shows it. */
export async function awaitEnd(run: Run, id: string, deadline?: number): Promise<boolean> {
  const job = jobOf(historyOf(run), id)
  if (!job || job.isOver) return true
  const { polls } = gateOf(run, job.application.id)
  const key = idKey(id)
  const until = deadline ?? performance.now() + run.target.limits.jobTimeoutMs
  const polling = polls.get(key) ?? poll(run, id, until).finally(() => polls.delete(key))
  polls.set(key, polling)
  return polling
}

async function poll(run: Run, id: string, deadline: number): Promise<boolean> {
  const { depth } = run.options
  const started = performance.now()
  let lastRead = started
  for (;;) {
    const reading = await read(run, id, null)
    if (isEnded(reading)) return true
    const now = performance.now()
    if (isRead(reading)) lastRead = now
    const patienceMs = run.target.limits.settleMs + unreadableMs
    const isUnread = lastRead < now && (now - lastRead > patienceMs || cannotBeRead(run))
    if (now >= deadline || isUnread) return false
    const wait = Math.max((now - started) * pauseShare[depth], firstPauseMs[depth])
    await pause(run, Math.min(wait, longestPauseMs, Math.max(1, deadline - now)))
  }
}
