import {
  declaredResource,
  isDeclared,
  validRequest,
  grantedControl,
  control,
  controlExchange,
} from '../checks/valid-request.ts'
import { once, retryWhileSettling, sendAtOnce } from '../checks/created.ts'
import { withBody } from '../checks/faults.ts'
import {
  allEnded,
  operationProbe,
  orElse,
  pause,
  type Client,
  type Given,
} from '../../harness/client/index.ts'
import {
  askHolding,
  ask,
  type BodySchema,
  type CheckContext,
  decisive,
  grantedFinding,
  type Judge,
  shapeFinding,
} from '../../harness/run/index.ts'
import {
  createdId,
  type HistoryEvent,
  isConflict,
  NotExercised,
  type Probe,
  type Verdict,
  describeResponse,
  type Exchange,
  isGranted,
  jsonValue,
} from '../../harness/journal/index.ts'
import type { applicationNames } from '../../harness/target/index.ts'
import { withCredential } from '../authentication/credentials.ts'
import { noCredential } from '../authentication/key-forms.ts'
import { Gate, gateOf, Jobs, jobRequest, pauseMs, withOtherValues } from './client.ts'
import {
  type Attack,
  freedLocks,
  isSuspectedElsewhere,
  moments,
  timesAlike,
  windowMs,
  isSomeCreated,
} from './creations.ts'
import type { Refusal } from '../created/drive.ts'
import { kindsOf } from './faults.ts'
import { isAsked, isOwn, type Job, statusOf, hasEnded, isGone, isRead, ownJobs } from './view.ts'
import { ids, type JobRuleId, jobRules, rulesAfter, type State } from './rules.ts'
import type { RequirementId } from '../../catalogue/catalogue.ts'
import { byScenario } from '../checks/scenario.ts'
import { concluded, findingVerdict, joined } from '../checks/rules.ts'
import { grantedByScenario, grantedVerdict } from '../checks/granted.ts'
import { groupBy } from '../../harness/group-by.ts'
import { leftOut } from '../../harness/report/index.ts'
import { apartMs, failedFault, failedRule, isSomeRight, ofFailing } from './readings.ts'

async function goesOn(jobs: Jobs, job: Job): Promise<boolean> {
  if (!(await jobs.readUntilFound(job))) return false
  const last = job.readings.at(-1)
  return last !== undefined && statusOf(last) === 'in_progress' && isOwn(last, job)
}

async function attacksOn({ given, application }: Gate, id: string) {
  const valid = await jobRequest(given, application)
  const reading = await operationProbe(given, 'jobs.retrieve', { params: { job_id: id } })
  const { inputs, requiredInputs = [] } = application
  // What is left out may be noticed in another place of the server.
  const lacking = requiredInputs.slice(0, 1).map((required) => ({
    inputs: inputs.filter((input) => input.id !== required),
  }))
  return new Map<Attack, Probe[]>([
    ['malformed creation', [{}, ...lacking].map((body) => withBody(valid, body))],
    ['creation without a key', [withCredential(valid, noCredential)]],
    ['reading without a key', [withCredential(reading, noCredential)]],
  ])
}

interface During {
  /** 1: the creation with other values comes first, since a short job may end before a second creation. */
  readonly turn?: number
  readonly most?: number
  readonly repeated?: readonly Attack[]
}

/**
 * Further creations during the life of a job, with the same inputs and with other values: a server may compare
 * requests, or forget after a while that the job goes on. Two come at once; the next follow an attack on the lock each
 * (a quick run: one follows all), once per application; then the pauses grow.
 */
async function createDuring(
  gate: Gate,
  job: Job,
  { turn = 0, most = 20, repeated }: During = {},
): Promise<void> {
  const { application, client, history, isQuick } = gate
  const setup = { requirement: ids.inProgress, role: 'setup' } as const
  const isAttacked = history
    .within(application.id)
    .some(
      ({ exchange: { purpose } }) =>
        purpose.role === setup.role && purpose.requirement === setup.requirement,
    )
  const all = await attacksOn(gate, job.id)
  const kinds = repeated ?? (isAttacked ? [] : [...all.keys()])
  const isTogether = isQuick || kinds.length === 0 || repeated !== undefined
  const attacks = isTogether ? [kinds] : kinds.map((kind) => [kind])
  const count = isQuick ? Math.min(3, most) : most
  for (let moment = 0; moment < count; moment++) {
    if (moment > 1) await pause(client, 10 * 1.5 ** (moment - 2))
    for (const some of moment === 2 ? attacks : [[]]) {
      // In a quick run, one reading after the second creation suffices for both.
      const isRead = moment > (isQuick ? 1 : 0)
      if (isRead && !(await goesOn(gate, job))) return
      const probes = some.flatMap((kind) => all.get(kind)!)
      await allEnded(probes.map((probe) => askHolding(client, probe, { ...setup, badInput: true })))
      // In place of an attack, so that a job without one is as old.
      if (moment === 2 && probes.length === 0) await goesOn(gate, job)
      const isOdd = (moment + turn) % 2 === 1
      const own = isOdd ? withOtherValues(application, moment + turn) : application
      const { status = 409 } = await gate.createBeside(own)
      if (status !== 409 && status !== 400 && !(isOdd && status >= 500)) return
    }
  }
}

/** Attacks some jobs again, and others not, until it is known whether attacks free locks or jobs were short. */
async function repeatAttacks(gate: Gate): Promise<void> {
  for (let count = 0; count < 4 * timesAlike && !gate.isBroken(ids.inProgress); count++) {
    const known = freedLocks(gate.history, gate.view)
    if (!known || !(await gate.settle())) return
    const made = await gate.create(ids.inProgress)
    if (isConflict(made) && !(await gate.untilFree())) return
    const job = gate.madeBy(made)
    const repeated = known.kept.size < known.freed.size ? [] : known.attacks
    if (job) await createDuring(gate, job, { repeated })
  }
}

async function createAfterEnd(gate: Gate): Promise<void> {
  if ((await gate.settle()) && gate.isPlanned(ids.released)) {
    await gate.create(ids.released)
    await gate.untilFree()
  }
  await repeatAttacks(gate)
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
    const fresh = history.within(application.id).some((one) => one.status === undefined)
    const size = burstSize[given.options.depth]
    const sent = await sendAtOnce(client, given, { size, make, requirement: ids.atomic, fresh })
    const made = sent.map((exchange) => gate.eventOf(exchange))
    if (!made.every(isConflict)) return made
    if (!(await gate.untilFree()) || tries === timesAlike) return []
    await pause(client, 2 * pauseMs)
  }
}

async function begin(gate: Gate): Promise<Job[]> {
  const isBurst =
    gate.isPlanned(ids.atomic) &&
    gate.given.target.limits.concurrency > 1 &&
    !gate.isBroken(ids.created)
  const made = isBurst ? await burst(gate) : []
  // If all were throttled or refused, a single one distinguishes bursts.
  if (made.every((one) => one.noise === 'throttled')) made.push(await gate.create(ids.released))
  const jobs = made.flatMap((event) => gate.madeBy(event) ?? [])
  if (jobs.length === 0 && made.some(isConflict)) await gate.untilFree()
  return jobs
}

async function readOlder(gate: Gate, newer: Job): Promise<void> {
  const latest = performance.now() - pauseMs
  const older = gate.jobs.find((job) => job !== newer && job.end && job.end.endedAt <= latest)
  if (older && gate.isPlanned(ids.stable)) await gate.read(older.id)
}

/** A job or a burst of creations, and further creations until it ends; on the idle `other` one beside it. */
async function attempt(gate: Gate, turn = 0, other?: Gate, leave?: () => void): Promise<void> {
  // An application may be released some time after its last job, as `409-released` allows.
  const ends = other?.jobs.map((job) => job.end?.endedAt ?? -Infinity) ?? []
  await gate.pauseUntil(Math.max(-Infinity, ...ends) + 2 * pauseMs)
  const [first, second] = await begin(gate)
  if (!first) return
  if (second) for (const job of [first, second, first]) await goesOn(gate, job)
  const onOther = await other?.create(ids.perApplication)
  if (onOther) await goesOn(gate, first)
  const isBlocked = onOther !== undefined && isConflict(onOther)
  const isBroken = gate.isBroken(ids.inProgress)
  const leaveOther = async (): Promise<void> => {
    const job = onOther && gate.madeBy(onOther)
    if (other && job && !gate.isQuick && !isBroken) await createDuring(other, job, { most: 1 })
    await other?.settle()
    if (!isBlocked) leave?.()
  }
  // One attempt shows for the others that there are conflicts.
  const most = isBroken ? 0 : gate.isPlanned(ids.inProgress) ? 20 : 1
  await allEnded([readOlder(gate, first), createDuring(gate, first, { turn, most }), leaveOther()])
  await gate.idle()
  if (!isBlocked) return
  await other?.create(ids.perApplication)
  await other?.settle()
}

/** Whether the application still answers 409 though its last job has ended. */
function isKept(gate: Gate): boolean {
  const last = gate.attempts.findLast((one) => isAsked(one.creation))
  return last?.freeSince !== undefined && isConflict(last.creation)
}

/** As many attempts as needed on the busy application, and one each on the others and a new one. */
export async function provokeConflicts(jobs: Jobs): Promise<void> {
  const { client, given, isQuick } = jobs
  const { application: plain, ...resources } = given.target.resources
  const busy = gateOf(jobs, resources.slowApplication ?? declaredResource(given, 'application'))
  const others = [resources.otherApplication, plain]
    .filter((one) => one !== undefined && one.id !== busy.application.id)
    .map((one) => gateOf(jobs, one!))
  const [beside] = others
  const second = others.find((one) => one.application === plain)
  const isAtomicOpen = (): boolean =>
    isQuick ? jobs.wants(ids.atomic) : jobs.isPlanned(ids.atomic) && !jobs.isBroken(ids.atomic)
  await busy.hold(async () => {
    for (let count = 0; count < timesAlike; count++) {
      const isOpen = beside && jobs.wants(ids.perApplication)
      const isInProgressOpen = jobs.wants(ids.inProgress)
      const isWanted = isOpen || isInProgressOpen || jobs.wants(ids.released) || isAtomicOpen()
      if (count > 0 && !isWanted) break
      const release = isOpen ? await orElse(client, () => beside.acquire()) : undefined
      const turn = isInProgressOpen ? count : 0
      await attempt(busy, turn, release && beside, release).finally(release)
      if (busy.isGivenUp || jobs.isBroken(ids.released)) break
    }
    await repeatAttacks(busy)
  })
  // Another client's job may interfere: a new application must show the fault, too.
  const isSuspected = isKept(busy) || jobs.isBroken(ids.released, ids.perApplication, ids.created)
  if (isQuick && !isSuspected) return
  if (!isQuick)
    await second?.tryHold(async () => {
      if (jobs.isPlanned(ids.inProgress, ids.atomic)) await attempt(second)
      await createAfterEnd(second)
    })
  if (jobs.isPlanned(ids.inProgress, ids.released, ids.perApplication, ids.created))
    await orElse(client, () => attemptOnCreated(busy))
  for (const own of [busy, second])
    if (own && isKept(own) && !jobs.isBroken(ids.released)) await own.tryHold(() => own.untilFree())
  // Last, because a server that mixes up applications would refuse it beside any job.
  const { failingApplication: failing } = resources
  if (failing && !isQuick && jobs.isPlanned(ids.released))
    await gateOf(jobs, failing).tryHold(attemptAlone)
}

/** Conflicts on a new application: nobody else uses it, and a server may check only those it knew before. */
async function attemptOnCreated(busy: Gate): Promise<void> {
  const { client, given } = busy
  if (!isDeclared(given, 'applications.create')) return
  const purpose = { requirement: ids.inProgress, role: 'setup' } as const
  const make = () => validRequest(client, given, 'applications.create')
  const id = createdId(given, await askHolding(client, make, purpose))
  if (id === undefined) return
  // It may need the inputs of the declared one.
  for (const inputs of [[], given.target.resources.application?.inputs ?? []]) {
    const gate = new Gate(client, given, { id, inputs, requiredInputs: [] })
    if (!(await attemptAlone(gate))) continue
    if (!gate.jobs.some((job) => job.end)) return
    if (gate.isBroken(ids.created)) {
      await gate.settle()
      await pause(client, 2 * pauseMs)
      await burst(gate)
    }
    for (let count = 0; count < timesAlike && gate.isBroken(ids.perApplication); count++)
      await busy.tryHold(() => attempt(busy, 0, gate))
    return
  }
}

/** One job, further creations during it, and another creation after its end; false if the inputs are refused. */
async function attemptAlone(gate: Gate): Promise<boolean> {
  let made: HistoryEvent | undefined
  const make = async () => (made = await gate.create(ids.inProgress)).exchange
  await retryWhileSettling(gate.client, gate.given, make, (one) => one.response?.status !== 404)
  if (!made || made.status === 400) return false
  if (isConflict(made)) await gate.untilFree()
  const job = gate.madeBy(made)
  if (!job) return true
  await createDuring(gate, job)
  await createAfterEnd(gate)
  return true
}

async function refuse(gate: Gate, refusals: readonly Refusal[]): Promise<void> {
  for (const { requirement, what, change } of refusals) {
    const about = `jobs.create/${requirement}`
    const probe = await change(await jobRequest(gate.given, gate.application))
    const setup = { about, what, role: 'setup', badInput: true } as const
    const refused = await gate.send(probe, { requirement: ids.noEffect, ...setup })
    if (refused.isGranted) await gate.settle()
  }
}

async function look(gate: Gate, refusals: readonly Refusal[] = [], afterMs = 0) {
  await refuse(gate, refusals)
  await pause(gate.client, afterMs)
  return gate.look()
}

/**
 * Repeats the refusal and the creation that got 409. In between come creations without a refusal, one more each time,
 * so that periodic failures do not align.
 */
async function lookClosely(gate: Gate, refusal: Refusal, afterMs: number): Promise<void> {
  for (let time = 1; time <= timesAlike; time++) {
    await pause(gate.client, windowMs)
    for (let bare = 0; bare <= time; bare++) if ((await look(gate)) !== 'granted') return
    if ((await look(gate, [refusal], afterMs)) !== 'freed') return
  }
}

const isOver = (gate: Gate): boolean => gate.isGivenUp || gate.isBroken(ids.noEffect)

/** Looks at the application after refusals; false if it accepts no creation any more. */
async function lookAfter(gate: Gate, refusals: readonly Refusal[], afterMs = 0): Promise<boolean> {
  const seen = await gate.look()
  for (const refusal of seen === 'freed' ? refusals : [])
    if (!isOver(gate)) await lookClosely(gate, refusal, afterMs)
  return seen !== 'lost' && !gate.isGivenUp
}

/** One creation at once after each kind of refusal; returns those that the application accepts no creation after, if any. */
async function lookAtOnce(gate: Gate): Promise<readonly Refusal[] | undefined> {
  // An application that is not released even without refusals shows nothing.
  if (gate.jobs.length <= 1 && (await look(gate)) === 'lost')
    throw new NotExercised('the application answers 409 even if no creation was refused before')
  const { atOnce } = await kindsOf(gate.client, gate.given, gate.application)
  for (const refusals of atOnce) {
    await refuse(gate, refusals)
    if (!(await lookAfter(gate, refusals))) return refusals
    if (isOver(gate)) break
  }
  return undefined
}

/** Creations some time after refusals of all kinds: a refused request may start its job from a queue. */
async function lookLater(gate: Gate): Promise<void> {
  const { application, history, isQuick, client, given } = gate
  const { delayed } = await kindsOf(client, given, application)
  if (!delayed) return
  const startedAt = performance.now()
  await refuse(gate, delayed)
  const refusedAt = performance.now()
  for (const ms of isQuick ? moments.slice(0, 1) : moments) {
    await gate.pauseUntil(refusedAt + ms)
    // Another application that seems to be locked is compared with this one first.
    if (isOver(gate) || isSuspectedElsewhere(history, application.id)) return
    await lookAfter(gate, delayed, performance.now() - startedAt)
  }
}

/** Looks for effects of refused creations before any other refusal is sent to the application. */
export const provokeFirstRefusals = (jobs: Jobs): Promise<void> =>
  once(jobs.client, 'jobs first refusals', async () => {
    const application = declaredResource(jobs.given, 'application')
    await grantedControl(jobs.client, jobs.given, 'jobs.create')
    const locking = await gateOf(jobs, application).hold(lookAtOnce)
    const { otherApplication: other } = jobs.given.target.resources
    // Repeats this on another application: if that one stays free, refusals do not lock applications.
    if (locking && other && other.id !== application.id)
      await gateOf(jobs, other).tryHold(async (gate) => {
        // After no more refusals than there, and before it has had as many jobs.
        await pause(gate.client, windowMs)
        await look(gate, locking)
      })
  })

/** Late effects are looked for on the other application, if there is one: it has time for them. */
export async function provokeRefusals(jobs: Jobs): Promise<void> {
  const application = declaredResource(jobs.given, 'application')
  const { otherApplication: other = application } = jobs.given.target.resources
  const first = provokeFirstRefusals(jobs)
  await grantedControl(jobs.client, jobs.given, 'jobs.create')
  await allEnded([first, gateOf(jobs, other).tryHold(lookLater)])
}

/** The job of the `jobs.create` control, once it can be read or `settleMs` have passed. */
async function readNewJob(jobs: Jobs): Promise<string> {
  const { client, given } = jobs
  if (given.options.readOnly) throw new NotExercised(leftOut('--read-only'))
  const { exchange, said } = await grantedControl(
    client,
    given,
    'jobs.create',
    'no job could be created',
  )
  const job = exchange && jobs.madeBy(jobs.eventOf(exchange))
  if (!job) throw new NotExercised(`the creation response has no id: ${said()}`)
  await jobs.readUntilFound(job)
  return job.id
}

/** Throws `NotExercised` if the creation is refused. */
async function follow(
  jobs: Jobs,
  name: (typeof applicationNames)[number],
  requirement: RequirementId,
): Promise<string> {
  const { client, given } = jobs
  const application = declaredResource(given, name)
  const purpose = { requirement, role: 'setup' } as const
  const exchange = await ask(client, () => jobRequest(given, application), purpose)
  const job = jobs.madeBy(jobs.eventOf(exchange))
  if (!job)
    throw new NotExercised(
      `no job of resources.${name} could be created: ${describeResponse(exchange)}`,
    )
  await jobs.readUntilFound(job)
  await jobs.awaitEnd(job.id)
  return job.id
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
/** Maximum ended jobs per application to read again, besides the first; the latest. */
const maxReadAgain = { full: 2, quick: 1 }

/** Per application, the first job and the latest; also jobs that were read and then disappeared. */
function jobsToReadAgain(jobs: Jobs): Job[] {
  const made = ownJobs(jobs.history).filter((one) => !one.twinOf)
  const ended = made.filter((one) => one.isOver)
  const gone = made.filter((one) => one.readings.some(isRead) && isGone(one.readings.at(-1)!))
  const most = maxReadAgain[jobs.given.options.depth]
  const some = [...groupBy(ended, (one) => one.application).values()].flatMap((own) => [
    ...own.slice(0, 1),
    ...own.slice(-most),
  ])
  return [...new Set([...some, ...gone])]
}

async function readAgain(jobs: Jobs, job: Job): Promise<void> {
  const settledAt = job.creation.endedAt + jobs.given.target.limits.settleMs
  if (!isGone(await jobs.read(job.id)) || performance.now() > settledAt) return
  await jobs.pauseUntil(settledAt)
  await jobs.read(job.id)
}

/** Reads what is visible once all jobs have ended, late enough for effects that take seconds. */
export async function readFinalStates(client: Client, given: Given): Promise<void> {
  const jobs = new Jobs(client, given)
  const { history, isQuick } = jobs
  const { depth } = given.options
  const { application, job: declared } = given.target.resources
  await Promise.allSettled(ownJobs(history).map((one) => jobs.awaitEnd(one.id)))
  const created = 'jobs.retrieve/200-created-at'
  const [first] = ownJobs(history)
  const isApart = (one: Job): boolean => one.creation.sentAt - first!.creation.endedAt >= apartMs
  // The order of their times shows only in jobs that are far enough apart.
  const lacksLater = first && !isQuick && !ownJobs(history).some(isApart)
  if (application && lacksLater && jobs.isPlanned(created)) {
    await jobs.pauseUntil(first.creation.endedAt + apartMs)
    await follow(jobs, 'application', created).catch(() => undefined)
  }
  const isWanted = rulesAfter('ended').some((id) => id.startsWith('jobs.r') && jobs.isPlanned(id))
  if (!isWanted || jobs.cannotBeRead) return
  const from = depth === 'full' ? first?.creation : first?.end
  const before = declared === undefined ? undefined : history.of(declared).find(hasEnded)
  const since = [(from?.endedAt ?? 0) + againMs[depth], (before?.endedAt ?? 0) + againMs.quick]
  await jobs.pauseUntil(Math.max(...since))
  await Promise.allSettled([
    ...jobsToReadAgain(jobs).map((job) => readAgain(jobs, job)),
    ...(before && declared !== undefined ? [jobs.read(declared)] : []),
  ])
}

const granting: readonly string[] = [ids.released, ids.perApplication, ids.noEffect]

function byRule(id: JobRuleId): Judge {
  return async (context) => {
    if (context.scenario) return (granting.includes(id) ? grantedByScenario : byScenario)(context)
    const jobs = new Jobs(context.client, context.given)
    const verdict = jobs.verdict(id)
    const { state } = jobRules[id]
    if (verdict.outcome === 'open') await reach(context.client, context.given, state)
    if (id === ids.inProgress || id === ids.noEffect) context.control = 'granted'
    if (verdict.outcome === 'open' && state === 'conflicts')
      throw new NotExercised(
        id === ids.atomic && context.given.target.limits.concurrency === 1
          ? 'concurrent creations need limits.concurrency of 2 or more'
          : `three attempts proved nothing: ${verdict.why}`,
      )
    return decisive(context, verdict)
  }
}

type RulesOf<O extends string> = {
  readonly [Id in JobRuleId as Id extends `${O}/${infer Name}` ? Name : never]: Judge
}

export const byRules = <O extends 'jobs.create' | 'jobs.retrieve'>(operation: O): RulesOf<O> =>
  Object.fromEntries(
    (Object.keys(jobRules) as JobRuleId[])
      .filter((id) => id.startsWith(operation))
      .map((id) => [id.slice(operation.length + 1), byRule(id)]),
  ) as RulesOf<O>

/** Whether an answer is granted and has its shape. `takes`: null if no other job shows the same. */
function answerVerdict(
  context: CheckContext,
  of: { readonly exchange: Exchange; readonly what: string; readonly takes: null | undefined },
  expected: string,
  schema: BodySchema,
): Verdict {
  const found = grantedFinding(context, of.exchange, expected) ?? shapeFinding(of.exchange, schema)
  return concluded([findingVerdict(found, of)])
}

export const eachCreated: Judge = async (context) => {
  const { client, given } = context
  const jobs = new Jobs(client, given)
  const verdictOf = (): Verdict => decisive(context, jobs.verdict(ids.created))
  const exchange = await orElse(
    client,
    () => controlExchange(client, given, 'jobs.create'),
    (error) => {
      // A fault on objects of the run counts even if the declared application is busy.
      if (verdictOf().outcome !== 'broken') throw error
      return undefined
    },
  )
  const verdict = verdictOf()
  if (!exchange) return verdict
  const { response } = exchange
  const isAlone = response && isGranted(response) && !isSomeCreated(jobs.history)
  const of = { exchange, what: 'with a valid body', takes: isAlone ? null : undefined }
  const expected = '202 with the id, status and created_at of the new job'
  const own = answerVerdict(context, of, expected, 'created-job')
  return own.outcome === 'held' ? joined([own, verdict]) : own
}

/** A reading of the declared job, or of the first one of the run, and all others. */
export const eachRead: Judge = async (context) => {
  const jobs = new Jobs(context.client, context.given)
  const { exchange } = await control(context.client, context.given, 'jobs.retrieve')
  if (!exchange) throw new NotExercised(leftOut('--read-only'))
  const takes = isSomeRight(jobs.history) ? undefined : null
  const own = answerVerdict(context, { exchange, what: '', takes }, '200 with a job', 'job')
  const verdict = jobs.verdict('jobs.retrieve/200-job')
  if (own.outcome !== 'held' || verdict.outcome === 'open') return own
  return joined([own, decisive(context, verdict)])
}

/** A job of the application declared for it, or a retrieval that a scenario directs to a failed job. */
export const failsAsDeclared: Judge = async (context) => {
  const { client, given } = context
  if (context.scenario)
    return grantedVerdict(context, {
      make: () => validRequest(client, given, 'jobs.retrieve'),
      what: ofFailing.what,
      tries: 1,
      check(_, exchange) {
        const fault = failedFault(jsonValue(exchange.response))
        return fault && { expected: ofFailing.expected, actual: fault.actual }
      },
    })
  const jobs = new Jobs(client, given)
  const verdict = failedRule(declaredResource(given, 'failingApplication').id)(jobs.history)
  if (verdict.outcome === 'open') await reach(client, given, 'failing')
  return decisive(context, verdict)
}
