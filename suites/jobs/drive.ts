import {
  declaredResource,
  isDeclared,
  retryWhileSettling,
  sendAtOnce,
  validRequest,
} from '../../harness/checks/index.ts'
import { allEnded, orElse } from '../../harness/engine/index.ts'
import { askHolding } from '../../harness/run/index.ts'
import { createdId, type HistoryEvent, isConflict } from '../../harness/journal/index.ts'
import { type JobClient, jobRequest, withOtherValues } from './client.ts'
import { Gate, gateOf, pauseMs } from './gate.ts'
import { isOwn, type Job, statusOf } from './job.ts'
import { timesAlike } from './no-effect.ts'
import { ids } from './rules.ts'
import { viewOf } from './view.ts'

/** Brings about the states that the rules about conflicts speak of; what they show is for the rules to say. */

/** True if a reading shows the job in progress, that very one. A new one may not be found yet: then it is waited for. */
async function goesOn(client: JobClient, id: string, requirement: string): Promise<boolean> {
  const job = viewOf(client.history).jobOf(id)
  const isFound = job && (await client.readUntilFound(job, requirement))
  const last = job?.readings.at(-1)
  return isFound && last ? statusOf(last) === 'in_progress' && isOwn(last, job) : false
}

/** Waits, in ms, with readings in between that show the end of a job soon; false once it is no longer in progress. */
async function staysInProgress(client: JobClient, id: string, ms: number): Promise<boolean> {
  const parts = Math.min(4, Math.max(1, Math.floor(ms / 20)))
  for (let part = 0; part < parts; part++) {
    await client.pause(ms / parts)
    if (!(await goesOn(client, id, ids.inProgress))) return false
  }
  return true
}

/**
 * Further creations during the whole life of a job, with the same inputs and with other values: a server may compare
 * requests, or forget after a while that the job goes on. None come between the first two, then each half as long again later.
 * @param turn 1: other values come first, as a short job may be over before the second creation
 */
async function createDuring({ client, application }: Gate, id: string, turn = 0, most = 20) {
  for (let moment = 0; moment < (client.isQuick ? Math.min(3, most) : most); moment++) {
    const waitMs = moment > 1 ? 10 * 1.5 ** (moment - 2) : 0
    if (moment > 0 && !(await staysInProgress(client, id, waitMs))) return
    const isOdd = (moment + turn) % 2 === 1
    const own = isOdd ? withOtherValues(application, moment + turn) : application
    const { status = 409 } = await client.createBeside(own)
    if (status !== 409 && status !== 400 && !(status >= 500 && isOdd)) return
  }
}

/** A creation after the end of a job; answered 409, more. */
async function createAfterEnd(gate: Gate): Promise<void> {
  if (!gate.client.isPlanned(ids.released)) return
  if (isConflict(await gate.create(ids.released))) await gate.untilFree(ids.released)
}

/** How many creations start together. */
const burstSize = { full: 5, quick: 2 }

/** Starts the jobs of an attempt, by several creations at once if that can be judged. */
async function begin(gate: Gate): Promise<Job[]> {
  const { client, application } = gate
  const { run, history } = client
  let count = 0
  // A server may lock what it is asked for, and not the application.
  const next = () =>
    !client.isQuick && count++ % 2 ? withOtherValues(application, 2 * count) : application
  const burst = async () => {
    const fresh = history.within(application.id).some(({ status }) => status === undefined)
    const size = burstSize[run.options.depth]
    const make = () => jobRequest(run, next())
    const sent = await sendAtOnce(run, { size, make, requirement: ids.atomic, fresh })
    return sent.map((exchange) => client.eventOf(exchange))
  }
  const isBurst = client.isPlanned(ids.atomic) && run.target.limits.concurrency > 1
  const made = isBurst ? await burst() : []
  // If all were throttled, one that waits its turn shows what is not about a burst.
  if (made.every(({ noise }) => noise === 'throttled')) made.push(await gate.create(ids.released))
  const jobs = made.flatMap((event) => viewOf(history).madeBy(event) ?? [])
  if (jobs.length === 0 && made.some(isConflict)) await gate.untilFree(ids.released)
  return jobs
}

/** An older job of the application reads the same while a newer one is in progress. */
async function readOlder({ client, jobs }: Gate, newer: Job): Promise<void> {
  const now = performance.now()
  const older = jobs.find((job) => job !== newer && job.end && job.end.endedAt + pauseMs <= now)
  if (older && client.isPlanned(ids.stable)) await client.read(older.id, ids.stable)
}

/** A job, or a burst of creations, and what is created beside it until it ends; true if `other`, which is kept idle beside it, was blocked. */
async function attempt(gate: Gate, turn = 0, other?: Gate): Promise<boolean> {
  const { client } = gate
  // An application may be released some time after its last job ended, as `409-released` allows.
  const ends = other?.jobs.map((job) => job.end?.endedAt ?? -Infinity) ?? []
  await client.pause(Math.max(-Infinity, ...ends) + 2 * pauseMs - performance.now())
  const [first, second] = await begin(gate)
  if (!first) return false
  if (second) for (const { id } of [first, second, first]) await goesOn(client, id, ids.atomic)
  // Beside what has to come while the job lasts, which may be a round trip.
  const older = readOlder(gate, first)
  older.catch(() => undefined)
  const onOther = await other?.create(ids.perApplication)
  if (onOther) await goesOn(client, first.id, ids.perApplication)
  const jobOnOther = onOther && viewOf(client.history).madeBy(onOther)
  // One shows for the others that there are conflicts.
  const most = client.isPlanned(ids.inProgress) ? 20 : 1
  if (!client.isBroken(ids.inProgress))
    await allEnded([
      createDuring(gate, first.id, turn, most),
      ...(other && jobOnOther && !client.isQuick ? [createDuring(other, jobOnOther.id, 0, 1)] : []),
    ])
  await older
  if (!(await gate.settle())) throw gate.giveUp('still had a job in progress')
  const isBlocked = onOther !== undefined && isConflict(onOther)
  if (isBlocked) await other?.create(ids.perApplication)
  await other?.settle()
  return isBlocked
}

/** Attempts on the busy application, as many as it takes; one on each other that is declared, and on one that the run creates. */
export async function provokeConflicts(client: JobClient): Promise<void> {
  const { run } = client
  const { application: plain, ...resources } = run.target.resources
  const busy = resources.slowApplication ?? declaredResource(run, 'application')
  const other = [resources.otherApplication, plain].find((one) => one && one.id !== busy.id)
  const beside = other && gateOf(client, other)
  await gateOf(client, busy).hold(async (gate) => {
    let isBlocked = false
    // One that was blocked is looked at as often again: somebody else's job may have come between.
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
  })
  if (client.isQuick) return
  if (plain && plain.id !== busy.id)
    await gateOf(client, plain).tryHold(async (gate) => {
      if (client.isPlanned(ids.inProgress, ids.atomic)) await attempt(gate)
      await createAfterEnd(gate)
    })
  await attemptOnCreated(client)
  // Last: a server that takes the jobs of all applications for one would refuse it beside any of them.
  const { failingApplication: failing } = resources
  if (failing && client.isPlanned(ids.released)) await gateOf(client, failing).tryHold(attemptAlone)
}

/** Conflicts on an application that the run creates: nobody else uses it, and a server may check only those that it knew before. */
async function attemptOnCreated(client: JobClient): Promise<void> {
  const { run } = client
  const isWanted = client.isPlanned(ids.inProgress, ids.released, 'jobs.create/202-created')
  if (!isWanted || !isDeclared(run, 'applications.create')) return
  await orElse(run, async () => {
    const purpose = { requirement: ids.inProgress, role: 'setup' } as const
    const make = () => validRequest(run, 'applications.create')
    const id = createdId(run, await askHolding(run, make, purpose))
    if (id === undefined) return
    // It may be made like the declared one, and want its inputs.
    for (const inputs of [[], run.target.resources.application?.inputs ?? []])
      if (await attemptAlone(new Gate(client, { id, inputs, requiredInputs: [] }))) return
  })
}

/** One job, what is created beside it, and what comes after its end; false if the application wants other inputs. */
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
  return true
}
