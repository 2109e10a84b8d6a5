import {
  createSemaphore,
  describeResponse,
  type Exchange,
  type GatedSend,
  NotExercised,
  orElse,
  Throttled,
} from '../../harness/engine/index.ts'
import { type HistoryEvent, isConflict } from '../../harness/journal/index.ts'
import type { ApplicationResource } from '../../harness/target/index.ts'
import type { JobClient } from './client.ts'
import { type Job, statusOf } from './job.ts'
import { ids } from './rules.ts'
import { viewOf } from './view.ts'

/** Pauses before a request is repeated to an application that is busy with another client's job, in ms. */
const busyPausesMs = [250, 500, 1000, 2000, 3000, 5000]
/** Attempts for requests that start no job. */
const maxAttempts = 5
/** This many lost answers to creations must fit into `jobTimeoutMs` to rule out chance. */
const triesIfLost = 13
/** Between two creations on an application that should be free, in ms. */
export const pauseMs = 1000

const lockOf = ({ run }: JobClient) => ({
  // A refusal takes one place, a creation all.
  places: createSemaphore(Number.MAX_SAFE_INTEGER),
  unread: new Set<string>(),
  /** Remaining wait if its jobs cannot be read, in ms: they may last any time. */
  blindMs: run.target.limits.settleMs,
  gaveUp: undefined as NotExercised | undefined,
})
type Lock = ReturnType<typeof lockOf>

/**
 * The gate of one application: while a job is in progress, only requests of a 409 requirement pass. Refusals pass
 * together, creations alone. A holder bypasses all others.
 */
export class Gate {
  readonly client: JobClient
  readonly application: ApplicationResource
  readonly #lock: Lock

  constructor(client: JobClient, application: ApplicationResource, lock = lockOf(client)) {
    this.client = client
    this.application = application
    this.#lock = lock
  }

  get jobs(): readonly Job[] {
    return viewOf(this.client.history).applicationOf(this.application.id).jobs
  }

  get #jobTimeoutMs(): number {
    return this.client.run.target.limits.jobTimeoutMs
  }

  get isGivenUp(): boolean {
    return this.#lock.gaveUp !== undefined
  }

  giveUp(why: string): NotExercised {
    const after = `after ${this.#jobTimeoutMs} ms (limits.jobTimeoutMs)`
    return (this.#lock.gaveUp ??= new NotExercised(
      `application ${this.application.id} ${why} ${after}`,
    ))
  }

  create(requirement: string): Promise<HistoryEvent> {
    return this.client.create(this.application, requirement)
  }

  /** Waits for the end of all its jobs, at most `jobTimeoutMs`; false if one is still in progress. */
  async settle(): Promise<boolean> {
    const deadline = performance.now() + this.#jobTimeoutMs
    for (const { id, readings } of this.jobs) {
      if (this.#lock.unread.has(id) || (await this.client.awaitEnd(id, deadline))) continue
      const last = readings.at(-1)
      if (last?.noise !== undefined)
        throw new Throttled(`a reading was answered ${describeResponse(last.exchange)}`)
      if (last && statusOf(last) === 'in_progress') return false
      this.#lock.unread.add(id)
    }
    return true
  }

  /** Throws if a job does not end; then it is not waited for again. */
  async #idle(): Promise<void> {
    if (this.#lock.gaveUp) throw this.#lock.gaveUp
    if (!(await this.settle())) throw this.giveUp('still had a job in progress')
  }

  /** Pauses while busy; throws if its jobs cannot be read and it has waited long enough. */
  async #pauseBusy(ms: number): Promise<void> {
    if (this.client.cannotBeRead && (this.#lock.blindMs -= ms) < 0)
      throw (this.#lock.gaveUp ??= new NotExercised(
        `application ${this.application.id} is busy, and its jobs cannot be read`,
      ))
    await this.client.pause(ms)
  }

  /**
   * Sends once the application is idle; after an unexpected 409, waits and repeats.
   * @param isExclusive it may start a job: nothing else goes to the application meanwhile
   */
  async sendWhenIdle(
    isExclusive: boolean,
    expects409: boolean,
    send: GatedSend,
  ): Promise<Exchange> {
    const { run } = this.client
    // Kept for all attempts, since another request would occupy the application again. Concurrent refusals do not wait
    // behind creations, each of which waits for a job.
    const turn = isExclusive ? { count: this.#lock.places.size } : { count: 1, urgent: true }
    const release = await this.#lock.places.acquire(run.life.signal, turn)
    try {
      let busySince: number | undefined
      /** Unanswered creations, which may occupy the application. */
      let lost = 0
      let fresh = false
      for (let attempt = 1; ; attempt++) {
        await this.#idle()
        const exchange = await send({ fresh })
        if (exchange.response?.status !== 409 || expects409) return exchange
        const { unanswered } = exchange
        const isLost = unanswered && !unanswered.noResponse?.staleConnection
        if (isLost && ++lost >= run.client.losses.proof(lost))
          return { ...unanswered, unansweredTwice: true }
        fresh ||= unanswered !== undefined
        busySince ??= performance.now()
        const waits = (isExclusive || fresh) && performance.now() - busySince < this.#jobTimeoutMs
        if (attempt >= maxAttempts && !waits) {
          if (isExclusive) this.giveUp('was still answered 409')
          throw new NotExercised(
            `application ${this.application.id} was answered 409 ${attempt} times in a row${this.jobs.length > 0 ? '' : ', though the run made no job on it'}`,
          )
        }
        // Busy with another client's job, or not released yet: only time helps.
        const mostMs = isLost ? this.#jobTimeoutMs / triesIfLost : this.#jobTimeoutMs
        await this.#pauseBusy(Math.min(busyPausesMs[attempt - 1] ?? 5000, mostMs))
      }
    } finally {
      release()
    }
  }

  /** Reserves the idle application, and returns a function to release it; throws `NotExercised` if not idle in time. */
  async acquire(): Promise<() => void> {
    const release = await this.#lock.places.acquire(this.client.run.life.signal, {
      count: this.#lock.places.size,
    })
    try {
      // Even if given up, its release is judged if a reading showed the end of its last job.
      if (!this.isGivenUp || !this.jobs.every(({ isOver }) => isOver)) await this.#idle()
      return release
    } catch (error) {
      release()
      throw error
    }
  }

  /** Holds the idle application during `action`. */
  async hold<T>(action: (gate: this) => Promise<T>): Promise<T> {
    const release = await this.acquire()
    return action(this).finally(release)
  }

  /** Like `hold`; undefined if that is not exercised. */
  tryHold<T>(action: (gate: this) => Promise<T>): Promise<T | undefined> {
    return orElse(this.client.run, () => this.hold(action))
  }

  /** After a 409: creations, a second apart, until one is accepted and its job has ended; false if inconclusive. */
  async untilFree(requirement: string): Promise<boolean> {
    // A platform's own use of a new application may last as long as settling.
    const patienceMs = Math.max(this.#jobTimeoutMs, this.client.run.target.limits.settleMs)
    const deadline = performance.now() + (this.isGivenUp ? 0 : patienceMs)
    while (await this.settle()) {
      await this.#pauseBusy(pauseMs)
      const made = await this.create(requirement)
      if (made.isGranted) return this.settle()
      const isLate = performance.now() > deadline
      if (isConflict(made) && isLate) this.giveUp('was still answered 409')
      const isOver = this.client.isBroken(ids.released) || this.client.isBroken(ids.created)
      if (!isConflict(made) || isLate || isOver) return false
    }
    return false
  }
}

/** The gate of a declared application, which may be declared twice, with different inputs. */
export const gateOf = (client: JobClient, application: ApplicationResource): Gate =>
  new Gate(
    client,
    application,
    client.once(`lock of ${application.id}`, () => lockOf(client)),
  )
