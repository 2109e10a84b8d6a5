import {
  type Given,
  type Client,
  createSemaphore,
  operationProbe,
  orElse,
  pause,
} from '../../harness/client/index.ts'
import { isPlanned, perRun, askHolding } from '../../harness/run/index.ts'
import {
  describeResponse,
  type Exchange,
  type History,
  type HistoryEvent,
  idKey,
  isConflict,
  isMet,
  NotExercised,
  type Probe,
  type Purpose,
  type Source,
  Throttled,
  type Verdict,
} from '../../harness/journal/index.ts'
import { resendWhile } from '../checks/created.ts'
import { type ApplicationValue, applicationNames } from '../../harness/target/index.ts'
import { inProgressWithOthers } from './creations.ts'
import {
  type Application,
  type Attempt,
  attemptsIn,
  isAsked,
  isEnded,
  isRead,
  type Job,
  statusOf,
  viewOf,
} from './view.ts'
import { ids, type JobRuleId, jobRules } from './rules.ts'

/**
 * Appends `moment` to each text of the inputs. Every fourth `moment` keeps only the required inputs, or only the first
 * input if none is required.
 */
export function withOtherValues(application: ApplicationValue, moment: number): ApplicationValue {
  const { inputs: all, requiredInputs = [] } = application
  const isKept = (options: { readonly id: string }, at: number) =>
    requiredInputs.length === 0 ? at === 0 : requiredInputs.includes(options.id)
  const inputs = (moment % 4 === 3 ? all.filter(isKept) : all).map((input) => ({
    ...input,
    value: input.value.map((text) => `${text} ${moment}`),
  }))
  return { ...application, inputs }
}

export function jobRequest(given: Given, application: ApplicationValue): Promise<Probe> {
  const params = { application_id: application.id }
  return operationProbe(given, 'jobs.create', {
    params,
    json: { inputs: application.inputs },
    effect: 'generates',
  })
}

const probing = (requirement: string): Purpose => ({
  requirement,
  role: 'probe',
  expects: [[409, 'BadRequest']],
})

/** Most creations beside a job while a guardrail or a model error interferes. */
const mostBlocks = 5
/** Minimum interval of readings in ms, and its maximum share of the job's age. */
const firstPauseMs = 15
const pauseShare = 0.2
const longestPauseMs = 1000
/** Extra time beyond `settleMs` for an unreadable job, in ms. */
const unreadableMs = 1000

const sharedBy = perRun(() => ({
  made: [] as ApplicationValue[],
  polls: new Map<string, Promise<boolean>>(),
  locks: new Map<string, Lock>(),
}))

export class Jobs {
  readonly client: Client
  readonly given: Given
  readonly history: History
  readonly isQuick: boolean

  constructor(client: Client, given: Given) {
    this.client = client
    this.given = given
    this.history = client.journal
    this.isQuick = given.options.depth === 'quick'
  }

  /** Declared, and made to send refusals to. */
  get applications(): readonly ApplicationValue[] {
    const { resources } = this.given.target
    const declared = applicationNames.flatMap((name) => resources[name] ?? [])
    return [...declared, ...sharedBy(this.client).made]
  }

  addMade(application: ApplicationValue): void {
    sharedBy(this.client).made.push(application)
  }

  /** If there are inputs, creations beside a job must also vary them. */
  verdict(id: JobRuleId): Verdict {
    const hasInputs = this.applications.some((application) => application.inputs.length > 0)
    const { rule } = jobRules[id]
    return (id === ids.inProgress && hasInputs ? inProgressWithOthers : rule)(this.history)
  }

  isPlanned(...requirements: readonly JobRuleId[]): boolean {
    return requirements.some((id) => isPlanned(this.given, id))
  }

  wants(id: JobRuleId): boolean {
    return this.isPlanned(id) && this.verdict(id).outcome === 'open'
  }

  isBroken(...requirements: readonly JobRuleId[]): boolean {
    return requirements.some((id) => this.verdict(id).outcome === 'broken')
  }

  pauseUntil(at: number): Promise<void> {
    return pause(this.client, Math.max(0, at - performance.now()))
  }

  eventOf(one: Exchange): HistoryEvent {
    const event = this.history.events.findLast(
      (other) => other.exchange.probe === one.probe && other.exchange.sentAt === one.sentAt,
    )
    if (!event) throw new Error('an exchange about a job is not in the history')
    return event
  }

  async send(source: Source, purpose: Purpose, fresh = false): Promise<HistoryEvent> {
    return this.eventOf(await askHolding(this.client, source, purpose, fresh))
  }

  async read(id: string): Promise<HistoryEvent> {
    const probe = await operationProbe(this.given, 'jobs.retrieve', { params: { job_id: id } })
    const isSuccess: Purpose['isSuccess'] = (one) => one.response?.status === 200
    return this.send(probe, { requirement: null, role: 'poll', isSuccess })
  }

  madeBy(creation: HistoryEvent): Job | undefined {
    return viewOf(this.history).madeBy(creation)
  }

  /** No creation returned an id, or a job was still missing after `settleMs`. */
  get cannotBeRead(): boolean {
    const { settleMs } = this.given.target.limits
    const { jobs } = viewOf(this.history)
    const isMissing = (job: Job): boolean =>
      job.readings.some((reading) => reading.sentAt - job.creation.endedAt >= settleMs)
    return jobs.length === 0
      ? this.history.events.some((one) => one.operation === 'jobs.create' && one.isGranted)
      : jobs.some(isMissing) && !jobs.some((job) => job.readings.some(isRead))
  }

  /** False if no reading shows the end of the job within `jobTimeoutMs`, or until `deadline`. */
  awaitEnd(id: string, deadline?: number): Promise<boolean> {
    if (viewOf(this.history).jobOf(id)?.isOver ?? true) return Promise.resolve(true)
    const { polls } = sharedBy(this.client)
    const key = idKey(id)
    const until = deadline ?? performance.now() + this.given.target.limits.jobTimeoutMs
    const polling =
      polls.get(key) ?? this.#readUntil(id, isEnded, until).finally(() => polls.delete(key))
    polls.set(key, polling)
    return polling
  }

  readUntilFound(job: Job): Promise<boolean> {
    const { settleMs } = this.given.target.limits
    return this.#readUntil(job.id, isRead, job.creation.endedAt + settleMs)
  }

  async #readUntil(
    id: string,
    willDo: (reading: HistoryEvent) => boolean,
    deadline: number,
  ): Promise<boolean> {
    const started = performance.now()
    const patienceMs = this.given.target.limits.settleMs + unreadableMs
    let lastRead = started
    for (;;) {
      const reading = await this.read(id)
      if (willDo(reading)) return true
      const now = performance.now()
      if (isRead(reading)) lastRead = now
      else if (now - lastRead > patienceMs || this.cannotBeRead) return false
      if (now >= deadline) return false
      // A quick run notices the end later, with fewer requests.
      const ms = Math.max((now - started) * pauseShare, firstPauseMs) * (this.isQuick ? 4 : 1)
      await this.pauseUntil(
        Math.min(now + Math.min(ms, longestPauseMs), Math.max(now + 1, deadline)),
      )
    }
  }
}

/** Pauses while another client's job occupies the application, in ms: the first, which doubles, and the longest. */
const busyMs = 250
const longestBusyMs = 5000
const maxAttempts = 5
/** This many lost answers to creations must fit into `jobTimeoutMs` to rule out chance. */
const triesIfLost = 13
/** Between two creations on an application that should be free, in ms. */
export const pauseMs = 1000

const newLock = () => ({
  // A refusal takes one place, a creation all.
  places: createSemaphore(Number.MAX_SAFE_INTEGER),
  unread: new Set<string>(),
  gaveUp: undefined as NotExercised | undefined,
})
type Lock = ReturnType<typeof newLock>

/**
 * While a job is in progress on the application, only requests of a 409 requirement pass. Refusals pass together,
 * creations alone.
 */
export class Gate extends Jobs {
  readonly application: ApplicationValue
  readonly #lock: Lock
  readonly #jobTimeoutMs: number

  constructor(client: Client, given: Given, application: ApplicationValue, lock = newLock()) {
    super(client, given)
    this.application = application
    this.#lock = lock
    this.#jobTimeoutMs = given.target.limits.jobTimeoutMs
  }

  get view(): Application {
    return viewOf(this.history).applicationOf(this.application.id)
  }

  get jobs(): readonly Job[] {
    return this.view.jobs
  }

  get attempts(): readonly Attempt[] {
    return attemptsIn(this.history).get(this.view) ?? []
  }

  get isGivenUp(): boolean {
    return this.#lock.gaveUp !== undefined
  }

  /** How long another client's job may occupy the application, in ms: jobs that cannot be read may last any time. */
  get #busyMs(): number {
    return this.cannotBeRead ? this.given.target.limits.settleMs : this.#jobTimeoutMs
  }

  #giveUp(what: string): NotExercised {
    return (this.#lock.gaveUp ??= new NotExercised(
      `application ${this.application.id} ${what} after ${this.#jobTimeoutMs} ms (limits.jobTimeoutMs)`,
    ))
  }

  /** On a new connection: a creation repeated after a closed one may have made an unknown job. */
  create(requirement: string): Promise<HistoryEvent> {
    return this.send(() => jobRequest(this.given, this.application), probing(requirement), true)
  }

  /** Creates beside a job, once: while a throttled creation waits, the job would end. */
  async createBeside(application: ApplicationValue): Promise<HistoryEvent> {
    const client = this.client
    const source = await jobRequest(this.given, application)
    const purpose = probing(ids.inProgress)
    const send = () => client.sendOnce({ source, purpose, fresh: true })
    const exchange = await resendWhile(await send(), send, isMet, mostBlocks)
    client.holdBack(exchange)
    return this.eventOf(exchange)
  }

  /** False if a job is still in progress after `jobTimeoutMs`. */
  async settle(): Promise<boolean> {
    const deadline = performance.now() + this.#jobTimeoutMs
    for (const { id, readings } of this.jobs) {
      if (this.#lock.unread.has(id) || (await this.awaitEnd(id, deadline))) continue
      const last = this.history.of(id).at(-1)
      if (last?.noise) throw new Throttled(`a reading got ${describeResponse(last.exchange)}`)
      if (readings.slice(-1).some((one) => statusOf(one) === 'in_progress')) return false
      this.#lock.unread.add(id)
    }
    return true
  }

  async idle(): Promise<void> {
    if (!(await this.settle())) throw this.#giveUp('still had a job in progress')
  }

  /**
   * Sends once the application is idle; after an unexpected 409, waits and repeats.
   * @param isExclusive it may start a job
   */
  async sendWhenIdle(
    isExclusive: boolean,
    expects409: boolean,
    send: (fresh: boolean) => Promise<Exchange>,
  ): Promise<Exchange> {
    const client = this.client
    const { life } = this.client
    const { places } = this.#lock
    // Kept for all attempts: another request would occupy the application again. Refusals do not wait behind creations.
    const count = isExclusive ? places.size : 1
    const release = await places.acquire(life.signal, count, !isExclusive)
    try {
      let busySince: number | undefined
      let lost = 0
      let fresh = false
      for (let attempt = 1; ; attempt++) {
        if (this.#lock.gaveUp) throw this.#lock.gaveUp
        await this.idle()
        const exchange = await send(fresh)
        if (exchange.response?.status !== 409 || expects409) return exchange
        const { unanswered } = exchange
        const isLost = unanswered && !unanswered.noResponse?.staleConnection
        if (isLost && ++lost >= client.losses.proof(lost, true))
          return { ...unanswered, unansweredTwice: true }
        fresh ||= unanswered !== undefined
        busySince ??= performance.now()
        const waits = (isExclusive || fresh) && performance.now() - busySince < this.#busyMs
        if (attempt >= maxAttempts && !waits) {
          if (isExclusive) this.#giveUp('was still answered 409')
          throw new NotExercised(
            `application ${this.application.id} got 409 ${attempt} times in a row${this.jobs.length > 0 ? '' : ', though the run made no job on it'}`,
          )
        }
        // Busy with another client's job, or not released yet: only time helps.
        const mostMs = isLost ? this.#jobTimeoutMs / triesIfLost : longestBusyMs
        await pause(this.client, Math.min(busyMs * 2 ** (attempt - 1), mostMs))
      }
    } finally {
      release()
    }
  }

  /** Returns a function to release the idle application; throws `NotExercised` if not idle in time. */
  async acquire(): Promise<() => void> {
    const { places } = this.#lock
    const release = await places.acquire(this.client.life.signal, places.size)
    try {
      // One that was given up can be used once its last job was seen to end: its release is judged.
      if (!this.#lock.gaveUp) await this.idle()
      else if (!this.jobs.every((job) => job.isOver)) throw this.#lock.gaveUp
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

  tryHold<T>(action: (gate: this) => Promise<T>): Promise<T | undefined> {
    return orElse(this.client, () => this.hold(action))
  }

  /** Repeats the creation every second while it gets 409; false if none was accepted, or its job's end was not seen. */
  async untilFree(): Promise<boolean> {
    // A platform's own use of a new application may last as long as settling.
    const patienceMs = Math.max(this.#busyMs, this.given.target.limits.settleMs)
    const deadline = performance.now() + (this.isGivenUp ? 0 : patienceMs)
    for (let tries = 0; await this.settle(); tries++) {
      const last = this.view.creations.findLast(isAsked)
      if (!last || !isConflict(last)) return last?.isGranted ?? true
      const isLate = performance.now() > deadline
      if (tries > 0 && isLate) this.#giveUp('was still answered 409')
      if (tries > 0 && (isLate || this.isBroken(ids.released, ids.created))) return false
      await pause(this.client, pauseMs)
      await this.create(ids.released)
    }
    return false
  }

  async look(): Promise<'granted' | 'freed' | 'lost'> {
    const made = await this.create(ids.noEffect)
    if (isConflict(made)) return (await this.untilFree()) ? 'freed' : 'lost'
    await this.idle()
    return 'granted'
  }
}

/** The gate of a declared application, which may be declared twice, with different inputs. */
export function gateOf(jobs: Pick<Jobs, 'client' | 'given'>, application: ApplicationValue): Gate {
  const { locks } = sharedBy(jobs.client)
  const lock = locks.get(application.id) ?? newLock()
  locks.set(application.id, lock)
  return new Gate(jobs.client, jobs.given, application, lock)
}
