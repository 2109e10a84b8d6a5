import { jobRequest } from './request.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { pause } from '../../harness/engine/pause.ts'
import { isPlanned, type Run } from '../../harness/engine/run.ts'
import type { ApplicationResource } from '../../harness/target/model.ts'
import { sendBurst } from './burst.ts'
import { askOther, askSecond, create, proveOverlap } from './conflict-evidence.ts'
import { type ConflictFindings, type Finding, isSettled, newFinding } from './finding.ts'
import { looks } from './gate.ts'
import { isEnded } from './job-tracker.ts'
import type { Gate, Job } from './model.ts'
import { jobsOf } from './job-tracker.ts'
import { gatesOf } from './gate.ts'

/** Seconds between two creations on an application that should be free, in ms. */
const releaseMs = 1000

/** The application whose jobs last longest: the declared slow one, else the plain one. */
function busyApplication(run: Run): ApplicationResource {
  return (run.target.resources.slowApplication ?? run.target.resources.application) as ApplicationResource
}

/** An application other than the busy one. */
function otherThan({ target: { resources } }: Run, id: string): ApplicationResource | undefined {
  return [resources.otherApplication, resources.application].find((one) => one !== undefined && one.id !== id)
}

/** Tells the story once a run: three looks at most, each a job (or a burst of creations) and what is asked beside it. */
export function conflictStory(run: Run): Promise<ConflictFindings> {
  return run.once('conflict story', async () => {
    const application = busyApplication(run)
    const gate = gatesOf(run).of(application.id)
    const other = isPlanned(run, 'jobs.create/409-per-application') ? otherThan(run, application.id) : undefined
    const found: ConflictFindings = {
      inProgress: { ...newFinding('no creation was granted, so that no job was in progress'), throttled: 0 },
      released: newFinding('no reading showed a job of the application ended'),
      perApplication: newFinding('no creation was granted, so that no job was in progress'),
      atomic: newFinding(
        run.client.ceiling.size > 1
          ? 'no concurrent creation was answered 409'
          : 'concurrent creations need limits.concurrency of 2 or more',
      ),
      conflictSeen: false,
      answerLost: false,
    }
    await gate.hold(async () => {
      let freed = false
      for (let look = 1; look <= looks && (look === 1 || wantsMore(run, found, other)); look++) {
        const once = (): Promise<boolean> => lookOnce(run, gate, application, other, found, freed)
        freed = other && !isSettled(found.perApplication) ? await beside(run, other, found, once) : await once()
        if (gate.stuck || found.released.failure) break
      }
    })
    found.conflictSeen = gate.conflictSeen
    return found
  })
}

/** A look with the other application idle too; without it where that stays busy. */
async function beside(
  run: Run,
  other: ApplicationResource,
  found: ConflictFindings,
  once: () => Promise<boolean>,
): Promise<boolean> {
  const state = { entered: false }
  try {
    return await gatesOf(run)
      .of(other.id)
      .hold(async () => {
        state.entered = true
        await awaitReleased(run, other.id)
        return once()
      })
  } catch (error) {
    if (state.entered || !(error instanceof NotExercised) || run.life.ended) throw error
    found.perApplication.unseen = error.message
    return once()
  }
}

/** An application may be released some time after its last job ended, as `409-released` allows. */
async function awaitReleased(run: Run, application: string): Promise<void> {
  const ends = jobsOf(run)
    .all.filter((job) => job.application === application)
    .map(({ readings }) => readings.find(isEnded)?.exchange.endedAt ?? 0)
  await pause(run, Math.max(0, ...ends.map((end) => end + 2 * releaseMs - performance.now())))
}

function wantsMore(run: Run, found: ConflictFindings, other: ApplicationResource | undefined): boolean {
  if (found.atomic.failure === undefined && isPlanned(run, 'jobs.create/409-atomic')) return true
  const wanted = [found.inProgress, found.released, ...(other ? [found.perApplication] : [])]
  return wanted.some((finding) => !isSettled(finding))
}

/** One look; true where a reading showed every job that it made ended, so that the application is free. */
async function lookOnce(
  run: Run,
  gate: Gate,
  application: ApplicationResource,
  other: ApplicationResource | undefined,
  found: ConflictFindings,
  freed: boolean,
): Promise<boolean> {
  const jobs = await begin(run, gate, application, found, freed)
  const [first, second] = jobs
  if (!first) return false
  if (freed) Object.assign(found.released, { held: true, cases: found.released.cases + 1 })
  if (second) await proveOverlap(run, first, second, found.atomic)
  if (!isSettled(found.inProgress)) await askSecond(run, gate, application, first, found)
  if (other && !isSettled(found.perApplication)) await askOther(run, other, first, found.perApplication)
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  for (const job of jobsOf(run).all.filter((job) => job.application === application.id)) {
    if (await jobsOf(run).awaitEnd(job, deadline)) continue
    // A job that cannot be read may have ended: then only the application itself can tell.
    gate.stuck = job.readings.at(-1)?.status !== undefined
    found.released.unseen = gate.stuck
      ? `a job was still in progress after ${run.target.limits.jobTimeoutMs} ms`
      : 'the job could not be retrieved'
    return false
  }
  return true
}

/** Starts a look's job: by a burst where atomicity is to be judged, by one creation else. */
async function begin(
  run: Run,
  gate: Gate,
  application: ApplicationResource,
  found: ConflictFindings,
  freed: boolean,
): Promise<Job[]> {
  const atomic = isPlanned(run, 'jobs.create/409-atomic') && run.client.ceiling.size > 1
  const exchanges = atomic
    ? await sendBurst(run, () => jobRequest(run, application), 'jobs.create/409-atomic', found.answerLost)
    : [await create(run, application, 'jobs.create/409-released')]
  const jobs = exchanges.map((exchange) => gate.note(exchange)).filter((job) => job !== undefined)
  const refused = exchanges.filter(({ answer }) => answer?.status === 409).length
  if (atomic) {
    found.atomic.cases += exchanges.length
    if (jobs.length === 1 && refused > 0) found.atomic.held = true
  }
  if (jobs.length > 0 || refused < exchanges.length) return jobs
  // The job may be that of a request whose answer was lost.
  found.answerLost = exchanges.some(({ resent }) => resent)
  return freed && !found.answerLost
    ? awaitRelease(run, gate, application, found.released)
    : awaitIdle(run, gate, application)
}

/** Busy before this run had a job there: it is waited for, at most `jobTimeoutMs`. */
async function awaitIdle(run: Run, gate: Gate, application: ApplicationResource): Promise<Job[]> {
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  for (;;) {
    await pause(run, Math.min(releaseMs, Math.max(0, deadline - performance.now())))
    const exchange = await create(run, application, 'jobs.create/409-released')
    const job = gate.note(exchange)
    if (job) return [job]
    if (exchange.answer?.status === 409 && performance.now() < deadline) continue
    gate.stuck = exchange.answer?.status === 409
    return []
  }
}

/** All creations after the last job ended were answered 409: two more, 1 s apart, tell whether it stays so. */
async function awaitRelease(run: Run, gate: Gate, application: ApplicationResource, finding: Finding): Promise<Job[]> {
  for (let more = 1; ; more++) {
    await pause(run, releaseMs)
    const exchange = await create(run, application, 'jobs.create/409-released')
    finding.cases++
    const job = gate.note(exchange)
    if (job) return [job]
    if (exchange.answer?.status !== 409) return []
    if (more < 2) continue
    const what = 'with a valid body, after a retrieval showed the last job of the application ended'
    finding.failure = { exchange, expected: '202, as the application has no job in progress', what }
    return []
  }
}
