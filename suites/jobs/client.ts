import { createSemaphore, operationProbe, orElse, pause } from '../../harness/client/index.ts'
import { isPlanned, perRun, type Run, askHolding } from '../../harness/run/index.ts'
import {
  describeResponse,
  type Exchange,
  NotExercised,
  type Probe,
  type Purpose,
  Throttled,
  type History,
  type HistoryEvent,
  idKey,
  isConflict,
  isMet,
  type Verdict,
} from '../../harness/journal/index.ts'
import { resendWhile } from '../../harness/checks/index.ts'
import { type ApplicationResource, applicationNames } from '../../harness/target/index.ts'
import { getAt } from '../../schemas/json.ts'
import { inProgressWithOthers } from './conflicts.ts'
import { isEnded, isRead, type Job, statusOf, viewOf } from './view.ts'
import { ids, type JobRuleId, jobRules } from './rules.ts'

/** Most creations beside a job while a guardrail or a model error interferes. */
const mostBlocks = 5

const textsOf = (input: unknown): readonly unknown[] | undefined => {
  const value = getAt(input, '/value')
  return Array.isArray(value) ? value : undefined
}

/**
 * Appends `moment` to each text of the inputs. Every fourth `moment` keeps only the required inputs, or only the first
 * input if none is required.
 */
export function withOtherValues(
  application: ApplicationResource,
  moment: number,
): ApplicationResource {
  const { inputs: all, requiredInputs } = application
  const isKept = (input: unknown, at: number) =>
    requiredInputs.length === 0 ? at === 0 : requiredInputs.includes(String(getAt(input, '/id')))
  const inputs = (moment % 4 === 3 ? all.filter(isKept) : all).map((input) => {
    const value = textsOf(input)?.map((text) => `${String(text)} ${moment}`)
    return value ? { ...input, value } : input
  })
  return { ...application, inputs }
}

export function jobRequest(run: Run, { id, inputs }: ApplicationResource): Promise<Probe> {
  const params = { application_id: id }
  return operationProbe(run, 'jobs.create', { params, json: { inputs }, effect: 'generates' })
}

const asProbe = (requirement: string): Purpose => ({
  requirement,
  role: 'probe',
  expects: [[409, 'BadRequest']],
})

/** Minimum interval of readings in ms, and its maximum share of the job's age. */
const firstPauseMs = 15
const pauseShare = 0.2
const longestPauseMs = 1000
/** Extra time beyond `settleMs` for an unreadable job, in ms. */
const unreadableMs = 1000

export class JobClient {
  readonly run: Run
  readonly history: History
  readonly isQuick: boolean
  readonly locks = new Map<string, Lock>()
  /** Applications that the run made to send refusals to. */
  readonly made: ApplicationResource[] = []
  readonly #polls = new Map<string, Promise<boolean>>()

  constructor(run: Run) {
    this.run = run
    this.history = run.journal
    this.isQuick = run.options.depth === 'quick'
  }

  get declared(): readonly ApplicationResource[] {
    const { resources } = this.run.target
    return applicationNames.flatMap((name) => resources[name] ?? [])
  }

  /** If the inputs have texts, creations beside a job must also vary them. */
  verdict(id: JobRuleId): Verdict {
    const hasTexts = this.declared.some(({ inputs }) => inputs.some(textsOf))
    const { rule } = jobRules[id]
    return (id === ids.inProgress && hasTexts ? inProgressWithOthers : rule)(this.history)
  }

  isPlanned(...requirements: readonly JobRuleId[]): boolean {
    return requirements.some((id) => isPlanned(this.run, id))
  }

  wants(id: JobRuleId): boolean {
    return this.isPlanned(id) && this.verdict(id).outcome === 'open'
  }

  isBroken(...requirements: readonly JobRuleId[]): boolean {
    return requirements.some((id) => this.verdict(id).outcome === 'broken')
  }

  pause(ms: number): Promise<void> {
    return pause(this.run, Math.max(0, ms))
  }

  eventOf({ sentAt, probe }: Exchange): HistoryEvent {
    const event = this.history.events.findLast(
      ({ exchange }) => exchange.probe === probe && exchange.sentAt === sentAt,
    )
    if (!event) throw new Error('an exchange about a job is not in the history')
    return event
  }

  /** Creates beside a job, without retries: while a throttled creation waits, the job would end. */
  async createBeside(application: ApplicationResource): Promise<HistoryEvent> {
    const probe = await jobRequest(this.run, application)
    const send = async (fresh: boolean): Promise<Exchange> => {
      const again = () =>
        this.run.client.sendWithStaleRetry({
          source: probe,
          purpose: asProbe(ids.inProgress),
          fresh,
        })
      return resendWhile(await again(), again, (one) => isMet(one), mostBlocks)
    }
    let exchange = await send(false)
    const event = this.eventOf(exchange)
    // An earlier request on the connection may have spoiled any other answer, and a connection may be lost.
    const isClear = isConflict(event) || event.isGranted || (event.status && event.isFirst)
    if (!isClear) exchange = await send(true)
    this.run.client.holdBack(exchange)
    return this.eventOf(exchange)
  }

  async read(id: string, requirement: string | null): Promise<HistoryEvent> {
    const probe = await operationProbe(this.run, 'jobs.retrieve', { params: { job_id: id } })
    const isSuccess: Purpose['isSuccess'] = ({ response }) => response?.status === 200
    const purpose = { requirement, role: 'poll', isSuccess } as const
    return this.eventOf(await askHolding(this.run, probe, purpose))
  }

  /** No creation returned an id, or a job was still missing after `settleMs`. */
  get cannotBeRead(): boolean {
    const { settleMs } = this.run.target.limits
    const { jobs } = viewOf(this.history)
    if (jobs.length === 0)
      return this.history.events.some(
        ({ operation, isGranted }) => operation === 'jobs.create' && isGranted,
      )
    const isAsked = ({ creation, readings }: Job): boolean =>
      readings.some(({ sentAt }) => sentAt - creation.endedAt >= settleMs)
    return jobs.some(isAsked) && !jobs.some(({ readings }) => readings.some(isRead))
  }

  /** Waits until a reading shows the end of the job, at most `jobTimeoutMs`, or until `deadline`; false otherwise. */
  awaitEnd(id: string, deadline?: number): Promise<boolean> {
    if (viewOf(this.history).jobOf(id)?.isOver ?? true) return Promise.resolve(true)
    const key = idKey(id)
    const until = deadline ?? performance.now() + this.run.target.limits.jobTimeoutMs
    const polling =
      this.#polls.get(key) ??
      this.#readUntil(id, null, isEnded, until).finally(() => this.#polls.delete(key))
    this.#polls.set(key, polling)
    return polling
  }

  readUntilFound({ id, creation }: Job, requirement: string): Promise<boolean> {
    const { settleMs } = this.run.target.limits
    return this.#readUntil(id, requirement, isRead, creation.endedAt + settleMs)
  }

  async #readUntil(
    id: string,
    requirement: string | null,
    willDo: (reading: HistoryEvent) => boolean,
    deadline: number,
  ): Promise<boolean> {
    const started = performance.now()
    const patienceMs = this.run.target.limits.settleMs + unreadableMs
    let lastRead = started
    for (;;) {
      const reading = await this.read(id, requirement)
      if (willDo(reading)) return true
      const now = performance.now()
      if (isRead(reading)) lastRead = now
      else if (now - lastRead > patienceMs || this.cannotBeRead) return false
      if (now >= deadline) return false
      // A quick run notices the end later, with fewer requests.
      const wait = Math.max((now - started) * pauseShare, firstPauseMs) * (this.isQuick ? 4 : 1)
      await this.pause(Math.min(wait, longestPauseMs, Math.max(1, deadline - now)))
    }
  }
}

export const clientOf = perRun((run) => new JobClient(run))

/** Pauses before a request is repeated to an application that is busy with another client's job, in ms. */
const busyPausesMs = [250, 500, 1000, 2000, 3000, 5000]
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
  readonly #jobTimeoutMs: number

  constructor(client: JobClient, application: ApplicationResource, lock = lockOf(client)) {
    this.client = client
    this.application = application
    this.#lock = lock
    this.#jobTimeoutMs = client.run.target.limits.jobTimeoutMs
  }

  get jobs(): readonly Job[] {
    return viewOf(this.client.history).applicationOf(this.application.id).jobs
  }

  get isGivenUp(): boolean {
    return this.#lock.gaveUp !== undefined
  }

  #giveUp(why: string): NotExercised {
    return (this.#lock.gaveUp ??= new NotExercised(`application ${this.application.id} ${why}`))
  }

  #isLate(what: string): NotExercised {
    return this.#giveUp(`${what} after ${this.#jobTimeoutMs} ms (limits.jobTimeoutMs)`)
  }

  /**
   * Creates a job on the held application, on a new connection: a creation repeated after a closed connection may have
   * made an unknown job.
   */
  async create(requirement: string): Promise<HistoryEvent> {
    const { client, application } = this
    const make = () => jobRequest(client.run, application)
    return client.eventOf(await askHolding(client.run, make, asProbe(requirement), true))
  }

  /** Waits for the end of all its jobs, at most `jobTimeoutMs`; false if one is still in progress. */
  async settle(): Promise<boolean> {
    const deadline = performance.now() + this.#jobTimeoutMs
    for (const { id, readings } of this.jobs) {
      if (this.#lock.unread.has(id) || (await this.client.awaitEnd(id, deadline))) continue
      const last = readings.at(-1)
      if (last?.noise !== undefined)
        throw new Throttled(`a reading got ${describeResponse(last.exchange)}`)
      if (last && statusOf(last) === 'in_progress') return false
      this.#lock.unread.add(id)
    }
    return true
  }

  async idle(): Promise<void> {
    if (!(await this.settle())) throw this.#isLate('still had a job in progress')
  }

  async #pauseBusy(ms: number): Promise<void> {
    if (this.client.cannotBeRead && (this.#lock.blindMs -= ms) < 0)
      throw this.#giveUp('is busy, and its jobs cannot be read')
    await this.client.pause(ms)
  }

  /**
   * Sends once the application is idle; after an unexpected 409, waits and repeats.
   * @param isExclusive it may start a job: nothing else goes to the application meanwhile
   */
  async sendWhenIdle(
    isExclusive: boolean,
    expects409: boolean,
    send: (fresh: boolean) => Promise<Exchange>,
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
        if (this.#lock.gaveUp) throw this.#lock.gaveUp
        await this.idle()
        const exchange = await send(fresh)
        if (exchange.response?.status !== 409 || expects409) return exchange
        const { unanswered } = exchange
        const isLost = unanswered && !unanswered.noResponse?.staleConnection
        if (isLost && ++lost >= run.client.losses.proof(lost, true))
          return { ...unanswered, unansweredTwice: true }
        fresh ||= unanswered !== undefined
        busySince ??= performance.now()
        const waits = (isExclusive || fresh) && performance.now() - busySince < this.#jobTimeoutMs
        if (attempt >= maxAttempts && !waits) {
          if (isExclusive) this.#isLate('was still answered 409')
          throw new NotExercised(
            `application ${this.application.id} got 409 ${attempt} times in a row${this.jobs.length > 0 ? '' : ', though the run made no job on it'}`,
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
    const { places } = this.#lock
    const release = await places.acquire(this.client.run.life.signal, { count: places.size })
    try {
      // Even an application that was given up can be used once its last job was seen to end: the release is then judged.
      if (!this.#lock.gaveUp) await this.idle()
      else if (!this.jobs.every(({ isOver }) => isOver)) throw this.#lock.gaveUp
      return release
    } catch (error) {
      release()
      throw error
    }
  }

  async hold<T>(action: (gate: this) => Promise<T>): Promise<T> {
    const release = await this.acquire()
    return action(this).finally(release)
  }

  /** Like `hold`; undefined if that is not exercised. */
  tryHold<T>(action: (gate: this) => Promise<T>): Promise<T | undefined> {
    return orElse(this.client.run, () => this.hold(action))
  }

  /**
   * Repeats the creation every second while it gets 409, and waits for the job of the first accepted one. False if none was
   * accepted, or the job's end was not seen.
   */
  async untilFree(requirement: string): Promise<boolean> {
    const { client, application } = this
    // A platform's own use of a new application may last as long as settling.
    const patienceMs = Math.max(this.#jobTimeoutMs, client.run.target.limits.settleMs)
    const deadline = performance.now() + (this.isGivenUp ? 0 : patienceMs)
    const { creations } = viewOf(client.history).applicationOf(application.id)
    for (let tries = 0; await this.settle(); tries++) {
      const last = creations.at(-1)
      if (!last || !isConflict(last)) return last?.isGranted ?? true
      const isLate = performance.now() > deadline
      if (tries > 0 && isLate) this.#isLate('was still answered 409')
      if (tries > 0 && (isLate || client.isBroken(ids.released, ids.created))) return false
      await this.#pauseBusy(pauseMs)
      await this.create(requirement)
    }
    return false
  }

  async look(requirement: string): Promise<'granted' | 'freed' | 'lost'> {
    const made = await this.create(requirement)
    if (isConflict(made)) return (await this.untilFree(requirement)) ? 'freed' : 'lost'
    await this.idle()
    return 'granted'
  }
}

/** The gate of a declared application, which may be declared twice, with different inputs. */
export function gateOf(client: JobClient, application: ApplicationResource): Gate {
  const lock = client.locks.get(application.id) ?? lockOf(client)
  client.locks.set(application.id, lock)
  return new Gate(client, application, lock)
}
