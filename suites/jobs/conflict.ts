import type { Exchange } from '../../harness/engine/exchange.ts'
import { jsonValue } from '../../harness/engine/response.ts'
import { sendWithRetries } from '../../harness/engine/send-with-retries.ts'
import type { Run } from '../../harness/engine/run.ts'
import type { ApplicationResource } from '../../harness/target-file/model.ts'
import { pause } from '../../harness/engine/outcome.ts'
import { member } from '../../schemas/json.ts'
import { isEnded, type Job, jobRequest, jobsOf, type Reading } from './job-tracker.ts'
import type { Gate } from './gate.ts'
import { isOwn } from './seen-jobs.ts'

/** Evidence of several attempts for one requirement. */
export interface Finding {
  /** Answers that were judged. */
  cases: number
  /** The state was there, and the answer was right. */
  confirmed: boolean
  /** The answer was wrong, and a later reading proves that the state was there. */
  failure?: { exchange: Exchange; expected: string; what: string; actual?: string }
  /** Why the last attempt proved nothing. */
  inconclusive: string
}

export function newFinding(inconclusive: string): Finding {
  return { cases: 0, confirmed: false, inconclusive }
}

export function isFailed({ failure }: Finding): boolean {
  return failure !== undefined
}

export function isSettled(finding: Finding): boolean {
  return finding.confirmed || isFailed(finding)
}

/** Findings of the requirements about conflicts, from the same jobs. */
export interface ConflictFindings {
  /** `conflicts`: the creations that were answered 409 while a job was in progress; `lost`: those without an answer beside one job. */
  readonly inProgress: Finding & { readonly conflicts: Exchange[]; throttled: number; lost: number }
  readonly released: Finding
  /** `blocked`: attempts in which the other application answered 409 beside a job that was none of its own. */
  readonly perApplication: Finding & { blocked: number }
  readonly atomic: Finding
  /** Some creation on the application was answered 409 in this run. */
  conflictSeen: boolean
  /** A creation of the last burst met a connection that the target had closed: it may have made a job that is not known. */
  responseLost: boolean
}

const noJob = 'no creation was granted, so no job was in progress'

/** @param concurrent whether several creations can be under way at once */
export function newFindings(concurrent: boolean): ConflictFindings {
  const needsMore = 'concurrent creations need limits.concurrency of 2 or more'
  return {
    inProgress: { ...newFinding(noJob), conflicts: [], throttled: 0, lost: 0 },
    released: newFinding('no reading showed a job of the application ended'),
    perApplication: { ...newFinding(noJob), blocked: 0 },
    atomic: newFinding(concurrent ? 'no concurrent creation was answered 409' : needsMore),
    conflictSeen: false,
    responseLost: false,
  }
}

/** The requirements about conflicts, by the names of their findings. */
export const conflictId = {
  inProgress: 'jobs.create/409-job-in-progress',
  released: 'jobs.create/409-released',
  perApplication: 'jobs.create/409-per-application',
  atomic: 'jobs.create/409-atomic',
} as const

/** Jobs of one application, and what is created beside them. */
export interface Conflict {
  readonly run: Run
  readonly application: ApplicationResource
  /** Held during an attempt: what the attempt sends goes past it. */
  readonly gate: Gate
  /** Another application, if one is declared and a creation there is to be judged. */
  readonly other: ApplicationResource | undefined
  readonly found: ConflictFindings
}

/** Pause between two creations on an application that should be free, in ms. */
export const releaseMs = 1000

/**
 * A creation that goes past the gate. Its connection is its own: one that is sent once more, because the target had
 * closed a connection, may have made a job that nobody knows of.
 */
export function create(run: Run, application: ApplicationResource, requirement: string): Promise<Exchange> {
  const purpose = { requirement, role: 'probe', expects: [[409, 'BadRequest']] } as const
  return sendWithRetries(run, () => jobRequest(run, application), purpose, { fresh: true })
}

/** A job that cannot be read yet is read again after so many ms. */
const readEveryMs = 100

/** A reading that began after whatever it is evidence of; repeated while a new job cannot be read yet. */
export async function readSettled(run: Run, job: Job, requirement: string): Promise<Reading> {
  for (;;) {
    const reading = await jobsOf(run).read(job, requirement)
    const settled = performance.now() - job.createdAtMs > run.target.limits.settleMs
    if (reading.status !== undefined || settled) return reading
    await pause(run, readEveryMs)
  }
}

/**
 * True if the reading shows that very job in progress. A server may show another job under its id: that one names itself,
 * or it has the time of a newer job.
 */
export function showsInProgress(reading: Reading, job: Job, newer?: Job): boolean {
  if (reading.status !== 'in_progress' || !isOwn(reading, job)) return false
  const shown = member(reading.job, 'created_at')
  return !newer || createdAt(newer) !== shown || createdAt(job) === shown
}

/** The time that the answer to its creation names. */
export function createdAt({ creation }: Job): unknown {
  return member(jsonValue(creation.response), 'created_at')
}

/** Tells from a reading without `in_progress` the state in which another creation was answered. */
export function noLonger(reading: Reading): string {
  if (reading.status === 'in_progress') return 'what is read under the id of the first job is another job'
  return isEnded(reading) ? 'the first job had ended by then' : 'the first job could not be read'
}

/** Waits for the end of every job of the application; false if one does not end in time. */
export async function awaitJobs(run: Run, application: string): Promise<boolean> {
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  for (const job of jobsOf(run).all.filter((one) => one.application === application)) {
    if (!(await jobsOf(run).awaitEnd(job, deadline))) return false
  }
  return true
}
