import {
  declaredResource,
  grantedControl,
  isDeclared,
  once,
  retryWhileSettling,
  sendAtOnce,
  validRequest,
  withBody,
} from '../../harness/checks/index.ts'
import { allEnded, operationProbe, orElse } from '../../harness/client/index.ts'
import { askHolding } from '../../harness/run/index.ts'
import {
  NotExercised,
  type Probe,
  createdId,
  type HistoryEvent,
  isConflict,
} from '../../harness/journal/index.ts'
import type { ApplicationResource } from '../../harness/target/index.ts'
import { withCredential } from '../authentication/credentials.ts'
import { noCredential } from '../authentication/key-forms.ts'
import type { Refusal } from '../created/drive.ts'
import { Gate, gateOf, type JobClient, jobRequest, pauseMs, withOtherValues } from './client.ts'
import { type Attack, type AttackLook, attackLook } from './conflicts.ts'
import { kindsOf } from './faults.ts'
import { attemptsIn, isOwn, type Job, statusOf, viewOf } from './view.ts'
import { isSuspectedElsewhere, moments, timesAlike, windowMs } from './no-effect.ts'
import { ids } from './rules.ts'

/** Creates the situations for the rules about conflicts and refused creations, which judge them. */

/** Whether the job still runs after `ms`; reads it a few times meanwhile, to notice its end. */
async function goesOn(client: JobClient, id: string, requirement: string, ms = 0) {
  const job = viewOf(client.history).jobOf(id)
  const parts = Math.min(4, Math.max(1, Math.floor(ms / 20)))
  for (let part = 0; part < parts; part++) {
    if (ms > 0) await client.pause(ms / parts)
    if (!job || !(await client.readUntilFound(job, requirement))) return false
    const last = job.readings.at(-1)
    if (!last || statusOf(last) !== 'in_progress' || !isOwn(last, job)) return false
  }
  return true
}

/** Requests that are refused, and may take away the lock of a job in progress: a valid creation after each is refused as before. */
async function attack({ client, application }: Gate, kind: Attack, id: string): Promise<void> {
  const { run } = client
  const valid =
    kind === 'reading without a key'
      ? await operationProbe(run, 'jobs.retrieve', { params: { job_id: id } })
      : await jobRequest(run, application)
  const probe =
    kind === 'malformed creation' ? withBody(valid, {}) : withCredential(valid, noCredential)
  await askHolding(run, probe, { requirement: ids.inProgress, role: 'setup', badInput: true })
}
const attacks: readonly Attack[] = [
  'malformed creation',
  'creation without a key',
  'reading without a key',
]

interface During {
  /** 1: the creation with other values comes first, since a short job may end before a second creation. */
  readonly turn?: number
  readonly most?: number
  /** The attacks to send before one creation, instead of all; none: readings in their place. */
  readonly repeated?: readonly Attack[]
}

/**
 * Further creations during the whole life of a job, with the same inputs and with other values: a server may compare
 * requests, or forget after a while that the job goes on. The first two come at once. The next ones follow an attack on the
 * lock each (a quick run: one after all attacks), once per application. Then the pauses grow by half each time.
 */
async function createDuring(
  gate: Gate,
  id: string,
  { turn = 0, most = 20, repeated }: During = {},
): Promise<void> {
  const { client, application } = gate
  const isAttacked = client.history
    .within(application.id)
    .some(
      ({ exchange: { purpose } }) =>
        purpose.role === 'setup' && purpose.requirement === ids.inProgress,
    )
  const all = client.isQuick ? [attacks] : attacks.map((kind) => [kind])
  const groups = repeated ? [repeated] : isAttacked ? [] : all
  const create = async (isOdd: boolean, moment: number): Promise<boolean> => {
    const own = isOdd ? withOtherValues(application, moment + turn) : application
    const { status = 409 } = await client.createBeside(own)
    return status === 409 || status === 400 || (status >= 500 && isOdd)
  }
  for (let moment = 0; moment < (client.isQuick ? Math.min(3, most) : most); moment++) {
    const waitMs = moment > 1 ? 10 * 1.5 ** (moment - 2) : 0
    // In a quick run, one reading after the second creation suffices for both.
    const isRead = moment > (client.isQuick ? 1 : 0)
    if (isRead && !(await goesOn(client, id, ids.inProgress, waitMs))) return
    const isOdd = (moment + turn) % 2 === 1
    for (const [at, group] of moment === 2 ? groups.entries() : []) {
      for (const kind of group) await attack(gate, kind, id)
      if (group.length === 0) await goesOn(client, id, ids.inProgress)
      if (at < groups.length - 1 && !(await create(isOdd, moment))) return
    }
    if (!(await create(isOdd, moment))) return
  }
}

/**
 * A creation that was accepted after an attack, while the job still read as in progress, has two possible reasons: the attack
 * removed the lock, or the job's end is read late. Jobs with and without an attack, in turn, tell them apart.
 */
async function repeatAttacks(gate: Gate): Promise<void> {
  const { client, application } = gate
  const { history } = client
  const look = (): AttackLook | undefined =>
    attackLook(
      history,
      attemptsIn(history).get(viewOf(history).applicationOf(application.id)) ?? [],
    )
  for (let count = 0; count < 2 * timesAlike + 1 && !client.isBroken(ids.inProgress); count++) {
    const known = look()
    if (!known || !(await gate.settle())) return
    const made = await gate.create(ids.inProgress)
    if (isConflict(made) && !(await gate.untilFree(ids.released))) return
    const job = viewOf(history).madeBy(made)
    const repeated = known.kept.size < known.freed.size ? [] : known.attacks
    if (job) await createDuring(gate, job.id, { repeated })
  }
}

async function createAfterEnd(gate: Gate): Promise<void> {
  if (!gate.client.isPlanned(ids.released)) return
  await gate.create(ids.released)
  await gate.untilFree(ids.released)
}

const burstSize = { full: 5, quick: 2 }

/** Sends several creations at once; while all are refused, repeats this after a pause, at most three times. */
async function burst(gate: Gate): Promise<HistoryEvent[]> {
  const { client, application } = gate
  const { run, history } = client
  let count = 0
  // A server may lock the inputs instead of the application.
  const next = () =>
    !client.isQuick && count++ % 2 ? withOtherValues(application, 2 * count) : application
  for (let tries = 0; ; tries++) {
    const fresh = history.within(application.id).some(({ status }) => status === undefined)
    const size = burstSize[run.options.depth]
    const make = () => jobRequest(run, next())
    const sent = await sendAtOnce(run, { size, make, requirement: ids.atomic, fresh })
    const made = sent.map((exchange) => client.eventOf(exchange))
    if (!made.every(isConflict)) return made
    if (!(await gate.untilFree(ids.released)) || tries === timesAlike) return []
    await client.pause(2 * pauseMs)
  }
}

async function begin(gate: Gate): Promise<Job[]> {
  const { client } = gate
  const isBurst =
    client.isPlanned(ids.atomic) &&
    client.run.target.limits.concurrency > 1 &&
    !client.isBroken(ids.created)
  const made = isBurst ? await burst(gate) : []
  // If all were throttled or refused, a single one distinguishes bursts.
  if (made.every(({ noise }) => noise === 'throttled')) made.push(await gate.create(ids.released))
  const jobs = made.flatMap((event) => viewOf(client.history).madeBy(event) ?? [])
  if (jobs.length === 0 && made.some(isConflict)) await gate.untilFree(ids.released)
  return jobs
}

async function readOlder({ client, jobs }: Gate, newer: Job): Promise<void> {
  const now = performance.now()
  const older = jobs.find((job) => job !== newer && job.end && job.end.endedAt + pauseMs <= now)
  if (older && client.isPlanned(ids.stable)) await client.read(older.id, ids.stable)
}

/**
 * A job or a burst of creations, and further creations until it ends; true if the idle `other` was blocked.
 * @param leave releases `other`
 */
async function attempt(gate: Gate, turn = 0, other?: Gate, leave?: () => void): Promise<boolean> {
  const { client } = gate
  // An application may be released some time after its last job, as `409-released` allows.
  const ends = other?.jobs.map((job) => job.end?.endedAt ?? -Infinity) ?? []
  await client.pause(Math.max(-Infinity, ...ends) + 2 * pauseMs - performance.now())
  const [first, second] = await begin(gate)
  if (!first) return false
  if (second) for (const { id } of [first, second, first]) await goesOn(client, id, ids.atomic)
  // Concurrent with what must happen during the job, which may be short.
  const older = readOlder(gate, first)
  older.catch(() => undefined)
  const onOther = await other?.create(ids.perApplication)
  if (onOther) await goesOn(client, first.id, ids.perApplication)
  const isBlocked = onOther !== undefined && isConflict(onOther)
  const jobOnOther = onOther && viewOf(client.history).madeBy(onOther)
  const isBroken = client.isBroken(ids.inProgress)
  const leaveOther = async (): Promise<void> => {
    if (other && jobOnOther && !client.isQuick && !isBroken)
      await createDuring(other, jobOnOther.id, { most: 1 })
    await other?.settle()
    if (!isBlocked) leave?.()
  }
  // One attempt shows for the others that there are conflicts.
  const most = client.isPlanned(ids.inProgress) ? 20 : 1
  await allEnded([
    ...(isBroken ? [] : [createDuring(gate, first.id, { turn, most })]),
    leaveOther(),
  ])
  await older
  await gate.idle()
  if (!isBlocked) return false
  await other?.create(ids.perApplication)
  await other?.settle()
  return true
}

/** As many attempts as needed on the busy application, and one each on the other declared and a new application. */
export async function provokeConflicts(client: JobClient): Promise<void> {
  const { run } = client
  const { application: plain, ...resources } = run.target.resources
  const busy = resources.slowApplication ?? declaredResource(run, 'application')
  const other = [resources.otherApplication, plain].find((one) => one && one.id !== busy.id)
  const beside = other && gateOf(client, other)
  await gateOf(client, busy).hold(async (gate) => {
    let isBlocked = false
    // Repeated if blocked: another client's job may have interfered.
    for (let count = 0; count < (isBlocked ? 2 : 1) * timesAlike; count++) {
      const isOpen = beside && client.wants(ids.perApplication)
      const isAtomicOpen = client.isQuick ? client.wants(ids.atomic) : !client.isBroken(ids.atomic)
      const isWanted =
        (client.isPlanned(ids.atomic) && isAtomicOpen) ||
        client.wants(ids.inProgress) ||
        client.wants(ids.released)
      if (count > 0 && !isOpen && (!isWanted || count >= timesAlike)) break
      const turn = client.wants(ids.inProgress) ? count : 0
      const release = isOpen ? await orElse(run, () => beside.acquire()) : undefined
      const wasBlocked = await attempt(gate, turn, release && beside, release).finally(release)
      isBlocked ||= wasBlocked
      if (gate.isGivenUp || client.isBroken(ids.released)) break
    }
    await repeatAttacks(gate)
  })
  // Another client's job may interfere on a declared application, so a new application must show the fault, too.
  const isSuspected = () => client.isBroken(ids.released, ids.perApplication, ids.created)
  if (client.isQuick && !isSuspected()) return
  const second = plain && plain.id !== busy.id ? gateOf(client, plain) : undefined
  if (!client.isQuick)
    await second?.tryHold(async (gate) => {
      if (client.isPlanned(ids.inProgress, ids.atomic)) await attempt(gate)
      await createAfterEnd(gate)
      await repeatAttacks(gate)
    })
  const suspected = isSuspected()
  await attemptOnCreated(client, busy)
  for (const own of suspected ? [gateOf(client, busy), second] : [])
    if (!client.isBroken(ids.released)) await own?.tryHold(() => own.untilFree(ids.released))
  if (client.isQuick) return
  // Last, because a server that mixes up applications would refuse it beside any job.
  const { failingApplication: failing } = resources
  if (failing && client.isPlanned(ids.released)) await gateOf(client, failing).tryHold(attemptAlone)
}

/** Conflicts on a new application: nobody else uses it, and a server may check only those it knew before. */
async function attemptOnCreated(client: JobClient, busy: ApplicationResource): Promise<void> {
  const { run } = client
  const isWanted = client.isPlanned(ids.inProgress, ids.released, ids.perApplication, ids.created)
  if (!isWanted || !isDeclared(run, 'applications.create')) return
  await orElse(run, async () => {
    const purpose = { requirement: ids.inProgress, role: 'setup' } as const
    const make = () => validRequest(run, 'applications.create')
    const id = createdId(run, await askHolding(run, make, purpose))
    if (id === undefined) return
    // It may need the inputs of the declared one.
    for (const inputs of [[], run.target.resources.application?.inputs ?? []]) {
      const gate = new Gate(client, { id, inputs, requiredInputs: [] })
      if (await attemptAlone(gate)) return confirmOnCreated(gate, busy)
    }
  })
}

async function confirmOnCreated(gate: Gate, busy: ApplicationResource): Promise<void> {
  const { client } = gate
  if (!gate.jobs.some(({ end }) => end)) return
  if (client.isBroken(ids.created)) {
    await gate.settle()
    await client.pause(2 * pauseMs)
    await burst(gate)
  }
  let isBlocked: boolean | undefined = client.isBroken(ids.perApplication)
  for (let count = 0; count < timesAlike && isBlocked; count++)
    isBlocked = await gateOf(client, busy).tryHold((other) => attempt(other, 0, gate))
}

/** One job, further creations during it, and another creation after its end; false if the inputs are refused. */
async function attemptAlone(gate: Gate): Promise<boolean> {
  const { client } = gate
  let made: HistoryEvent | undefined
  const make = async () => (made = await gate.create(ids.inProgress)).exchange
  await retryWhileSettling(client.run, make, ({ response }) => response?.status !== 404)
  if (!made || made.status === 400) return false
  if (isConflict(made)) await gate.untilFree(ids.inProgress)
  const job = viewOf(client.history).madeBy(made)
  if (!job) return true
  await createDuring(gate, job.id)
  if (await gate.settle()) await createAfterEnd(gate)
  await repeatAttacks(gate)
  return true
}

/** Refusals, and the delay until the next creation, in ms. */
interface Look {
  readonly refusals: readonly Refusal[]
  readonly afterMs: number
}

async function refuse(gate: Gate, refusals: readonly Refusal[]): Promise<void> {
  const { client, application } = gate
  for (const { requirement, what, change } of refusals) {
    const about = `jobs.create/${requirement}`
    const probe: Probe = await change(await jobRequest(client.run, application))
    const purpose = {
      requirement: ids.noEffect,
      about,
      what,
      role: 'setup',
      badInput: true,
    } as const
    const exchange = await askHolding(client.run, probe, purpose)
    if (client.eventOf(exchange).isGranted) await gate.settle()
  }
}

async function look(gate: Gate, after?: Look) {
  await refuse(gate, after?.refusals ?? [])
  await gate.client.pause(after?.afterMs ?? 0)
  return gate.look(ids.noEffect)
}

/**
 * Repeats the refusal and the creation that got 409 three times. In between, sends creations without a refusal, one more
 * each time, so that periodic failures do not align.
 */
async function lookClosely(gate: Gate, after: Look): Promise<void> {
  for (let time = 1; time <= timesAlike; time++) {
    await gate.client.pause(windowMs)
    for (let bare = 0; bare <= time; bare++) if ((await look(gate)) !== 'granted') return
    if ((await look(gate, after)) !== 'freed') return
  }
}

async function lookAfter(gate: Gate, after: Look): Promise<void> {
  const { client } = gate
  const { refusals, afterMs } = after
  if ((await gate.look(ids.noEffect)) !== 'freed') return
  // Send all refusals once more by themselves: in a long list, another client's job may have interfered.
  if (refusals.length > 1) {
    await client.pause(windowMs)
    if ((await look(gate, after)) !== 'freed') return
  }
  for (const refusal of refusals)
    if (!isOver(gate)) await lookClosely(gate, { refusals: [refusal], afterMs })
}

const isOver = ({ client, isGivenUp }: Gate): boolean => isGivenUp || client.isBroken(ids.noEffect)

/** One creation at once after each kind of refusal; the look after which the application accepts no creation any more, if any. */
async function lookAtOnce(gate: Gate): Promise<Look | undefined> {
  // An application that is not released even without refusals shows nothing.
  if (gate.jobs.length <= 1 && (await look(gate)) === 'lost')
    throw new NotExercised('the application answers 409 even if no creation was refused before')
  const { atOnce } = await kindsOf(gate.client.run, gate.application)
  for (const refusals of atOnce) {
    const one = { refusals, afterMs: 0 }
    await refuse(gate, refusals)
    await lookAfter(gate, one)
    if (gate.isGivenUp) return one
    if (isOver(gate)) break
  }
  return undefined
}

/** Creations some time after refusals of all kinds: a refused request may start its job from a queue. */
async function lookLater(gate: Gate): Promise<void> {
  const { client, application } = gate
  const { delayed } = await kindsOf(client.run, application)
  if (!delayed) return
  await refuse(gate, delayed)
  const refusedAt = performance.now()
  for (const afterMs of client.isQuick ? moments.slice(0, 1) : moments) {
    await client.pause(refusedAt + afterMs - performance.now())
    // Another application that seems to be locked is compared with this one first.
    if (isOver(gate) || isSuspectedElsewhere(client.history, application.id)) return
    await lookAfter(gate, { refusals: delayed, afterMs })
  }
}

/** Looks for effects of refused creations before any other refusal is sent to the application. */
export const provokeFirstRefusals = (client: JobClient): Promise<void> =>
  once(client.run, 'jobs first refusals', async () => {
    const application = declaredResource(client.run, 'application')
    await grantedControl(client.run, 'jobs.create')
    const locking = await gateOf(client, application).hold(lookAtOnce)
    const { otherApplication: other } = client.run.target.resources
    // Repeats this on another application: if that one stays free, refusals do not lock applications.
    if (locking && other && other.id !== application.id)
      await gateOf(client, other).tryHold(async (gate) => {
        if ((await look(gate)) === 'granted') await look(gate, locking)
      })
  })

/** Late effects are looked for on the other application, if there is one: it has time for them. */
export async function provokeRefusals(client: JobClient): Promise<void> {
  const application = declaredResource(client.run, 'application')
  const { otherApplication: other = application } = client.run.target.resources
  const first = provokeFirstRefusals(client)
  await grantedControl(client.run, 'jobs.create')
  await allEnded([first, gateOf(client, other).tryHold(lookLater)])
}
