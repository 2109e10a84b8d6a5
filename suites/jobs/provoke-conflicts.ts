import { NotExercised, pause } from '../../harness/engine/outcome.ts'
import { isPlanned, type Run } from '../../harness/engine/run.ts'
import type { ApplicationResource } from '../../harness/target-file/model.ts'
import { sendAtOnce } from '../../harness/checks/at-once.ts'
import { burstSize, confirmBlocked, createDuringJob, createOnOther, proveOverlap } from './beside-job.ts'
import {
  awaitJobs,
  type Conflict,
  type ConflictFindings,
  conflictId,
  create,
  isFailed,
  isSettled,
  newFindings,
  releaseMs,
} from './conflict.ts'
import { gatesOf, mostAttempts, whileIdle } from './gate.ts'
import { isEnded, type Job, jobRequest, jobsOf, wasSeenEnded } from './job-tracker.ts'
import { awaitRelease, releasedAfterFailure } from './release.ts'
import { isDeclared, validRequest } from '../../harness/checks/valid-request.ts'
import { createdId } from '../../harness/checks/created.ts'
import { retryWhileSettling } from '../../harness/checks/settling.ts'
import { sendWithRetries } from '../../harness/engine/send-with-retries.ts'

/** The application whose jobs last longest: the declared slow one, else the plain one. */
export function busyApplication({ target: { resources } }: Run): ApplicationResource {
  return (resources.slowApplication ?? resources.application) as ApplicationResource
}

/** An application other than the busy one. */
function otherThan({ target: { resources } }: Run, id: string): ApplicationResource | undefined {
  return [resources.otherApplication, resources.application].find((one) => one !== undefined && one.id !== id)
}

/** Observes conflicts once a run: three attempts at most, each a job (or a burst of creations) and what is created beside it. */
export function provokeConflicts(run: Run): Promise<ConflictFindings> {
  return run.once('conflicts', async () => {
    const application = busyApplication(run)
    const gate = gatesOf(run).of(application.id)
    const other = isPlanned(run, conflictId.perApplication) ? otherThan(run, application.id) : undefined
    const found = newFindings(run.client.semaphore.size > 1)
    const conflict: Conflict = { run, application, gate, other, found }
    await gate.withExclusive(() => attempt(conflict))
    found.conflictSeen = gate.conflictSeen
    if (run.options.depth === 'full') {
      await attemptOnPlain(conflict)
      await attemptOnCreated(conflict)
    }
    // Last: a server that takes the jobs of all applications for one would refuse it beside any of them.
    await releasedAfterFailure(run, found.released).catch((error: unknown) => {
      // If that application gives no job, rows about it tell.
      if (!(error instanceof NotExercised) || run.life.ended) throw error
    })
    return found
  })
}

async function attempt(conflict: Conflict): Promise<void> {
  const { other, found, gate } = conflict
  let freed = false
  // An attempt that proved nothing is repeated if the other ones speak against the target.
  const most = (): number =>
    found.perApplication.blocked > 0 && !found.perApplication.failure ? 2 * mostAttempts : mostAttempts
  for (let count = 1; count <= most() && (count === 1 || wantsMore(conflict)); count++) {
    const once = (): Promise<boolean> => attemptOnce(conflict, freed)
    freed = other && !isSettled(found.perApplication) ? await beside(conflict, other, once) : await once()
    if (gate.timedOut || found.released.failure) break
  }
}

/** A server may check for conflicts on some applications only: the plain one is tried too, if its jobs last long enough. */
async function attemptOnPlain({ run, application, found }: Conflict): Promise<void> {
  const plain = run.target.resources.application
  if (!plain || plain.id === application.id) return
  const wantsInProgress = isPlanned(run, conflictId.inProgress) && !isFailed(found.inProgress)
  const wantsAtomic = isPlanned(run, conflictId.atomic) && !isFailed(found.atomic)
  if (!wantsInProgress && !wantsAtomic) return
  const gate = gatesOf(run).of(plain.id)
  if (gate.timedOut) return
  const before = { inProgress: { ...found.inProgress }, atomic: { ...found.atomic } }
  await gate.withExclusive(async () => {
    const conflict = { run, application: plain, gate, other: undefined, found }
    const [first, second] = await begin(conflict, false)
    if (!first) return
    if (second) await proveOverlap(conflict, first, second)
    if (wantsInProgress) await createDuringJob(conflict, first)
    gate.timedOut = !(await awaitJobs(run, plain.id))
  })
  // Jobs that end at once prove nothing: the findings of the busy application are kept.
  for (const name of ['inProgress', 'atomic'] as const) {
    const { confirmed, inconclusive } = before[name]
    if (!isFailed(found[name])) Object.assign(found[name], { confirmed, inconclusive })
  }
}

/** A server may check for conflicts only on applications that it knew when it began: one that the run creates is tried too. */
async function attemptOnCreated({ run, found }: Conflict): Promise<void> {
  if (!isPlanned(run, conflictId.inProgress) || isFailed(found.inProgress) || !isDeclared(run, 'applications.create'))
    return
  const purpose = { requirement: conflictId.inProgress, role: 'setup' } as const
  const creation = await sendWithRetries(run, () => validRequest(run, 'applications.create'), purpose)
  const id = createdId(run, creation)
  if (id === undefined) return
  const application = { id, inputs: [], requiredInputs: [] }
  const before = { ...found.inProgress }
  const gate = gatesOf(run).of(id)
  await gate.withExclusive(async () => {
    const make = () => create(run, application, conflictId.inProgress)
    const first = gate.record(await retryWhileSettling(run, make, ({ response }) => response?.status !== 404))
    if (first) await createDuringJob({ run, application, gate, other: undefined, found }, first)
  })
  // A job that is refused, or that ends at once, proves nothing.
  const { confirmed, inconclusive } = before
  if (!isFailed(found.inProgress)) Object.assign(found.inProgress, { confirmed, inconclusive })
}

/** An attempt while the other application is idle too; without that if it stays busy. */
function beside({ run, found }: Conflict, { id }: ApplicationResource, once: () => Promise<boolean>): Promise<boolean> {
  return whileIdle(run, id, async (busy) => {
    if (busy === undefined) await awaitReleased(run, id)
    else found.perApplication.inconclusive = busy
    return once()
  })
}

/** An application may be released some time after its last job ended, as `409-released` allows. */
async function awaitReleased(run: Run, application: string): Promise<void> {
  const ends = jobsOf(run)
    .all.filter((job) => job.application === application)
    .map(({ readings }) => readings.find(isEnded)?.exchange.endedAt ?? 0)
  await pause(run, Math.max(0, ...ends.map((end) => end + 2 * releaseMs - performance.now())))
}

function wantsMore({ run, other, found }: Conflict): boolean {
  const isEnough = run.options.depth === 'quick' && isSettled(found.atomic)
  if (found.atomic.failure === undefined && !isEnough && isPlanned(run, conflictId.atomic)) return true
  const wanted = [found.inProgress, found.released, ...(other ? [found.perApplication] : [])]
  return wanted.some((finding) => !isSettled(finding))
}

/** One attempt; true if a reading showed that every job which it made has ended, so that the application is free. */
async function attemptOnce(conflict: Conflict, freed: boolean): Promise<boolean> {
  const { run, gate, application, found } = conflict
  const [first, second] = await begin(conflict, freed)
  if (!first) return false
  if (freed) Object.assign(found.released, { confirmed: true, cases: found.released.cases + 1 })
  if (second) await proveOverlap(conflict, first, second)
  const blocked = isSettled(found.perApplication) ? undefined : await createOnOther(conflict, first)
  if (!isSettled(found.inProgress)) await createDuringJob(conflict, first)
  if (!(await awaitJobs(run, application.id))) {
    // A job that cannot be read may have ended: then only the application itself can tell.
    gate.timedOut = first.readings.at(-1)?.status !== undefined
    found.released.inconclusive = gate.timedOut
      ? `a job was still in progress after ${run.target.limits.jobTimeoutMs} ms (limits.jobTimeoutMs)`
      : 'the last reading of the job shows no status'
    return false
  }
  if (blocked) await confirmBlocked(conflict, blocked, first)
  const known = jobsOf(run).all.filter((job) => job.application === application.id)
  if (known.every(wasSeenEnded)) return true
  found.released.inconclusive = 'what is read under the id of a job is another job'
  return false
}

/** Starts the job of an attempt: by a burst if atomicity is to be judged, otherwise by one creation. */
async function begin(conflict: Conflict, freed: boolean): Promise<Job[]> {
  const { run, gate, application, found } = conflict
  const atomic = isPlanned(run, conflictId.atomic) && run.client.semaphore.size > 1
  const burst = {
    size: burstSize[run.options.depth],
    make: () => jobRequest(run, application),
    requirement: conflictId.atomic,
  }
  const exchanges = atomic
    ? await sendAtOnce(run, { ...burst, fresh: found.responseLost })
    : [await create(run, application, conflictId.released)]
  const jobs = exchanges.map((exchange) => gate.record(exchange)).filter((job) => job !== undefined)
  const refused = exchanges.filter(({ response }) => response?.status === 409).length
  if (atomic) {
    found.atomic.cases += exchanges.length
    if (jobs.length === 1 && refused > 0) found.atomic.confirmed = true
  }
  if (jobs.length > 0 || refused < exchanges.length) return jobs
  // The job may be that of a request whose answer was lost.
  found.responseLost = exchanges.some(({ resent }) => resent)
  return freed && !found.responseLost
    ? awaitRelease({ run, application, gate, finding: found.released, held: conflict.other })
    : awaitIdle(conflict)
}

/** Busy before this run had a job there: the run waits for it, at most `jobTimeoutMs`. */
async function awaitIdle({ run, gate, application }: Conflict): Promise<Job[]> {
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  for (;;) {
    await pause(run, Math.min(releaseMs, Math.max(0, deadline - performance.now())))
    const exchange = await create(run, application, conflictId.released)
    const job = gate.record(exchange)
    if (job) return [job]
    if (exchange.response?.status === 409 && performance.now() < deadline) continue
    gate.timedOut = exchange.response?.status === 409
    return []
  }
}
