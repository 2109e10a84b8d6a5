import {
  declaredResource,
  isDeclared,
  retryWhileSettling,
  sendAtOnce,
  validRequest,
  withBody,
} from '../../harness/checks/index.ts'
import { allEnded, operationProbe, orElse, type Probe } from '../../harness/engine/index.ts'
import { askHolding } from '../../harness/run/index.ts'
import { createdId, type HistoryEvent, isConflict } from '../../harness/journal/index.ts'
import type { ApplicationResource } from '../../harness/target/index.ts'
import { withCredential } from '../authentication/credentials.ts'
import { noCredential } from '../authentication/key-forms.ts'
import { type JobClient, jobRequest, withOtherValues } from './client.ts'
import { type Attack, type AttackLook, attackLook } from './conflicts.ts'
import { Gate, gateOf, pauseMs } from './gate.ts'
import { isOwn, type Job, statusOf } from './job.ts'
import { timesAlike } from './no-effect.ts'
import { ids } from './rules.ts'
import { attemptsIn, viewOf } from './view.ts'

/** Creates the situations for the rules about conflicts, which judge them. */

async function goesOn(client: JobClient, id: string, requirement: string): Promise<boolean> {
  const job = viewOf(client.history).jobOf(id)
  const isFound = job && (await client.readUntilFound(job, requirement))
  const last = job?.readings.at(-1)
  return isFound && last ? statusOf(last) === 'in_progress' && isOwn(last, job) : false
}

/** Waits, in ms, with readings that notice the end of a job; false once it has ended. */
async function staysInProgress(client: JobClient, id: string, ms: number): Promise<boolean> {
  const parts = Math.min(4, Math.max(1, Math.floor(ms / 20)))
  for (let part = 0; part < parts; part++) {
    await client.pause(ms / parts)
    if (!(await goesOn(client, id, ids.inProgress))) return false
  }
  return true
}

/** Requests that are refused, and may take away the lock of a job in progress: a valid creation after each is refused as before. */
const attacks: Readonly<
  Record<Attack, (client: JobClient, valid: Probe, id: string) => Promise<Probe>>
> = {
  'malformed creation': async (_, valid) => withBody(valid, {}),
  'creation without a key': async (_, valid) => withCredential(valid, noCredential),
  'reading without a key': async ({ run }, _, id) =>
    withCredential(
      await operationProbe(run, 'jobs.retrieve', { params: { job_id: id } }),
      noCredential,
    ),
}
const kindsOfAttack = Object.keys(attacks) as Attack[]

/**
 * Further creations during the whole life of a job, with the same inputs and with other values: a server may compare
 * requests, or forget after a while that the job goes on. None come between the first two; once on an application the next come after
 * an attack on the lock each, in a quick run one after all attacks; then each half as long again later.
 * @param turn 1: other values come first, as a short job may be over before the second creation
 * @param repeated the attacks to send before one creation, instead of all; none: readings in their place
 */
async function createDuring(
  { client, application }: Gate,
  id: string,
  { turn = 0, most = 20, repeated }: { turn?: number; most?: number; repeated?: Attack[] } = {},
): Promise<void> {
  const isAttacked = client.history
    .within(application.id)
    .some(
      ({ exchange: { purpose } }) =>
        purpose.role === 'setup' && purpose.requirement === ids.inProgress,
    )
  const all = client.isQuick ? [kindsOfAttack] : kindsOfAttack.map((kind) => [kind])
  const groups = repeated ? [repeated] : isAttacked ? [] : all
  /** False if it was accepted, or got an answer other than a conflict. */
  const create = async (isOdd: boolean, moment: number): Promise<boolean> => {
    const own = isOdd ? withOtherValues(application, moment + turn) : application
    const { status = 409 } = await client.createBeside(own)
    return status === 409 || status === 400 || (status >= 500 && isOdd)
  }
  const attack = async (kind: Attack): Promise<void> => {
    const probe = await attacks[kind](client, await jobRequest(client.run, application), id)
    const purpose = { requirement: ids.inProgress, role: 'setup', badInput: true } as const
    await askHolding(client.run, probe, purpose)
  }
  for (let moment = 0; moment < (client.isQuick ? Math.min(3, most) : most); moment++) {
    const waitMs = moment > 1 ? 10 * 1.5 ** (moment - 2) : 0
    // In a quick run the reading after the second one shows that of both.
    const isRead = moment > (client.isQuick ? 1 : 0)
    if (isRead && !(await staysInProgress(client, id, waitMs))) return
    const isOdd = (moment + turn) % 2 === 1
    for (const [at, group] of moment === 2 ? groups.entries() : []) {
      for (const kind of group) await attack(kind)
      if (group.length === 0) await goesOn(client, id, ids.inProgress)
      if (at < groups.length - 1 && !(await create(isOdd, moment))) return
    }
    if (!(await create(isOdd, moment))) return
  }
}

/**
 * If a creation after an attack was accepted though its job went on by its readings, the job may also have ended and be read
 * late: further jobs, attacked and left alone in turn, tell these apart.
 */
async function repeatAttacks(gate: Gate): Promise<void> {
  const { client, application } = gate
  const look = (): AttackLook | undefined => {
    const { history } = client
    return attackLook(
      history,
      attemptsIn(history).get(viewOf(history).applicationOf(application.id)) ?? [],
    )
  }
  for (let count = 0; count < 2 * timesAlike + 1 && !client.isBroken(ids.inProgress); count++) {
    const known = look()
    if (!known || !(await gate.settle())) return
    const made = await gate.create(ids.inProgress)
    if (isConflict(made) && !(await gate.untilFree(ids.released))) return
    const job = viewOf(client.history).madeBy(made)
    const repeated = known.kept.size < known.freed.size ? [] : [...known.attacks]
    if (job) await createDuring(gate, job.id, { repeated })
  }
}

/** A creation after the end of a job; after a 409, further ones. */
async function createAfterEnd(gate: Gate): Promise<void> {
  if (!gate.client.isPlanned(ids.released)) return
  if (isConflict(await gate.create(ids.released))) await gate.untilFree(ids.released)
}

const burstSize = { full: 5, quick: 2 }

/** Several creations at once; if all are refused, once more when the application has had time to be free, three times at most. */
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

/** Reads an older job while a newer one is in progress: it must not change. */
async function readOlder({ client, jobs }: Gate, newer: Job): Promise<void> {
  const now = performance.now()
  const older = jobs.find((job) => job !== newer && job.end && job.end.endedAt + pauseMs <= now)
  if (older && client.isPlanned(ids.stable)) await client.read(older.id, ids.stable)
}

/** A job or a burst of creations, and further creations until it ends; true if the idle `other` was blocked. */
async function attempt(gate: Gate, turn = 0, other?: Gate): Promise<boolean> {
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
  const jobOnOther = onOther && viewOf(client.history).madeBy(onOther)
  // One attempt shows for the others that there are conflicts.
  const most = client.isPlanned(ids.inProgress) ? 20 : 1
  if (!client.isBroken(ids.inProgress))
    await allEnded([
      createDuring(gate, first.id, { turn, most }),
      ...(other && jobOnOther && !client.isQuick
        ? [createDuring(other, jobOnOther.id, { most: 1 })]
        : []),
    ])
  await older
  if (!(await gate.settle())) throw gate.giveUp('still had a job in progress')
  const isBlocked = onOther !== undefined && isConflict(onOther)
  if (isBlocked) await other?.create(ids.perApplication)
  await other?.settle()
  return isBlocked
}

/** As many attempts as needed on the application; one on each other declared one, and one on a new one. */
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
      const wasBlocked = await attempt(gate, turn, release && beside).finally(release)
      isBlocked ||= wasBlocked
      if (gate.isGivenUp || client.isBroken(ids.released)) break
    }
    await repeatAttacks(gate)
  })
  // On a declared application, another client's job may interfere, so a new one has to show it, too.
  const isSuspected = (): boolean =>
    [ids.released, ids.perApplication, ids.created].some((id) => client.isBroken(id))
  if (client.isQuick && !isSuspected()) return
  if (!client.isQuick && plain && plain.id !== busy.id)
    await gateOf(client, plain).tryHold(async (gate) => {
      if (client.isPlanned(ids.inProgress, ids.atomic)) await attempt(gate)
      await createAfterEnd(gate)
      await repeatAttacks(gate)
    })
  const suspected = isSuspected()
  await attemptOnCreated(client, busy)
  for (const own of [busy, ...(plain && plain.id !== busy.id ? [plain] : [])]) {
    const last = client.history.within(own.id).at(-1)
    if (suspected && !client.isBroken(ids.released) && last && isConflict(last))
      await gateOf(client, own).tryHold((gate) => gate.untilFree(ids.released))
  }
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

/** One job with further creations, and one after its end; false if the application needs other inputs. */
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
