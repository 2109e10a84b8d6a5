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

/** Pauses before a request is sent again to an application that is busy with somebody else's job, in ms. */
const busyPausesMs = [250, 500, 1000, 2000, 3000, 5000]
/** What starts no job is sent so often. */
const maxAttempts = 5
/** So many lost answers to creations have to fit into `jobTimeoutMs`: then no chance explains them. */
const triesIfLost = 13
/** Between two creations on an application that should be free, in ms. */
export const pauseMs = 1000

/** What all that is sent to one application has in common. */
const lockOf = ({ run }: JobClient) => ({
  // A refusal takes one place, a creation all of them.
  places: createSemaphore(Number.MAX_SAFE_INTEGER),
  unread: new Set<string>(),
  /** How long it is waited for yet, in ms, if its jobs cannot be read: one of the run may go on for as long as it likes. */
  blindMs: run.target.limits.settleMs,
  gaveUp: undefined as NotExercised | undefined,
})
type Lock = ReturnType<typeof lockOf>

/**
 * The gate of one application: while it has a job in progress, only what a 409 requirement sends itself goes there. Refusals go
 * through together, creations alone. Who holds it sends past all others.
 */
export class Gate {
  readonly client: JobClient
  /** With the inputs that are sent. */
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

  /** Waits for the end of every job of it, at most `jobTimeoutMs`; false if one is still read as in progress then. */
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

  /** Throws if a job does not end, now or before: it is not waited for any more. */
  async #idle(): Promise<void> {
    if (this.#lock.gaveUp) throw this.#lock.gaveUp
    if (!(await this.settle())) throw this.giveUp('still had a job in progress')
  }

  /** Pauses while it is busy; throws if its jobs cannot be read and it has been waited for long enough. */
  async #pauseBusy(ms: number): Promise<void> {
    if (this.client.cannotBeRead && (this.#lock.blindMs -= ms) < 0)
      throw (this.#lock.gaveUp ??= new NotExercised(
        `application ${this.application.id} is busy, and its jobs cannot be read`,
      ))
    await this.client.pause(ms)
  }

  /**
   * Sends once the application is idle; if it is answered 409 unexpectedly, waits and sends again.
   * @param isExclusive it may start a job: nothing else goes to the application meanwhile
   */
  async sendWhenIdle(
    isExclusive: boolean,
    expects409: boolean,
    send: GatedSend,
  ): Promise<Exchange> {
    const { run } = this.client
    // Kept over all attempts: another request would make the application busy again.
    // Refusals, of which many go at once, do not wait for creations that wait too, each for a job to end.
    const turn = isExclusive ? { count: this.#lock.places.size } : { count: 1, urgent: true }
    const release = await this.#lock.places.acquire(run.life.signal, turn)
    try {
      let busySince: number | undefined
      /** Connections of their own on which no answer came: such a creation may be what makes the application busy. */
      let lost = 0
      let fresh = false
      for (let attempt = 1; ; attempt++) {
        await this.#idle()
        const exchange = await send({ fresh })
        if (exchange.response?.status !== 409 || expects409) return exchange
        const { unanswered } = exchange
        const isLost = unanswered && !unanswered.noResponse?.staleConnection
        if (isLost && ++lost >= run.client.losses.proof(lost, 0))
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
        // Busy with a job that this run did not create, or not released yet: all that helps is time.
        const mostMs = isLost ? this.#jobTimeoutMs / triesIfLost : this.#jobTimeoutMs
        await this.#pauseBusy(Math.min(busyPausesMs[attempt - 1] ?? 5000, mostMs))
      }
    } finally {
      release()
    }
  }

  /** Takes the idle application to itself, and gives what lets go of it again; throws `NotExercised` if it is not idle in time. */
  async acquire(): Promise<() => void> {
    const release = await this.#lock.places.acquire(this.client.run.life.signal, {
      count: this.#lock.places.size,
    })
    try {
      // Even if it was given up its release is judged, if a reading showed that its last job ended.
      if (!this.isGivenUp || !this.jobs.every(({ isOver }) => isOver)) await this.#idle()
      return release
    } catch (error) {
      release()
      throw error
    }
  }

  /** Has the idle application to itself while `action` lasts. */
  async hold<T>(action: (gate: this) => Promise<T>): Promise<T> {
    const release = await this.acquire()
    return action(this).finally(release)
  }

  /** The same, or nothing at all if nothing can be judged by it. */
  tryHold<T>(action: (gate: this) => Promise<T>): Promise<T | undefined> {
    return orElse(this.client.run, () => this.hold(action))
  }

  /** After a 409: creations, a second apart, until one is granted and its job has ended; false if nothing more is to be learned. */
  async untilFree(requirement: string): Promise<boolean> {
    // What a platform does with a new application takes as long as it may take to settle.
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

/** The gate of a declared application: it may be declared twice, with other inputs. */
export const gateOf = (client: JobClient, application: ApplicationResource): Gate =>
  new Gate(
    client,
    application,
    client.once(`lock of ${application.id}`, () => lockOf(client)),
  )
