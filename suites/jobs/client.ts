import { holdBack } from '../../harness/checks/index.ts'
import {
  type Exchange,
  isPlanned,
  operationProbe,
  pause,
  perRun,
  type Probe,
  type Purpose,
  type Run,
  sendWithStaleRetry,
} from '../../harness/engine/index.ts'
import { ask, askHolding, pastBlocks } from '../../harness/run/index.ts'
import {
  type History,
  type HistoryEvent,
  historyOf,
  idKey,
  isConflict,
  type Verdict,
} from '../../harness/journal/index.ts'
import { type ApplicationResource, applicationNames } from '../../harness/target/index.ts'
import { getAt } from '../../schemas/json.ts'
import { inProgressWithOthers } from './conflicts.ts'
import { isEnded, isRead, type Job } from './job.ts'
import { ids, type JobRuleId, jobRules } from './rules.ts'
import { viewOf } from './view.ts'

/** Gives each text of the inputs another value; every other time only to the required inputs, or the first one. */
export function withOtherValues(
  application: ApplicationResource,
  moment: number,
): ApplicationResource {
  const required = application.requiredInputs
  const isKept = (input: unknown, at: number) =>
    required.length === 0 ? at === 0 : required.includes(String(getAt(input, '/id')))
  const own = moment % 4 === 3 ? application.inputs.filter(isKept) : application.inputs
  const inputs = own.map((input) => {
    const texts = getAt(input, '/value')
    return Array.isArray(texts)
      ? { ...input, value: texts.map((text) => `${String(text)} ${moment}`) }
      : input
  })
  return { ...application, inputs }
}

/** A creation of a job for that application, with its declared inputs. */
export function jobRequest(run: Run, { id, inputs }: ApplicationResource): Promise<Probe> {
  const params = { application_id: id }
  return operationProbe(run, 'jobs.create', { params, json: { inputs }, effect: 'generates' })
}

const asProbe = (requirement: string): Purpose => ({
  requirement,
  role: 'probe',
  expects: [[409, 'BadRequest']],
})

/** Readings are so far apart at least, in ms, and no further than that share of the time that the job has taken. */
const firstPauseMs = 15
const pauseShare = 0.2
const longestPauseMs = 1000
/** A job that cannot be read for so much longer than `settleMs` is not waited for, in ms. */
const unreadableMs = 1000

/** How a run creates and reads jobs, and what it knows of them. It judges nothing. */
export class JobClient {
  readonly run: Run
  readonly history: History
  readonly isQuick: boolean
  readonly #known = new Map<string, unknown>()
  readonly #polls = new Map<string, Promise<boolean>>()

  constructor(run: Run) {
    this.run = run
    this.history = historyOf(run)
    this.isQuick = run.options.depth === 'quick'
  }

  /** Makes a thing once a run, whoever asks first. */
  once<T>(key: string, make: () => T): T {
    if (!this.#known.has(key)) this.#known.set(key, make())
    return this.#known.get(key) as T
  }

  /** The declared applications. */
  get declared(): readonly ApplicationResource[] {
    const { resources } = this.run.target
    return applicationNames.flatMap((name) => resources[name] ?? [])
  }

  /** What the history says of a requirement. If the inputs have texts, creations beside a job are to have other ones, too. */
  verdict(id: JobRuleId): Verdict {
    const hasTexts = this.declared.some(({ inputs }) =>
      inputs.some((input) => Array.isArray(getAt(input, '/value'))),
    )
    const { rule } = jobRules[id]
    return (id === ids.inProgress && hasTexts ? inProgressWithOthers : rule)(this.history)
  }

  isPlanned(...requirements: readonly JobRuleId[]): boolean {
    return requirements.some((id) => isPlanned(this.run, id))
  }

  /** Whether it is asked for, and not known yet. */
  wants(id: JobRuleId): boolean {
    return this.isPlanned(id) && this.verdict(id).outcome === 'open'
  }

  isBroken(id: JobRuleId): boolean {
    return this.verdict(id).outcome === 'broken'
  }

  pause(ms: number): Promise<void> {
    return pause(this.run, Math.max(0, ms))
  }

  /** The event that an exchange of this run was appended as. */
  eventOf({ sentAt, probe }: Exchange): HistoryEvent {
    const event = this.history.events.findLast(
      ({ exchange }) => exchange.probe === probe && exchange.sentAt === sentAt,
    )
    if (!event) throw new Error('an exchange about a job is not in the history')
    return event
  }

  /**
   * Creates a job on an application that is held. The connection is its own: a creation that is sent once more, because the target
   * had closed a connection, may have made a job that nobody knows of.
   */
  async create(application: ApplicationResource, requirement: string): Promise<HistoryEvent> {
    const make = () => jobRequest(this.run, application)
    return this.eventOf(await askHolding(this.run, make, asProbe(requirement), { fresh: true }))
  }

  /** Creates beside a job. Sent once: while a throttled creation waited, the job would end. */
  async createBeside(application: ApplicationResource): Promise<HistoryEvent> {
    const probe = await jobRequest(this.run, application)
    const send = (fresh: boolean) =>
      pastBlocks(() => sendWithStaleRetry(this.run, probe, asProbe(ids.inProgress), { fresh }))
    let exchange = await send(false)
    const event = this.eventOf(exchange)
    // The previous request on the connection may have spoiled any other answer, and a connection may be lost.
    const isClear = isConflict(event) || event.isGranted || (event.status && event.isFirst)
    if (!isClear) exchange = await send(true)
    holdBack(this.run, exchange)
    return this.eventOf(exchange)
  }

  /** Creates a job once its application is free, and gives it; undefined if it made none. */
  async createWhenFree(application: ApplicationResource, requirement: string) {
    const purpose = { requirement, role: 'setup' } as const
    const exchange = await ask(this.run, () => jobRequest(this.run, application), purpose)
    return { exchange, job: viewOf(this.history).madeBy(this.eventOf(exchange)) }
  }

  async read(id: string, requirement: string | null): Promise<HistoryEvent> {
    const probe = await operationProbe(this.run, 'jobs.retrieve', { params: { job_id: id } })
    const isSuccess: Purpose['isSuccess'] = ({ response }) => response?.status === 200
    const purpose = { requirement, role: 'poll', isSuccess } as const
    return this.eventOf(await askHolding(this.run, probe, purpose))
  }

  /** Whether jobs cannot be read at all: no creation told an id, or one was asked for until `settleMs` were over. It is not waited for again. */
  get cannotBeRead(): boolean {
    const { settleMs } = this.run.target.limits
    const jobs = viewOf(this.history).jobs
    const isMade = ({ operation, isGranted }: HistoryEvent): boolean =>
      operation === 'jobs.create' && isGranted
    if (jobs.length === 0) return this.history.events.some(isMade)
    const isAsked = ({ creation, readings }: Job): boolean =>
      readings.some(({ sentAt }) => sentAt - creation.endedAt >= settleMs)
    return jobs.some(isAsked) && !jobs.some(({ readings }) => readings.some(isRead))
  }

  /** Waits until a reading shows that the job has ended, at most `jobTimeoutMs`, or until `deadline` (`performance.now()`); false if none shows it. */
  awaitEnd(id: string, deadline?: number): Promise<boolean> {
    if (viewOf(this.history).jobOf(id)?.isOver ?? true) return Promise.resolve(true)
    const key = idKey(id)
    const until = deadline ?? performance.now() + this.run.target.limits.jobTimeoutMs
    const polling =
      this.#polls.get(key) ??
      this.readUntil(id, null, isEnded, until).finally(() => this.#polls.delete(key))
    this.#polls.set(key, polling)
    return polling
  }

  /** Reads a job until a reading will do, at most until `deadline`, or until it was unreadable for too long; false if none does. */
  async readUntil(
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
      // A quick run sees the end of a job later, with fewer requests.
      const wait = Math.max((now - started) * pauseShare, firstPauseMs) * (this.isQuick ? 4 : 1)
      await this.pause(Math.min(wait, longestPauseMs, Math.max(1, deadline - now)))
    }
  }

  /** Reads a new job until it is found, at most until `settleMs` have passed. */
  readUntilFound({ id, creation }: Job, requirement: string): Promise<boolean> {
    const { settleMs } = this.run.target.limits
    return this.readUntil(id, requirement, isRead, creation.endedAt + settleMs)
  }
}

export const clientOf = perRun((run) => new JobClient(run))
