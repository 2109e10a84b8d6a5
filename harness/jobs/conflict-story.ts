import { ask } from '../ask/ask.ts'
import { sendSurely } from '../ask/send-once.ts'
import { isThrottled } from '../ask/throttle.ts'
import { isGranted } from '../ask/answer.ts'
import type { Exchange } from '../ask/exchange.ts'
import { jobRequest } from '../request/valid-request.ts'
import { NotExercised } from '../run/outcome.ts'
import { isPlanned, type Run } from '../run/run.ts'
import type { ApplicationResource } from '../target/model.ts'
import { describeAnswer } from '../words/describe.ts'
import { sendBurst } from './burst.ts'
import { type Finding, isSettled, newFinding } from './finding.ts'
import { looks } from './gate.ts'
import type { Gate, Job, Reading } from './model.ts'
import { pause } from '../run/pause.ts'

/** What the 409 rows learn from one story on one application, whose jobs they share. */
export interface ConflictFindings {
  readonly inProgress: Finding & { second?: Exchange; throttled: number }
  readonly released: Finding
  readonly perApplication: Finding
  readonly atomic: Finding
  /** Some creation on the application was answered 409 in this run. */
  conflictSeen: boolean
}

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
    const gate = run.gates.of(application.id)
    const other = isPlanned(run, 'jobs.create/409-per-application') ? otherThan(run, application.id) : undefined
    const found: ConflictFindings = {
      inProgress: { ...newFinding('no creation was granted, so that no job was in progress'), throttled: 0 },
      released: newFinding('no reading showed a job of the application ended'),
      perApplication: newFinding('no creation was granted, so that no job was in progress'),
      atomic: newFinding(
        run.ceiling.size > 1
          ? 'no concurrent creation was answered 409'
          : 'concurrent creations need limits.concurrency of 2 or more',
      ),
      conflictSeen: false,
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
    return await run.gates.of(other.id).hold(() => {
      state.entered = true
      return once()
    })
  } catch (error) {
    if (state.entered || !(error instanceof NotExercised) || run.ended) throw error
    found.perApplication.unseen = error.message
    return once()
  }
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
  for (const job of run.jobs.all.filter((job) => job.application === application.id)) {
    if (await run.jobs.awaitEnd(job, deadline)) continue
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
  const atomic = isPlanned(run, 'jobs.create/409-atomic') && run.ceiling.size > 1
  const exchanges = atomic
    ? await sendBurst(run, () => jobRequest(run, application), 'jobs.create/409-atomic')
    : [await create(run, application, 'jobs.create/409-released')]
  const jobs = exchanges.map((exchange) => gate.note(exchange)).filter((job) => job !== undefined)
  const refused = exchanges.filter(({ answer }) => answer?.status === 409).length
  if (atomic) {
    found.atomic.cases += exchanges.length
    if (jobs.length === 1 && refused > 0) found.atomic.held = true
  }
  if (jobs.length > 0 || refused < exchanges.length) return jobs
  return freed ? awaitRelease(run, gate, application, found.released) : awaitIdle(run, gate, application)
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

function create(run: Run, application: ApplicationResource, requirement: string): Promise<Exchange> {
  const purpose = { requirement, role: 'probe', expects: [[409, 'BadRequest']] } as const
  return ask(run, () => jobRequest(run, application), purpose)
}

/** Readings that prove an overlap. */
export const overlapReadings = 3

/** Of two granted jobs, one reading of the second as in progress between two of the first. */
async function proveOverlap(run: Run, first: Job, second: Job, finding: Finding): Promise<void> {
  const readings: Reading[] = []
  for (const job of [first, second, first]) readings.push(await run.jobs.read(job, 'jobs.create/409-atomic'))
  if (!readings.every(({ status }) => status === 'in_progress')) {
    finding.unseen = 'two concurrent creations were granted, but the jobs ended before they could be read'
    return
  }
  finding.failure = {
    exchange: second.creation,
    expected: '409 BadRequest for all but one of several concurrent creations',
    what: `with a valid body, at the same time as others; jobs ${first.id} and ${second.id} were then both read as in progress`,
  }
}

/** A second creation while the first job is in progress. */
async function askSecond(
  run: Run,
  gate: Gate,
  application: ApplicationResource,
  first: Job,
  { inProgress }: ConflictFindings,
): Promise<void> {
  // Sent once: while a throttled creation is backed off the job would end.
  const purpose = {
    requirement: 'jobs.create/409-job-in-progress',
    role: 'probe',
    expects: [[409, 'BadRequest']],
  } as const
  const exchange = await sendSurely(run, await jobRequest(run, application), purpose)
  gate.note(exchange)
  inProgress.cases++
  if (exchange.answer?.status === 409) {
    inProgress.held = true
    inProgress.second = exchange
    return
  }
  const throttled = exchange.answer !== undefined && isThrottled(exchange.answer)
  if (throttled) run.throttle.hold('jobs.create', exchange.answer, 0)
  const reading = await run.jobs.read(first, 'jobs.create/409-job-in-progress')
  if (reading.status !== 'in_progress') {
    inProgress.unseen = `the second creation was answered ${describeAnswer(exchange)}, but the first job had ended by then`
    return
  }
  // Each look's own creation was granted: what is throttled in all of them is the answer to the conflict.
  // One that names a time to wait is a limit on creations, not on jobs.
  if (throttled && (exchange.answer.header('retry-after') !== undefined || ++inProgress.throttled < looks)) {
    inProgress.unseen = `the second creation was answered ${describeAnswer(exchange)}`
    return
  }
  const what = `with a valid body, while job ${first.id} of the application was in progress`
  inProgress.failure = { exchange, expected: '409 BadRequest', what }
}

/** A creation on another application while the first job is in progress. */
async function askOther(run: Run, other: ApplicationResource, first: Job, finding: Finding): Promise<void> {
  const exchange = await create(run, other, 'jobs.create/409-per-application')
  run.gates.of(other.id).note(exchange)
  finding.cases++
  const reading = await run.jobs.read(first, 'jobs.create/409-per-application')
  const proven = reading.status === 'in_progress'
  finding.unseen = `the other application answered ${describeAnswer(exchange)}, but the first job had ended by then`
  if (!proven) return
  if (exchange.answer?.status === 409) {
    const what = `with a valid body, while only job ${first.id} of another application was in progress`
    finding.failure = { exchange, expected: '202: a job in progress on another application is no conflict', what }
  } else if (exchange.answer && isGranted(exchange.answer)) finding.held = true
  else finding.unseen = `the other application answered ${describeAnswer(exchange)}`
}
