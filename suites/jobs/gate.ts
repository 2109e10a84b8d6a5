import type { Exchange, GatedSend, Run } from '../../harness/engine/index.ts'
import {
  createSemaphore,
  describeResponse,
  isGranted,
  NotExercised,
  pause,
  perRun,
  sendWithRetries,
  Throttled,
} from '../../harness/engine/index.ts'
import { isEnded, type Job, jobRequest, jobsOf } from './job-tracker.ts'
import type { ApplicationResource } from '../../harness/target-file/index.ts'

type Gate = ReturnType<typeof createGate>

/** Most attempts to see a state that may pass meanwhile. */
export const maxAttempts = 3

/** Pause after the first 409 of a busy application, in ms; one more with each. */
const busyPauseMs = 1000

/**
 * The gate of one application: while it has a job in progress, only what a 409 requirement sends itself goes through.
 * Refusals go through together, creations alone.
 */
function createGate(application: string, run: Run) {
  // A refusal takes one place, a creation all of them.
  const places = createSemaphore(Number.MAX_SAFE_INTEGER)
  const jobs = new Set<Job>()

  const timeout = run.target.limits.jobTimeoutMs
  /** State in which the application was seen when its time ran out. */
  let lastSeen: string | undefined
  const timeoutError = (): NotExercised => {
    const time = `after ${timeout} ms (limits.jobTimeoutMs)`
    if (lastSeen !== undefined)
      return new NotExercised(`application ${application} ${lastSeen} ${time}`)
    const readings = jobsOf(run)
      .of(application)
      .flatMap((job) => job.readings)
    const last = readings.at(-1)
    const Reason = last?.exchange.throttled ? Throttled : NotExercised
    const isUnread = last !== undefined && last.status === undefined
    const why = isUnread
      ? `: its last job was read as ${describeResponse(last.exchange)}`
      : ` ${time}`
    return new Reason(`application ${application} was not seen to be idle${why}`)
  }

  const idle = async (): Promise<void> => {
    if (gate.timedOut) throw timeoutError()
    const deadline = performance.now() + timeout
    for (const job of jobs) {
      const ended = await jobsOf(run).awaitEnd(job, deadline)
      if (ended || job.readings.at(-1)?.status === undefined) {
        jobs.delete(job)
        continue
      }
      gate.timedOut = true
      lastSeen = 'still had a job in progress'
      throw timeoutError()
    }
  }

  const gate = {
    /** Some request to the application was answered 409 in this run. */
    conflictSeen: false,
    /** True once a wait for it outlasted `jobTimeoutMs`: it is not waited for again. */
    timedOut: false,
    /** A request was given up, as the application answered 409 again and again with no job of this run in progress. */
    gaveUp: false,
    /**
     * When the last creation got no answer (`performance.now()`), until a later one is granted: it may have made a job that
     * nobody knows of.
     */
    lostAt: undefined as number | undefined,
    /** Records what a creation did: its job, if it made one. */
    record(exchange: Exchange): Job | undefined {
      const { response } = exchange
      if (response?.status === 409) gate.conflictSeen = true
      if (!response || !isGranted(response)) return undefined
      if (gate.lostAt !== undefined && exchange.sentAt > gate.lostAt) gate.lostAt = undefined
      const job = jobsOf(run).track(exchange, application)
      if (job) jobs.add(job)
      return job
    },
    /**
     * Sends through the gate once the application is idle; if it is answered 409 unexpectedly, the gate waits and sends again.
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
          gate.record(exchange)
          if (exchange.response?.status !== 409 || expects409) return exchange
          const { unanswered } = exchange
          if (unanswered && !unanswered.noResponse?.staleConnection && ++lost > 1) {
            return { ...unanswered, unansweredTwice: true }
          }
          fresh ||= unanswered !== undefined
          busySince ??= performance.now()
          const waits = exclusive || fresh
          if (attempt >= maxAttempts && (!waits || performance.now() - busySince >= timeout)) {
            gate.gaveUp = true
            if (exclusive) {
              gate.timedOut = true
              lastSeen = 'still answered 409'
            }
            throw new NotExercised(
              `application ${application} is busy: answered 409 ${attempt} times in a row`,
            )
          }
          // Busy with a job that this run did not create, or not released yet: all that helps is time.
          await pause(run, Math.min(busyPauseMs * attempt, 5000, timeout))
        }
      } finally {
        release()
      }
    },
    /**
     * Has the idle application to itself while `action` lasts; what it sends goes past the gate.
     * @param turn urgent: before all who wait already
     */
    async withExclusive<T>(
      action: () => Promise<T>,
      turn?: { readonly urgent: boolean },
    ): Promise<T> {
      const release = await places.acquire(run.life.signal, { ...turn, count: places.size })
      try {
        // Even then the release of an application is judged, if a reading showed that its last job ended.
        const allEnded = [...jobs].every((job) => isEnded(job.readings.at(-1)))
        if (!gate.timedOut || !allEnded) await idle()
        return await action()
      } finally {
        release()
      }
    },
  }
  return gate
}

const gatesOf = perRun(() => new Map<string, Gate>())

export function gateOf(run: Run, application: string): Gate {
  const gate = gatesOf(run).get(application) ?? createGate(application, run)
  gatesOf(run).set(application, gate)
  return gate
}

/** Does that while the application is idle and nothing else is sent to it; with the reason in words if it stays busy. */
export async function whileIdle<T>(
  run: Run,
  id: string,
  action: (busy?: string) => Promise<T>,
): Promise<T> {
  const state = { entered: false }
  try {
    return await gateOf(run, id).withExclusive(() => {
      state.entered = true
      return action()
    })
  } catch (error) {
    if (state.entered || !(error instanceof NotExercised) || run.life.ended) throw error
    return action(error.message)
  }
}

/** An application while nothing else is sent to it: what is sent here goes past its gate. */
export interface Held {
  readonly run: Run
  readonly application: ApplicationResource
  readonly gate: Gate
}

/** The application as it is while `action` lasts: idle at its beginning, and nothing else is sent to it. */
export function hold<T>(
  run: Run,
  application: ApplicationResource,
  action: (held: Held) => Promise<T>,
): Promise<T> {
  const gate = gateOf(run, application.id)
  return gate.withExclusive(() => action({ run, application, gate }))
}

/** Pause between two creations on an application that should be free, in ms. */
export const releaseMs = 1000

/**
 * Creates a job. The connection is its own: one that is sent once more, because the target had closed a connection, may have
 * made a job that nobody knows of.
 */
export async function create({ run, application, gate }: Held, requirement: string) {
  const purpose = { requirement, role: 'probe', expects: [[409, 'BadRequest']] } as const
  const exchange = await sendWithRetries(run, () => jobRequest(run, application), purpose, {
    fresh: true,
  })
  return { exchange, job: gate.record(exchange), isConflict: exchange.response?.status === 409 }
}

/** An application may be released some time after its last job ended, as `409-released` allows. */
export async function awaitReleased(run: Run, application: string): Promise<void> {
  const ends = jobsOf(run)
    .of(application)
    .map(({ readings }) => readings.find(isEnded)?.exchange.endedAt ?? 0)
  await pause(run, Math.max(0, ...ends.map((end) => end + 2 * releaseMs - performance.now())))
}
