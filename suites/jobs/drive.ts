import { declaredResource, makeOne, grantedControl } from '../checks/valid-request.ts'
import {
  atOnce,
  firstOpen,
  inTurn,
  isConflict,
  isTaken,
  once,
  together,
} from '../checks/created.ts'
import {
  allEnded,
  type Client,
  createSemaphore,
  type Given,
  operationProbe,
  pause,
  isOwnBreakdown,
} from '../../harness/client/index.ts'
import {
  send,
  awaitAge,
  isPlanned,
  perRun,
  sendAtOnce,
  takeConflict,
} from '../../harness/run/index.ts'
import {
  type Access,
  allOrOpen,
  describeResponse,
  type Exchange,
  type History,
  type HistoryEvent,
  isOpen,
  isThrottling,
  type Left,
  type Made,
  type Open,
  type Probe,
  type Purpose,
  timesAlike,
  open,
} from '../../harness/journal/index.ts'
import { type ApplicationValue, applicationNames } from '../../harness/target/index.ts'
import { leftOut } from '../../harness/report/index.ts'
import { haveStatus } from '../../catalogue/answers.ts'
import type { RequirementId } from '../../catalogue/catalogue.ts'
import { withCredential } from '../authentication/credentials.ts'
import { noCredential } from '../authentication/key-forms.ts'
import { type RefusedChange, refusalsOf, setupFor } from '../general.suite.ts'
import { conflict, moments, mostLooks, windowMs } from './creations.ts'
import { groupBy } from '../../harness/group-by.ts'
import { jobFaults } from './faults.ts'
import { apartMs } from './readings.ts'
import { ids, type JobRuleId, jobRules, type State } from './rules.ts'
import {
  type Application,
  hasEnded,
  isRead,
  isUnknown,
  type Job,
  ownJobs,
  statusOf,
  viewOf,
} from './view.ts'

/** Appends `moment` to each text. Every fourth keeps only the required inputs, or the first one. */
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

function jobRequest(given: Given, application: ApplicationValue): Promise<Probe> {
  const params = { application_id: application.id }
  const json = { inputs: application.inputs }
  return operationProbe(given, 'jobs.create', { params, json, effect: 'generates' })
}

/** A gateway's answer says nothing about a job. */
const isWrongReading = (reading: HistoryEvent): boolean =>
  ![undefined, 502, 504].includes(reading.status) && !isUnknown(reading)

/** Minimum interval of readings in ms, and its maximum share of the job's age. */
const firstPauseMs = 15
const pauseShare = 0.2
const longestPauseMs = 1000

const jobRead = (given: Given, id: string): Promise<Probe> =>
  operationProbe(given, 'jobs.retrieve', { params: { job_id: id } })

export const rulesAfter = (state: State): JobRuleId[] =>
  (Object.keys(jobRules) as JobRuleId[]).filter((id) => jobRules[id].state === state)

const sharedBy = perRun(() => ({
  polls: new Map<Job, Promise<Left>>(),
  locks: new Map<string, Lock>(),
}))

export class Jobs {
  readonly client: Client
  readonly given: Given
  readonly history: History
  readonly isQuick: boolean

  constructor({ client, given }: Pick<Jobs, 'client' | 'given'>) {
    this.client = client
    this.given = given
    this.history = client.journal
    this.isQuick = given.options.depth === 'quick'
  }

  /** Locks an application that the run made. */
  addMade(id: string): void {
    sharedBy(this.client).locks.set(id, newLock(this.client))
  }

  isPlanned(...requirements: readonly RequirementId[]): boolean {
    return requirements.some((id) => isPlanned(this.given, id))
  }

  wants(id: JobRuleId): boolean {
    return this.isPlanned(id) && jobRules[id].rule(this.history).outcome === 'open'
  }

  isBroken(...requirements: readonly JobRuleId[]): boolean {
    return requirements.some((id) => jobRules[id].rule(this.history).outcome === 'broken')
  }

  pauseUntil(at: number): Promise<void> {
    return pause(this.client, Math.max(0, at - performance.now()))
  }

  async read(id: string): Promise<Exchange | Open> {
    return send(this.client, await jobRead(this.given, id), {
      requirement: null,
      role: 'poll',
      isSuccess: (one) => one.response?.status === 200,
    })
  }

  /** The history may hold a lighter copy of an exchange. */
  madeBy({ probe, sentAt }: Exchange): Job | undefined {
    return viewOf(this.history).jobs.findLast(
      (one) => one.creation.exchange.probe === probe && one.creation.sentAt === sentAt,
    )
  }

  /** For `settleMs` since it was made or read, or twice with an error that no lagging copy gives. */
  #isMissing({ creation, readings }: Job): boolean {
    const missing = readings.slice(readings.findLastIndex(isRead) + 1)
    if (missing.filter(isWrongReading).length > 1) return true
    const since = missing.length < readings.length ? missing[0] : creation
    return missing.some((one) => one.sentAt - since!.endedAt >= this.history.limits.settleMs)
  }

  /** No creation returned an id, or a job was missing for `settleMs`, and none was ever read. */
  get cannotBeRead(): boolean {
    const { jobs } = viewOf(this.history)
    return jobs.length === 0
      ? this.history.events.some((one) => one.operation === 'jobs.create' && one.isGranted)
      : !jobs.some((job) => job.readings.some(isRead)) && jobs.some((job) => this.#isMissing(job))
  }

  #isLost(job: Job): boolean {
    return this.#isMissing(job) || this.cannotBeRead
  }

  /** At most for `jobTimeoutMs`. */
  async awaitEnd(job: Job): Promise<Left> {
    if (job.isOver || this.#isLost(job)) return undefined
    const { polls } = sharedBy(this.client)
    const deadline = performance.now() + this.history.limits.jobTimeoutMs
    const polling =
      polls.get(job) ??
      this.#readUntil(job, () => job.isOver, deadline).finally(() => polls.delete(job))
    polls.set(job, polling)
    return polling
  }

  readUntilFound(job: Job): Promise<Left> {
    const deadline = job.creation.endedAt + this.history.limits.settleMs
    return this.#readUntil(job, () => job.readings.slice(-1).some(isRead), deadline)
  }

  async #readUntil(job: Job, isDone: () => boolean, deadline: number): Promise<Left> {
    const started = performance.now()
    for (;;) {
      const reading = await this.read(job.id)
      const now = performance.now()
      if (isOpen(reading)) return reading
      if (isDone() || now >= deadline || this.#isLost(job)) return undefined
      // A quick run notices the end later, with fewer requests.
      const ms = Math.max((now - started) * pauseShare, firstPauseMs) * (this.isQuick ? 5 : 1)
      await pause(this.client, Math.min(ms, longestPauseMs, deadline - now))
    }
  }
}

/** How long a refusal is repeated. */
const refusalMs = 3500
/** Between two creations on a free application. */
const pauseMs = 1000

const newLock = ({ life }: Client) => ({
  places: createSemaphore(Number.MAX_SAFE_INTEGER, life.signal),
  gaveUp: undefined as Left,
})
type Lock = ReturnType<typeof newLock>

/**
 * While a job is in progress on the application, only requests of a 409 requirement pass. Refusals pass together,
 * creations alone.
 */
class Gate extends Jobs {
  readonly application: ApplicationValue
  readonly #lock: Lock

  /** @param application may be declared twice, with different inputs */
  constructor(jobs: Jobs, application: ApplicationValue) {
    super(jobs)
    const { locks } = sharedBy(jobs.client)
    this.application = application
    this.#lock = locks.get(application.id) ?? newLock(this.client)
    locks.set(application.id, this.#lock)
  }

  get isGivenUp(): boolean {
    return this.#lock.gaveUp !== undefined
  }

  get view(): Application {
    return viewOf(this.history).applicationOf(this.application.id)
  }

  #giveUp(what: string, limit: keyof History['limits']): Open {
    const after = `after ${this.history.limits[limit]} ms (limits.${limit})`
    return (this.#lock.gaveUp ??= open(`application ${this.application.id} ${what} ${after}`))
  }

  /** On a new connection: a creation repeated after a closed one may have made an unknown job. */
  create(requirement: string, awaitFree = takeConflict): Promise<Exchange | Open> {
    const make = () => jobRequest(this.given, this.application)
    const purpose = { requirement, role: 'setup', expects: conflict } as const
    return send(this.client, make, purpose, { fresh: true, awaitFree })
  }

  /** Waits until its jobs have ended: then even one that was given up can be used, since its release is judged. */
  async awaitIdle(): Promise<Left> {
    for (const job of this.view.jobs) {
      const left = job.isOver ? undefined : (this.#lock.gaveUp ?? (await this.awaitEnd(job)))
      if (left) return left
      if (job.isOver) continue
      const last = this.history.of(job.id).at(-1)!
      if (last.noise) return open(`throttled: a reading got ${describeResponse(last.exchange)}`)
      if (statusOf(last) === 'in_progress')
        return this.#giveUp('still had a job in progress', 'jobTimeoutMs')
    }
    return undefined
  }

  /** @param isExclusive it may start a job; refusals act together, and do not wait behind such */
  async enter(isExclusive: boolean): Promise<() => void> {
    const { places } = this.#lock
    return places.acquire(isExclusive ? places.size : 1, !isExclusive)
  }

  async awaitFree(refusals: readonly Exchange[], isExclusive: boolean): Promise<Exchange | Left> {
    const [first] = refusals
    const unanswered = refusals.flatMap((one) => one.unanswered ?? [])
    const lost = unanswered.filter((one) => !one.noResponse?.staleConnection)
    const last = lost.at(-1)
    if (last && lost.length >= this.client.breaker.proof(refusals.length + lost.length))
      return { ...last, unansweredTimes: lost.length }
    // Jobs that cannot be read may last any time.
    const limit = this.cannotBeRead ? 'settleMs' : 'jobTimeoutMs'
    const isPatient = isExclusive || unanswered.length > 0
    const patienceMs = isPatient ? this.history.limits[limit] : refusalMs
    if (first && performance.now() - first.endedAt > patienceMs)
      return isExclusive
        ? this.#giveUp('was still answered 409', limit)
        : open(`application ${this.application.id} got 409 each time`)
    // Busy with another client's job, or not released yet: only time helps.
    if (first) await pause(this.client, pauseMs)
    return this.#lock.gaveUp ?? this.awaitIdle()
  }

  /** Acts alone on the idle application. */
  async hold(action: (gate: this) => Promise<unknown>): Promise<Left> {
    const leave = await this.enter(true)
    try {
      return (await this.awaitIdle()) ?? (await firstOpen([action(this)]))
    } finally {
      leave()
    }
  }

  /** Creates a job, again while that gets 409, and waits for its end; returns the first answer. */
  async createNext(requirement: JobRuleId): Promise<Exchange | Open> {
    let first: Exchange | undefined
    const made = await this.create(requirement, async (refusals) => {
      first ??= refusals[0]
      return first ? this.awaitFree(refusals, true) : this.awaitIdle()
    })
    const left = isOpen(made) ? made : await this.awaitIdle()
    return left ?? first ?? made
  }
}

// Conflicts

const attacks = [
  '400-missing-inputs',
  '400-missing-required-inputs',
  '400-malformed-inputs',
  '400-wrong-content-type',
  '400-malformed-json',
]

/** Refused requests may take away the lock of a job in progress. */
async function attackLock(gate: Gate, job: Job): Promise<Left> {
  const { application, given, isQuick } = gate
  const malformed = await jobRefusals(gate, isQuick ? attacks.slice(0, 2) : attacks)
  const valid = [await jobRequest(given, application), await jobRead(given, job.id)]
  const keyless = valid.map((probe) => ({
    purpose: setupFor(`${probe.operation}/401-missing-credentials`, 'without a key'),
    change: () => withCredential(probe, noCredential),
  }))
  return refuse(gate, ids.inProgress, [...malformed, ...keyless])
}

/** With the pauses between them, for half a minute. */
const mostMoments = 32

/**
 * Creations during the life of a job, with the same inputs and with other values: a server may compare requests, or
 * forget after a while that the job goes on.
 * @param turn odd: other values come first, since a short job may end before a second creation, and attacks on the lock
 *   before them instead of the third: a creation accepted after a 409 may mean that a short job has ended
 */
async function createDuring(gate: Gate, job: Job, turn: number): Promise<Left> {
  const { application, client, given, isQuick } = gate
  const purpose = { requirement: ids.inProgress, role: 'probe', expects: conflict } as const
  const most = isQuick ? 3 : mostMoments
  // One shows the other rules a conflict.
  const count = gate.isPlanned(ids.inProgress) ? most : 1
  for (let moment = 0; moment < count; moment++) {
    if (moment > 1) {
      await pause(client, 10 * 1.25 ** (moment - 2 + turn / timesAlike))
      const left = await gate.readUntilFound(job)
      if (left || job.readings.at(-1) !== job.inProgress.at(-1)) return left
    }
    const left = moment === (turn % 2 === 0 ? 2 : 0) ? await attackLock(gate, job) : undefined
    if (left) return left
    const isOdd = (moment + turn) % 2 === 1
    // Of several at once, another one than the declared may have made the job.
    const source = isOdd
      ? () => jobRequest(given, withOtherValues(application, moment + turn))
      : job.creation.exchange.probe
    // Once: while a throttled creation waits, the job would end.
    const made = client.holdBack(await client.sendOnce({ source, purpose, fresh: true }))
    if (isOpen(made)) return made
    if (isTaken(made) || isThrottling(made)) return undefined
  }
  return undefined
}

/** Creates several jobs at once, if that is to be judged, else one; again while all get 409. */
async function begin(gate: Gate): Promise<Job[] | Open> {
  const { application, client, given } = gate
  // Where jobs fail, a single creation, whose answer is judged whatever it is.
  const isFailing = application === given.target.resources.failingApplication
  const size = !isFailing && gate.isPlanned(ids.atomic) ? atOnce[given.options.depth] : 0
  let count = 0
  // A server may lock the inputs instead of the application.
  const make = () => {
    const isOdd = count++ % 2 === 1
    return jobRequest(given, isOdd ? withOtherValues(application, 2 * count) : application)
  }
  for (let tries = 0; tries <= timesAlike; tries++) {
    // An earlier request on a connection may be to blame for a lost answer, or for a crash.
    const fresh = gate.view.creations.some(({ status = 500 }) => status >= 500)
    const purpose = { requirement: ids.atomic, role: 'probe' } as const
    const sent = await sendAtOnce(client, { source: make, purpose, fresh }, size)
    if (isOpen(sent)) return sent
    const answered = sent.filter((one) => !isThrottling(one))
    // If all break down together, one alone shows whether the application takes jobs at all.
    const isLost = answered.every(isOwnBreakdown)
    const made = isLost ? allOrOpen([await gate.create(ids.released)]) : answered
    if (isOpen(made)) return made
    if (!made.every(isConflict)) return made.flatMap((one) => gate.madeBy(one) ?? [])
    await pause(client, pauseMs)
    const free = await gate.createNext(ids.released)
    if (isOpen(free)) return free
    await pause(client, 2 * pauseMs)
  }
  return []
}

/** A job or a burst of creations, and further creations until it ends; on the idle `other` one beside it. */
async function provokeOn(gate: Gate, turn = 0, other?: Gate): Promise<Left> {
  // An application may be released some time after its last job, as `409-released` allows.
  const end = other?.view.jobs.at(-1)?.end
  if (end) await gate.pauseUntil(end.endedAt + 2 * pauseMs)
  const begun = await begin(gate)
  if (isOpen(begun)) return begun
  const [first, second] = begun
  if (!first) return undefined
  const read = (job: Job) => gate.readUntilFound(job)
  const left = second && (await inTurn([first, second, first], read))
  const beside = left ?? (await other?.create(ids.perApplication))
  if (isOpen(beside)) return beside
  const unread = beside && (await read(first))
  if (unread) return unread
  // A server may show older jobs otherwise while a newer one is in progress.
  const older = gate.view.jobs.find(
    (one) => one.end && performance.now() > one.end.endedAt + pauseMs,
  )
  const works = [
    createDuring(gate, first, turn),
    older && gate.read(older.id),
    other && beside && useUntilIdle(other, beside, turn),
  ]
  const failed = (await firstOpen(works)) ?? (await gate.awaitIdle())
  // The last creation there was beside a job: its conflict is no reason to wait.
  if (!failed && beside && isConflict(beside)) await other?.createNext(ids.perApplication)
  return failed
}

/** Goes on after a creation on another application, which is needed elsewhere as soon as the first job ends. */
async function useUntilIdle(gate: Gate, creation: Exchange, turn: number): Promise<Left> {
  const job = gate.isQuick ? undefined : gate.madeBy(creation)
  const left = job && (await createDuring(gate, job, turn))
  if (!left) await gate.awaitIdle()
  return left
}

const provokeAlone = async (gate: Gate): Promise<Exchange | Left> =>
  (await provokeOn(gate)) ?? gate.createNext(ids.released)

/** As many attempts as needed on the busy application, and one each on the others and a new one. */
async function provokeConflicts(jobs: Jobs): Promise<Left> {
  const { given, isQuick } = jobs
  const { application: plain, ...resources } = given.target.resources
  const slow = resources.slowApplication ?? declaredResource(given, 'application')
  if (isOpen(slow)) return slow
  const busy = new Gate(jobs, slow)
  const others = [resources.otherApplication, plain].flatMap((one) =>
    one && one.id !== slow.id ? new Gate(jobs, one) : [],
  )
  const [beside] = others
  // A full run looks as often as it may: a fault may show now and then.
  const needsMore = (id: JobRuleId) =>
    isQuick ? jobs.wants(id) : jobs.isPlanned(id) && !jobs.isBroken(id)
  const isStuck = () => busy.isGivenUp || jobs.isBroken(ids.released)
  const left = await busy.hold(async () => {
    for (let turn = 0; turn < timesAlike; turn++) {
      if (turn > 0 && !rulesAfter('conflicts').some(needsMore)) return undefined
      const other = jobs.wants(ids.perApplication) ? beside : undefined
      const isDone = other && !(await other.hold(() => provokeOn(busy, turn, other)))
      const left = isDone || isStuck() ? undefined : await provokeOn(busy, turn)
      if (left || isStuck()) return left
    }
    return undefined
  })
  // Another client's job may interfere: a new application must show the fault, too.
  const isSuspected =
    jobs.wants(ids.released) || jobs.isBroken(ids.released, ids.perApplication, ids.created)
  if (!isSuspected && (left || isQuick)) return left
  if (!isQuick) await others.at(-1)?.hold(provokeAlone)
  await provokeOnCreated(busy)
  // Last, because a server that mixes up applications would refuse it beside any job.
  const { failingApplication: failing } = resources
  if (failing && !isQuick) await new Gate(jobs, failing).hold(provokeAlone)
  return undefined
}

/** Nobody else uses a new application, and a server may check only those it knew before. */
async function provokeOnCreated(busy: Gate): Promise<void> {
  const { client, given } = busy
  const id = await makeOne(client, given, 'applications.create')
  if (isOpen(id)) return
  // It may need the inputs of the declared one.
  for (const inputs of [[], given.target.resources.application?.inputs ?? []]) {
    const gate = new Gate(busy, { id, inputs })
    const next = await provokeAlone(gate)
    // A refusal during the job before may be the reason for its 409; none comes before another one.
    if (next && !isOpen(next) && isConflict(next)) await gate.createNext(ids.released)
    for (let count = 0; count < timesAlike && gate.isBroken(ids.perApplication); count++)
      await busy.hold(() => provokeOn(busy, 0, gate))
    if (gate.view.creations.at(-1)?.status !== 400) return
  }
}

// Refusals

function jobRefusals({ given, application }: Gate, only?: readonly string[]) {
  const target = { ...given.target, resources: { application } }
  return refusalsOf({ ...given, target }, 'jobs.create', jobFaults(), only)
}

/** All at once: an effect may last only as long as a short job. */
async function refuse(
  gate: Gate,
  requirement: JobRuleId,
  refusals: readonly Pick<RefusedChange, 'purpose' | 'change'>[],
): Promise<Left> {
  const valid = await jobRequest(gate.given, gate.application)
  const how = { awaitFree: takeConflict }
  return together(refusals, ({ purpose, change }) =>
    send(gate.client, () => change(valid), { requirement, ...purpose }, how),
  )
}

/** Creations without a refusal before them, until one gets 409. */
async function createBare(gate: Gate, count = 1): Promise<Exchange | Left> {
  for (let at = 0; at < count; at++) {
    const made = await gate.createNext(ids.noEffect)
    if (isOpen(made) || isConflict(made)) return made
  }
  return undefined
}

/**
 * Repeats a refusal and the creation after it while that gets 409. In between come creations without a refusal, one
 * more each time, so that periodic failures do not align.
 */
async function lookClosely(gate: Gate, refusal: RefusedChange, afterMs: number) {
  for (let time = 1; time <= mostLooks && !gate.isBroken(ids.noEffect); time++) {
    const left = await refuse(gate, ids.noEffect, [refusal])
    await pause(gate.client, afterMs)
    const blocked = left ?? (await createBare(gate))
    if (!blocked || isOpen(blocked)) return blocked
    await pause(gate.client, windowMs)
    const kept = await createBare(gate, time + 1)
    if (kept) return kept
  }
  return undefined
}

/**
 * Creations at these times after refusals. If one gets 409, and the next one, without refusals, does not, each refusal is
 * sent by itself: else the application is only released some time after each job.
 */
async function lookForEffects(
  gate: Gate,
  refusals: readonly RefusedChange[],
  times: readonly number[],
): Promise<Left> {
  const left = await refuse(gate, ids.noEffect, refusals)
  if (left) return left
  const refusedAt = performance.now()
  return inTurn(times, async (ms) => {
    if (gate.isBroken(ids.noEffect)) return undefined
    await gate.pauseUntil(refusedAt + ms)
    const blocked = await createBare(gate)
    if (!blocked || isOpen(blocked)) return blocked
    return (await createBare(gate)) ?? inTurn(refusals, (refusal) => lookClosely(gate, refusal, ms))
  })
}

/** Before any other refusal is sent to the application. */
export const provokeFirstRefusals = (jobs: Jobs): Promise<Left> =>
  once(jobs.client, 'jobs first refusals', async () => {
    const control = await grantedControl(jobs.client, jobs.given, 'jobs.create')
    if (isOpen(control)) return control
    return new Gate(jobs, jobs.given.target.resources.application!).hold(async (gate) => {
      // An application that is not released even without refusals shows nothing.
      const bare = gate.view.jobs.length <= 1 ? await createBare(gate) : undefined
      if (isOpen(bare)) return bare
      const byStatus = groupBy(await jobRefusals(gate), (one) =>
        gate.isQuick ? '' : one.requirement.slice(0, 3),
      )
      return inTurn([...byStatus.values()], (refusals) => lookForEffects(gate, refusals, [0]))
    })
  })

/** A full run looks for late effects, of a job from a queue, on the other application: it has time for them. */
async function provokeRefusals(jobs: Jobs): Promise<Left> {
  const { client, given, isQuick } = jobs
  const { application, otherApplication: other = application } = given.target.resources
  const first = provokeFirstRefusals(jobs)
  const control = await grantedControl(client, given, 'jobs.create')
  if (isQuick || !other || isOpen(control)) return first
  await new Gate(jobs, other).hold(async (gate) => {
    const all = await jobRefusals(gate)
    // One for no application may block any, and would disturb the first looks.
    const own = all.filter((one) => !one.requirement.startsWith('404'))
    return lookForEffects(gate, own, moments)
  })
  return first
}

// Readings

function jobOf(jobs: Jobs, creation: Exchange | Open): Job | Open {
  if (isOpen(creation)) return creation
  return jobs.madeBy(creation) ?? open(`no job could be created: ${describeResponse(creation)}`)
}

async function jobOfControl(jobs: Jobs): Promise<string | Open> {
  const { client, given } = jobs
  if (given.options.readOnly) return open(leftOut('--read-only'))
  const control = await grantedControl(client, given, 'jobs.create', 'no job could be created')
  const job = isOpen(control) ? control : jobOf(jobs, control.exchange)
  return isOpen(job) ? job : ((await jobs.readUntilFound(job)) ?? job.id)
}

async function runJob(
  jobs: Jobs,
  name: (typeof applicationNames)[number],
  requirement: RequirementId,
): Promise<string | Open> {
  const { client, given } = jobs
  const application = declaredResource(given, name)
  if (isOpen(application)) return application
  const make = () => jobRequest(given, application)
  const job = jobOf(jobs, await send(client, make, { requirement, role: 'setup' }))
  return isOpen(job) ? job : ((await jobs.awaitEnd(job)) ?? job.id)
}

/** The job of the conflicts on the other application, or a new one, after all looks for late effects. */
async function jobOfOther(jobs: Jobs): Promise<string | Open> {
  const other = declaredResource(jobs.given, 'otherApplication')
  if (isOpen(other)) return other
  const gate = new Gate(jobs, other)
  const leave = await gate.enter(false)
  leave()
  const made = gate.view.jobs.find((job) => job.isOver)
  return made?.id ?? runJob(jobs, 'otherApplication', 'jobs.retrieve/200-identity')
}

const states = {
  readable: jobOfControl,
  conflicts: provokeConflicts,
  refusals: provokeRefusals,
  other: jobOfOther,
  failing: (jobs) => runJob(jobs, 'failingApplication', 'jobs.retrieve/200-failed'),
} satisfies Record<State, (jobs: Jobs) => Promise<string | Left>>

export const reach = <S extends State>(jobs: Jobs, state: S) =>
  once(jobs.client, `jobs ${state}`, () => states[state](jobs)) as ReturnType<(typeof states)[S]>

/** Late enough for effects that take seconds. */
export async function readFinalStates(jobs: Jobs): Promise<void> {
  const { client, given, history, isQuick } = jobs
  const { job: declared = '' } = given.target.resources
  await allEnded(ownJobs(history).map((one) => jobs.awaitEnd(one)))
  const created = 'jobs.retrieve/200-created-at'
  const [first] = ownJobs(history)
  // The order of their times shows only in jobs that are far enough apart.
  const apartAt = (first?.creation.endedAt ?? Infinity) + apartMs
  const lacksLater = first && ownJobs(history).every((one) => one.creation.sentAt < apartAt)
  if (lacksLater && !isQuick && jobs.isPlanned(created)) {
    await jobs.pauseUntil(apartAt)
    await runJob(jobs, 'application', created)
  }
  const isWanted = rulesAfter('readable').some(
    (id) => id.startsWith('jobs.r') && jobs.isPlanned(id),
  )
  if (!isWanted || jobs.cannotBeRead) return
  const before = history.of(declared).find(hasEnded)
  await awaitAge(client, [first?.creation ?? [], before ?? []].flat())
  const found = ownJobs(history).filter((one) => one.readings.some(isRead))
  const readings = found.map((job) => jobs.readUntilFound(job))
  await allEnded<unknown>([...readings, before && jobs.read(declared)])
}

export async function createJobs(jobs: Jobs): Promise<void> {
  const states: readonly State[] = ['readable', 'conflicts', 'refusals']
  const wanted = states.filter((state) => jobs.isPlanned(...rulesAfter(state)))
  if (jobs.isPlanned('jobs.retrieve/200-failed')) wanted.push('failing')
  // Else the conflicts make one there.
  if (!wanted.includes('conflicts') && jobs.isPlanned('jobs.retrieve/200-identity'))
    wanted.push('other')
  await allEnded(wanted.map((state) => reach(jobs, state)))
}

export async function readRequest(jobs: Jobs): Promise<Made> {
  const id = jobs.given.target.resources.job ?? (await reach(jobs, 'readable'))
  return isOpen(id) ? id : jobRead(jobs.given, id)
}

/** An application accepts one creation at a time. */
export function accessFor(jobs: Jobs, probe: Probe, purpose: Purpose): Access | undefined {
  const { resources } = jobs.given.target
  const { application_id: id = '' } = probe.params
  const isKnown = applicationNames.some((name) => resources[name]?.id === id)
  if (haveStatus(purpose.expects, 409) || !(isKnown || sharedBy(jobs.client).locks.has(id)))
    return undefined
  const gate = new Gate(jobs, { id, inputs: [] })
  const isExclusive = probe.effect !== 'none'
  const isLookedAtFirst = jobs.isPlanned(ids.noEffect) && resources.application?.id === id
  return {
    async enter() {
      if (!isExclusive && isLookedAtFirst) await provokeFirstRefusals(jobs)
      return gate.enter(isExclusive)
    },
    awaitFree: (refusals) => gate.awaitFree(refusals, isExclusive),
  }
}

export const unfinishedJobs = (client: Client): string[] =>
  viewOf(client.journal).jobs.flatMap((job) => (job.isOver ? [] : job.id))
