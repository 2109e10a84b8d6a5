import { declaredResource, grantedControl, isDeclared, makeOne } from '../checks/valid-request.ts'
import { once, sendAtOnce } from '../checks/created.ts'
import {
  allEnded,
  type Client,
  createSemaphore,
  type Given,
  operationProbe,
  orElse,
  pause,
} from '../../harness/client/index.ts'
import { ask, isPlanned, perRun } from '../../harness/run/index.ts'
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
import { type ApplicationValue, applicationNames } from '../../harness/target/index.ts'
import { leftOut } from '../../harness/report/index.ts'
import type { RequirementId } from '../../catalogue/catalogue.ts'
import { withCredential } from '../authentication/credentials.ts'
import { noCredential } from '../authentication/key-forms.ts'
import { type Refusal, refusalsOf } from '../created/drive.ts'
import { conflict, inProgressWithOthers, moments, timesAlike, windowMs } from './creations.ts'
import { groupBy } from '../../harness/group-by.ts'
import { jobFaults } from './faults.ts'
import { apartMs } from './readings.ts'
import { ids, type JobRuleId, jobRules, rulesAfter, type State } from './rules.ts'
import {
  type Application,
  attemptsIn,
  hasEnded,
  isAsked,
  isEnded,
  isOwn,
  isRead,
  type Job,
  ownJobs,
  statusOf,
  viewOf,
} from './view.ts'

/**
 * Appends `moment` to each text of the inputs. Every fourth `moment` keeps only the required inputs, or only the first
 * input if none is required.
 */
function withOtherValues(application: ApplicationValue, moment: number): ApplicationValue {
  const { inputs: all, requiredInputs = [] } = application
  const required = all.filter((input) => requiredInputs.includes(input.id))
  const fewer = required.length > 0 ? required : all.slice(0, 1)
  const inputs = (moment % 4 === 3 ? fewer : all).map((input) => ({
    ...input,
    value: input.value.map((text) => `${text} ${moment}`),
  }))
  return { ...application, inputs }
}

export function jobRequest(given: Given, application: ApplicationValue): Promise<Probe> {
  const params = { application_id: application.id }
  const json = { inputs: application.inputs }
  return operationProbe(given, 'jobs.create', { params, json, effect: 'generates' })
}

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
    return this.eventOf(await ask(this.client, source, purpose, { fresh, isHeld: true }))
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

  /** False if no reading shows the end of the job within `jobTimeoutMs`. */
  awaitEnd(id: string): Promise<boolean> {
    if (viewOf(this.history).jobOf(id)?.isOver ?? true) return Promise.resolve(true)
    const { polls } = sharedBy(this.client)
    const key = idKey(id)
    const deadline = performance.now() + this.given.target.limits.jobTimeoutMs
    const polling =
      polls.get(key) ?? this.#readUntil(id, isEnded, deadline).finally(() => polls.delete(key))
    polls.set(key, polling)
    return polling
  }

  readUntilFound(job: Job): Promise<boolean> {
    return this.#readUntil(job.id, isRead, job.creation.endedAt + this.given.target.limits.settleMs)
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
      await pause(this.client, Math.min(ms, longestPauseMs, Math.max(1, deadline - now)))
    }
  }
}

/** Pauses while another client's job occupies the application, in ms: the first, which doubles, and the longest. */
const busyMs = 250
const longestBusyMs = 5000
/** How long a refusal is repeated, in ms. */
const refusalMs = 3500
/** This many lost answers to creations must fit into `jobTimeoutMs` to rule out chance. */
const triesIfLost = 13
/** Between two creations on an application that should be free, in ms. */
const pauseMs = 1000

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
class Gate extends Jobs {
  readonly application: ApplicationValue
  readonly #lock: Lock
  readonly #jobTimeoutMs: number

  /** @param application may be declared twice, with different inputs */
  constructor({ client, given }: Jobs, application: ApplicationValue) {
    super(client, given)
    const { locks } = sharedBy(client)
    const { id } = application
    this.application = application
    this.#lock = locks.get(id) ?? newLock()
    locks.set(id, this.#lock)
    this.#jobTimeoutMs = given.target.limits.jobTimeoutMs
  }

  get view(): Application {
    return viewOf(this.history).applicationOf(this.application.id)
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

  /**
   * Creates a job on the idle application, on a new connection: a creation repeated after a closed one may have made an
   * unknown job.
   */
  create(requirement: string): Promise<HistoryEvent> {
    const make = () => jobRequest(this.given, this.application)
    return this.send(make, { requirement, role: 'setup', expects: conflict }, true)
  }

  /** Creates beside a job, once: while a throttled creation waits, the job would end. */
  async createBeside(application: ApplicationValue): Promise<HistoryEvent> {
    const client = this.client
    const source = await jobRequest(this.given, application)
    const purpose = { requirement: ids.inProgress, role: 'probe', expects: conflict } as const
    const send = () => client.sendOnce({ source, purpose, fresh: true })
    let exchange = await send()
    for (let tries = 1; tries < mostBlocks && isMet(exchange); tries++) exchange = await send()
    client.holdBack(exchange)
    return this.eventOf(exchange)
  }

  /** Whether the job goes on, by a reading of it. */
  async goesOn(job: Job): Promise<boolean> {
    if (!(await this.readUntilFound(job))) return false
    const last = job.readings.at(-1)
    return last !== undefined && statusOf(last) === 'in_progress' && isOwn(last, job)
  }

  /** False if a job is still in progress after `jobTimeoutMs`. */
  async settle(): Promise<boolean> {
    for (const { id, readings } of this.view.jobs) {
      if (this.#lock.unread.has(id) || (await this.awaitEnd(id))) continue
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
    const { places } = this.#lock
    // Kept for all attempts: another request would occupy the application again. Refusals do not wait behind creations.
    const count = isExclusive ? places.size : 1
    const release = await places.acquire(client.life.signal, count, !isExclusive)
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
        const how = unanswered?.response ? 'gateway' : 'reset'
        if (isLost && ++lost >= client.breaker.proof(lost, how))
          return { ...unanswered, unansweredTwice: true }
        fresh ||= unanswered !== undefined
        busySince ??= performance.now()
        const patienceMs = isExclusive || fresh ? this.#busyMs : refusalMs
        if (performance.now() - busySince > patienceMs) {
          if (isExclusive) throw this.#giveUp('was still answered 409')
          const { id } = this.application
          throw new NotExercised(`application ${id} got 409 ${attempt} times in a row`)
        }
        // Busy with another client's job, or not released yet: only time helps.
        const mostMs = isLost ? this.#jobTimeoutMs / triesIfLost : longestBusyMs
        await pause(client, Math.min(busyMs * 2 ** (attempt - 1), mostMs))
      }
    } finally {
      release()
    }
  }

  /** Acts on the idle application; throws `NotExercised` if not idle in time. */
  async hold(action: (gate: this) => Promise<unknown>): Promise<void> {
    const { places, gaveUp } = this.#lock
    const release = await places.acquire(this.client.life.signal, places.size)
    try {
      // One that was given up can be used once its last job was seen to end: its release is judged.
      if (!gaveUp) await this.idle()
      else if (!this.view.jobs.every((job) => job.isOver)) throw gaveUp
      await action(this)
    } finally {
      release()
    }
  }

  /** Whether it could be done. */
  async tryHold(action: (gate: this) => Promise<unknown>): Promise<boolean> {
    const done = await orElse(this.client, async () => {
      await this.hold(action)
      return true
    })
    return done ?? false
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

  /** Whether it still answers 409 though its last job has ended. */
  get isKept(): boolean {
    const attempts = attemptsIn(this.history).get(this.view) ?? []
    const last = attempts.findLast((one) => isAsked(one.creation))
    return last?.freeSince !== undefined && isConflict(last.creation)
  }
}

// Conflicts

const attacks = ['400-missing-inputs', '400-missing-required-inputs', '401-missing-credentials']

/** Sends requests that are refused, and may take away the lock of a job in progress. */
async function attackLock(gate: Gate, job: Job): Promise<void> {
  const { client, given, application } = gate
  const valid = await jobRequest(given, application)
  const reading = await operationProbe(given, 'jobs.retrieve', { params: { job_id: job.id } })
  const purpose = { requirement: ids.inProgress, role: 'setup', badInput: true } as const
  const send = (probe: Probe, about: string): Promise<Exchange> =>
    ask(client, probe, { ...purpose, about }, { isHeld: true })
  const refusals = (await jobRefusals(gate)).filter((one) => attacks.includes(one.requirement))
  await allEnded([
    ...refusals.map(async (one) => send(await one.change(valid), `jobs.create/${one.requirement}`)),
    send(withCredential(reading, noCredential), 'jobs.retrieve/401-missing-credentials'),
  ])
}

/** Creations beside one job: with the pauses between them, for half a minute. */
const mostMoments = 30

/**
 * Further creations during the life of a job, with the same inputs and with other values: a server may compare
 * requests, or forget after a while that the job goes on. Two come at once, then the pauses grow. Attacks on the lock come
 * before the third. In every second job they come first: a creation accepted after a 409 may mean that a short job has
 * ended.
 * @param turn odd: the creation with other values comes first, since a short job may end before a second creation
 */
async function createDuring(gate: Gate, job: Job, turn = 0, most = mostMoments): Promise<void> {
  const { application, client, isQuick } = gate
  const attackedAt = turn % 2 === 0 ? 2 : 0
  const count = isQuick ? Math.min(3, most) : most
  for (let moment = 0; moment < count; moment++) {
    if (moment > 1) await pause(client, 10 * 1.25 ** (moment - 2))
    if (moment > 0 && !(await gate.goesOn(job))) return
    if (moment === attackedAt) await attackLock(gate, job)
    const isOdd = (moment + turn) % 2 === 1
    const own = isOdd ? withOtherValues(application, moment + turn) : application
    const { status = 409 } = await gate.createBeside(own)
    if (status !== 409 && status !== 400 && !(isOdd && status >= 500)) return
  }
}

const burstSize = { full: 5, quick: 2 }

/** Sends several creations at once; while all are refused, repeats this after a pause, at most three times. */
async function burst(gate: Gate): Promise<HistoryEvent[]> {
  const { application, history, isQuick, client, given } = gate
  let count = 0
  // A server may lock the inputs instead of the application.
  const make = () =>
    jobRequest(
      given,
      !isQuick && count++ % 2 ? withOtherValues(application, 2 * count) : application,
    )
  for (let tries = 0; ; tries++) {
    // An earlier request on a connection may be to blame for a lost answer, or for a crash.
    const fresh = history.within(application.id).some(({ status = 500 }) => status >= 500)
    const size = burstSize[given.options.depth]
    const sent = await sendAtOnce(gate, size, make, ids.atomic, fresh)
    const made = sent.map((exchange) => gate.eventOf(exchange))
    if (!made.every(isConflict)) return made
    if (!(await gate.untilFree()) || tries === timesAlike) return []
    await pause(client, 2 * pauseMs)
  }
}

async function begin(gate: Gate): Promise<Job[]> {
  const isBurst =
    // Where jobs fail, a single creation, whose answer is judged whatever it is.
    gate.application !== gate.given.target.resources.failingApplication &&
    gate.isPlanned(ids.atomic) &&
    gate.given.target.limits.concurrency > 1 &&
    (gate.view.madeAt !== undefined || !gate.isBroken(ids.created))
  const made = isBurst ? await burst(gate) : []
  // If all were throttled or refused, a single one distinguishes bursts.
  if (made.every((one) => one.noise === 'throttled')) made.push(await gate.create(ids.released))
  const jobs = made.flatMap((event) => gate.madeBy(event) ?? [])
  if (jobs.length === 0 && made.some(isConflict)) await gate.untilFree()
  return jobs
}

async function readOlder(gate: Gate, newer: Job): Promise<void> {
  const latest = performance.now() - pauseMs
  const { jobs } = gate.view
  const older = jobs.find((job) => job !== newer && job.end && job.end.endedAt <= latest)
  if (older && gate.isPlanned(ids.stable)) await gate.read(older.id)
}

/** A job or a burst of creations, and further creations until it ends; on the idle `other` one beside it. */
async function attempt(gate: Gate, turn = 0, other?: Gate): Promise<void> {
  // An application may be released some time after its last job, as `409-released` allows.
  const end = other?.view.jobs.at(-1)?.end
  await gate.pauseUntil((end?.endedAt ?? -Infinity) + 2 * pauseMs)
  const [first, second] = await begin(gate)
  if (!first) return
  if (second) for (const job of [first, second, first]) await gate.goesOn(job)
  const onOther = await other?.create(ids.perApplication)
  if (onOther) await gate.goesOn(first)
  const isBroken = gate.isBroken(ids.inProgress)
  const besideOther = async (): Promise<void> => {
    const job = onOther && gate.madeBy(onOther)
    if (other && job && !gate.isQuick && !isBroken) await createDuring(other, job, 0, 1)
    await other?.settle()
  }
  // One attempt shows for the others that there are conflicts.
  const most = isBroken ? 0 : gate.isPlanned(ids.inProgress) ? mostMoments : 1
  await allEnded([readOlder(gate, first), createDuring(gate, first, turn, most), besideOther()])
  await gate.idle()
  if (!onOther || !isConflict(onOther)) return
  await other?.create(ids.perApplication)
  await other?.settle()
}

/** And another creation after the end of its job. */
async function attemptAlone(gate: Gate): Promise<void> {
  await attempt(gate)
  if ((await gate.settle()) && gate.isPlanned(ids.released)) {
    await gate.create(ids.released)
    await gate.untilFree()
  }
}

/** As many attempts as needed on the busy application, and one each on the others and a new one. */
async function provokeConflicts(jobs: Jobs): Promise<void> {
  const { client, given, isQuick } = jobs
  const { application: plain, ...resources } = given.target.resources
  const busy = new Gate(jobs, resources.slowApplication ?? declaredResource(given, 'application'))
  const others = [resources.otherApplication, plain]
    .filter((one) => one !== undefined && one.id !== busy.application.id)
    .map((one) => new Gate(jobs, one!))
  const [beside] = others
  const second = others.find((one) => one.application === plain)
  // A full run looks as often as it may: a fault may show now and then.
  const needsMore = (id: JobRuleId): boolean =>
    isQuick ? jobs.wants(id) : jobs.isPlanned(id) && !jobs.isBroken(id)
  await busy.hold(async () => {
    for (let turn = 0; turn < timesAlike; turn++) {
      const isOpen = beside && jobs.wants(ids.perApplication)
      const isWanted =
        isOpen || jobs.wants(ids.released) || [ids.inProgress, ids.atomic].some(needsMore)
      if (turn > 0 && !isWanted) break
      const isDone = isOpen && (await beside.tryHold(() => attempt(busy, turn, beside)))
      if (!isDone && !busy.isGivenUp) await attempt(busy, turn)
      if (busy.isGivenUp || jobs.isBroken(ids.released)) break
    }
  })
  // Another client's job may interfere: a new application must show the fault, too.
  const isSuspected = busy.isKept || jobs.isBroken(ids.released, ids.perApplication, ids.created)
  if (isQuick && !isSuspected) return
  if (!isQuick) await second?.tryHold(attemptAlone)
  if (jobs.isPlanned(ids.inProgress, ids.released, ids.perApplication, ids.created))
    await orElse(client, () => attemptOnCreated(busy))
  for (const own of [busy, second])
    if (own?.isKept && !jobs.isBroken(ids.released)) await own.tryHold(() => own.untilFree())
  // Last, because a server that mixes up applications would refuse it beside any job.
  const { failingApplication: failing } = resources
  if (failing && !isQuick && jobs.isPlanned(ids.released))
    await new Gate(jobs, failing).tryHold(attemptAlone)
}

/** Conflicts on a new application: nobody else uses it, and a server may check only those it knew before. */
async function attemptOnCreated(busy: Gate): Promise<void> {
  const { client, given } = busy
  if (!isDeclared(given, 'applications.create')) return
  const id = await makeOne(client, given, 'applications.create')
  // It may need the inputs of the declared one.
  for (const inputs of [[], given.target.resources.application?.inputs ?? []]) {
    const gate = new Gate(busy, { id, inputs, requiredInputs: [] })
    await attemptAlone(gate)
    if (gate.view.creations.at(-1)?.status === 400) continue
    if (!gate.view.jobs.some((job) => job.end)) return
    for (let count = 0; count < timesAlike && gate.isBroken(ids.perApplication); count++)
      await busy.tryHold(() => attempt(busy, 0, gate))
    return
  }
}

// Refusals

/** What is refused, and might have an effect all the same. */
function jobRefusals({ client, given, application }: Gate): Promise<readonly Refusal[]> {
  const { resources } = given.target
  const target = { ...given.target, resources: { ...resources, application } }
  return refusalsOf(client, { ...given, target }, 'jobs.create', jobFaults)
}

/** All at once: an effect may last only as long as a short job. */
async function refuse(gate: Gate, refusals: readonly Refusal[]): Promise<void> {
  const sent = refusals.map(async ({ requirement, what, change }) => {
    const about = `jobs.create/${requirement}`
    const probe = await change(await jobRequest(gate.given, gate.application))
    const setup = { about, what, role: 'setup', badInput: true } as const
    return gate.send(probe, { requirement: ids.noEffect, ...setup })
  })
  await allEnded(sent)
  if ((await Promise.all(sent)).some((refused) => refused.isGranted)) await gate.settle()
}

/** A creation some time after refusals. */
async function look(
  gate: Gate,
  refusals: readonly Refusal[] = [],
  afterMs = 0,
): Promise<'granted' | 'freed' | 'lost'> {
  await refuse(gate, refusals)
  await pause(gate.client, afterMs)
  const made = await gate.create(ids.noEffect)
  if (isConflict(made)) return (await gate.untilFree()) ? 'freed' : 'lost'
  await gate.idle()
  return 'granted'
}

const isOver = (gate: Gate): boolean => gate.isGivenUp || gate.isBroken(ids.noEffect)

/**
 * Repeats a refusal and the creation after it while that gets 409. In between come creations without a refusal, one
 * more each time, so that periodic failures do not align.
 */
async function lookClosely(gate: Gate, refusal: Refusal, afterMs: number): Promise<void> {
  for (let time = 1; time <= timesAlike && !isOver(gate); time++) {
    if ((await look(gate, [refusal], afterMs)) !== 'freed' || isOver(gate)) return
    await pause(gate.client, windowMs)
    for (let bare = 0; bare <= time; bare++) if ((await look(gate)) !== 'granted') return
  }
}

/** Creations at these times after refusals; if one gets 409 twice, after each refusal by itself. */
async function lookForEffects(
  gate: Gate,
  refusals: readonly Refusal[],
  times: readonly number[],
): Promise<void> {
  await refuse(gate, refusals)
  const refusedAt = performance.now()
  for (const ms of times) {
    await gate.pauseUntil(refusedAt + ms)
    let seen = await look(gate)
    if (seen === 'freed') seen = await look(gate, refusals, ms)
    if (seen === 'freed') for (const refusal of refusals) await lookClosely(gate, refusal, ms)
    if (seen === 'lost' || isOver(gate)) return
  }
}

/** Looks for effects of refused creations before any other refusal is sent to the application. */
export const provokeFirstRefusals = (jobs: Jobs): Promise<void> =>
  once(jobs.client, 'jobs first refusals', async () => {
    const application = declaredResource(jobs.given, 'application')
    await grantedControl(jobs.client, jobs.given, 'jobs.create')
    await new Gate(jobs, application).hold(async (gate) => {
      // An application that is not released even without refusals shows nothing.
      if (gate.view.jobs.length <= 1 && (await look(gate)) === 'lost') return
      const byStatus = groupBy(await jobRefusals(gate), (one) =>
        gate.isQuick ? '' : one.requirement.slice(0, 3),
      )
      for (const refusals of byStatus.values()) {
        await lookForEffects(gate, refusals, [0])
        if (isOver(gate)) return
      }
    })
  })

/**
 * In a full run, late effects are looked for on the other application, if there is one: it has time for them. A refused
 * request may start its job from a queue.
 */
async function provokeRefusals(jobs: Jobs): Promise<void> {
  const { client, given, isQuick } = jobs
  const application = declaredResource(given, 'application')
  const { otherApplication: other = application } = given.target.resources
  await grantedControl(client, given, 'jobs.create')
  const late = (): Promise<unknown> =>
    new Gate(jobs, other).tryHold(async (gate) =>
      lookForEffects(gate, await jobRefusals(gate), moments),
    )
  await allEnded([provokeFirstRefusals(jobs), ...(isQuick ? [] : [late()])])
}

// Readings

/** Throws `NotExercised` without a job. */
function jobOf(jobs: Jobs, exchange?: Exchange): Job {
  const job = exchange && jobs.madeBy(jobs.eventOf(exchange))
  if (job) return job
  const answer = exchange ? `: ${describeResponse(exchange)}` : ''
  throw new NotExercised(`no job could be created${answer}`)
}

/** The job of the `jobs.create` control, once it can be read or `settleMs` have passed. */
async function readNewJob(jobs: Jobs): Promise<string> {
  const { client, given } = jobs
  if (given.options.readOnly) throw new NotExercised(leftOut('--read-only'))
  const control = await grantedControl(client, given, 'jobs.create', 'no job could be created')
  const job = jobOf(jobs, control.exchange)
  await jobs.readUntilFound(job)
  return job.id
}

/** Creates a job, and waits for its end. */
async function follow(
  jobs: Jobs,
  name: (typeof applicationNames)[number],
  requirement: RequirementId,
): Promise<string> {
  const { client, given } = jobs
  const make = () => jobRequest(given, declaredResource(given, name))
  const { id } = jobOf(jobs, await ask(client, make, { requirement, role: 'setup' }))
  await jobs.awaitEnd(id)
  return id
}

const states: Readonly<Record<State, (jobs: Jobs) => Promise<unknown>>> = {
  readable: readNewJob,
  ended: async (jobs) => jobs.awaitEnd(await reach(jobs.client, jobs.given, 'readable')),
  conflicts: provokeConflicts,
  refusals: provokeRefusals,
  other: (jobs) => follow(jobs, 'otherApplication', 'jobs.retrieve/200-identity'),
  failing: (jobs) => follow(jobs, 'failingApplication', 'jobs.retrieve/200-failed'),
}

export function reach(client: Client, given: Given, state: 'readable' | 'other'): Promise<string>
export function reach(client: Client, given: Given, state: State): Promise<unknown>
export function reach(client: Client, given: Given, state: State): Promise<unknown> {
  return once(client, `jobs ${state}`, () => states[state](new Jobs(client, given)))
}

/** Interval before an ended job is read again, in ms: after its creation, or in a quick run after its observed end. */
const againMs = { full: 2000, quick: 1000 }
/** Reads what is visible once all jobs have ended, late enough for effects that take seconds. */
export async function readFinalStates(client: Client, given: Given): Promise<void> {
  const jobs = new Jobs(client, given)
  const { history, isQuick } = jobs
  const { application, job: declared = '' } = given.target.resources
  await Promise.allSettled(ownJobs(history).map((one) => jobs.awaitEnd(one.id)))
  const created = 'jobs.retrieve/200-created-at'
  const [first] = ownJobs(history)
  // The order of their times shows only in jobs that are far enough apart.
  const apartAt = (first?.creation.endedAt ?? Infinity) + apartMs
  const lacksLater = first && ownJobs(history).every((one) => one.creation.sentAt < apartAt)
  if (application && lacksLater && !isQuick && jobs.isPlanned(created)) {
    await jobs.pauseUntil(apartAt)
    await follow(jobs, 'application', created).catch(() => undefined)
  }
  const isWanted = rulesAfter('ended').some((id) => id.startsWith('jobs.r') && jobs.isPlanned(id))
  if (!isWanted || jobs.cannotBeRead) return
  const from = isQuick ? first?.end : first?.creation
  const before = history.of(declared).find(hasEnded)
  const since = [
    (from?.endedAt ?? 0) + againMs[given.options.depth],
    (before?.endedAt ?? 0) + againMs.quick,
  ]
  await jobs.pauseUntil(Math.max(...since))
  await Promise.allSettled([
    ...ownJobs(history)
      .filter((one) => one.readings.some(isRead))
      .map((job) => jobs.readUntilFound(job)),
    ...(before ? [jobs.read(declared)] : []),
  ])
}

// What a run knows of jobs beyond their requirements

export async function createJobs(client: Client, given: Given): Promise<void> {
  const jobs = new Jobs(client, given)
  const states: readonly State[] = ['ended', 'conflicts', 'refusals']
  const wanted = states.filter((state) => jobs.isPlanned(...rulesAfter(state)))
  if (isPlanned(given, 'jobs.retrieve/200-failed')) wanted.push('failing')
  // Else the conflicts make one there.
  if (!wanted.includes('conflicts') && jobs.isPlanned('jobs.retrieve/200-identity'))
    wanted.push('other')
  await Promise.allSettled(wanted.map((state) => reach(client, given, state)))
}

export async function jobRead(client: Client, given: Given): Promise<Probe> {
  const id = given.target.resources.job ?? (await reach(client, given, 'readable'))
  return operationProbe(given, 'jobs.retrieve', { params: { job_id: id } })
}

/** Sends a creation: an application accepts one at a time. */
export function whenIdle(
  client: Client,
  given: Given,
  probe: Probe,
  purpose: Purpose,
  send: (fresh: boolean) => Promise<Exchange>,
): Promise<Exchange> | undefined {
  const jobs = new Jobs(client, given)
  const application = jobs.applications.find((one) => one.id === probe.params['application_id'])
  if (!application) return undefined
  const expects409 = purpose.expects?.some(([status]) => status === 409) ?? false
  const gate = new Gate(jobs, application)
  if (probe.effect !== 'none') return gate.sendWhenIdle(true, expects409, send)
  const refused = (): Promise<Exchange> => gate.sendWhenIdle(false, expects409, send)
  // The effect of refused creations is checked before any other refusal is sent there.
  const isLookedAtFirst =
    isPlanned(given, ids.noEffect) && given.target.resources.application?.id === application.id
  return isLookedAtFirst ? provokeFirstRefusals(jobs).then(refused, refused) : refused()
}

export const unfinishedJobs = (client: Client): string[] =>
  viewOf(client.journal)
    .jobs.filter((job) => !job.isOver)
    .map((job) => job.id)
