import {
  type Exchange,
  isPlanned,
  operationProbe,
  pause,
  perRun,
  type Probe,
  type Purpose,
  type Run,
} from '../../harness/engine/index.ts'
import { ask, askHolding } from '../../harness/run/index.ts'
import {
  type History,
  type HistoryEvent,
  historyOf,
  idKey,
  isConflict,
  isMet,
  type Verdict,
} from '../../harness/journal/index.ts'
import { resendWhile } from '../../harness/checks/index.ts'
import { type ApplicationResource, applicationNames } from '../../harness/target/index.ts'
import { getAt } from '../../schemas/json.ts'
import { inProgressWithOthers } from './conflicts.ts'
import { isEnded, isRead, type Job } from './job.ts'
import { ids, type JobRuleId, jobRules } from './rules.ts'
import { viewOf } from './view.ts'

/** Most creations beside a job while a guardrail or a model error interferes. */
const mostBlocks = 5

/** Changes each text of the inputs; every other time only in the required inputs, or the first one. */
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

/** A creation for that application with its declared inputs. */
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

/** Creates and reads jobs, and keeps track of them; judges nothing. */
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

  /** Makes something once per run, for the first caller. */
  once<T>(key: string, make: () => T): T {
    if (!this.#known.has(key)) this.#known.set(key, make())
    return this.#known.get(key) as T
  }

  get declared(): readonly ApplicationResource[] {
    const { resources } = this.run.target
    return applicationNames.flatMap((name) => resources[name] ?? [])
  }

  /** The history's verdict on a requirement. If the inputs have texts, creations beside a job must also vary them. */
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

  wants(id: JobRuleId): boolean {
    return this.isPlanned(id) && this.verdict(id).outcome === 'open'
  }

  isBroken(id: JobRuleId): boolean {
    return this.verdict(id).outcome === 'broken'
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

  /**
   * Creates a job on a held application, on a new connection: a creation repeated after a closed connection may have
   * made an unknown job.
   */
  async create(application: ApplicationResource, requirement: string): Promise<HistoryEvent> {
    const make = () => jobRequest(this.run, application)
    return this.eventOf(await askHolding(this.run, make, asProbe(requirement), { fresh: true }))
  }

  /** Creates beside a job, without retries: while a throttled creation waits, the job would end. */
  async createBeside(application: ApplicationResource): Promise<HistoryEvent> {
    const probe = await jobRequest(this.run, application)
    const send = async (fresh: boolean): Promise<Exchange> => {
      const again = () =>
        this.run.client.sendWithStaleRetry(probe, asProbe(ids.inProgress), { fresh })
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

  /** Creates a job once its application is free; undefined if it was refused. */
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

  /**
   * Waits until a reading shows the end of the job, at most `jobTimeoutMs`, or until `deadline` (`performance.now()`);
   * false otherwise.
   */
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

  /**
   * Reads a job until a reading satisfies, at most until `deadline`, or until it was unreadable too long; false
   * otherwise.
   */
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
      // A quick run notices the end later, with fewer requests.
      const wait = Math.max((now - started) * pauseShare, firstPauseMs) * (this.isQuick ? 4 : 1)
      await this.pause(Math.min(wait, longestPauseMs, Math.max(1, deadline - now)))
    }
  }

  /** Reads a new job until found, at most `settleMs`. */
  readUntilFound({ id, creation }: Job, requirement: string): Promise<boolean> {
    const { settleMs } = this.run.target.limits
    return this.readUntil(id, requirement, isRead, creation.endedAt + settleMs)
  }
}

export const clientOf = perRun((run) => new JobClient(run))
