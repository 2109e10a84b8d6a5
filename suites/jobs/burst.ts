import type { Exchange, Run } from '../../harness/engine/index.ts'
import { isOwnBreakdown, isPlanned, isThrottling, pause } from '../../harness/engine/index.ts'
import { sendAtOnce } from '../../harness/checks/index.ts'
import type { ApplicationResource } from '../../harness/target-file/index.ts'
import { awaitRelease, type Finding, ids, noLonger } from './findings.ts'
import { create, type Held, releaseMs } from './gate.ts'
import { type Job, jobRequest, withOtherValues } from './job-tracker.ts'
import { sameId } from '../../harness/history/index.ts'

/** Whether a burst of creations can be judged: several of them have to be under way at once. */
function wantsBurst(run: Run): boolean {
  return isPlanned(run, ids.atomic) && run.target.limits.concurrency > 1
}

/** One attempt: a job (or a burst of creations), and what is created beside it. */
export interface Attempt {
  /** The job to begin with, and a second one if a burst made two. */
  readonly jobs: readonly Job[]
  readonly findings: readonly Finding[]
  /** A creation of the last burst met a connection that the target had closed: it may have made a job that is not known. */
  readonly responseLost: boolean
  /** A reading showed that every job of the application has ended, so that it is free. */
  readonly isFree: boolean
}

export const none: Attempt = { jobs: [], findings: [], responseLost: false, isFree: false }

/** How many creations start together. */
const burstSize = { full: 5, quick: 2 }

/** Starts the job of an attempt: by a burst if atomicity is to be judged, otherwise by one creation. */
export async function begin(
  held: Held,
  { responseLost, isFree }: Attempt,
  besides?: ApplicationResource,
): Promise<Attempt> {
  const { run, gate, application } = held
  const atomic = wantsBurst(run)
  let made = 0
  // A server may lock what it is asked for, and not the application.
  const next = () =>
    run.options.depth === 'full' && made++ % 2
      ? withOtherValues(application, 2 * made)
      : application
  const burst = {
    size: burstSize[run.options.depth],
    make: () => jobRequest(run, next()),
    requirement: ids.atomic,
  }
  const exchanges = atomic
    ? await sendAtOnce(run, { ...burst, fresh: responseLost })
    : [(await create(held, ids.released)).exchange]
  const jobs = exchanges.map((exchange) => gate.record(exchange)).filter((job) => job !== undefined)
  const refused = exchanges.filter(({ response }) => response?.status === 409).length
  const confirmed = jobs.length === 1 && refused > 0
  // If all were throttled, one that waits its turn shows what is not about a burst.
  if (jobs.length === 0 && refused === 0 && exchanges.some(isThrottling))
    jobs.push(...[(await create(held, ids.released)).job].filter((job) => job !== undefined))
  const findings: Finding[] = atomic ? [{ of: ids.atomic, cases: exchanges.length, confirmed }] : []
  const [first, second] = jobs
  const beside = exchanges.filter((exchange) => exchange !== first?.creation)
  if (atomic && first)
    findings.push(
      ...(second
        ? [await proveOverlap(held, first, second)]
        : await judgeBeside(held, first, beside)),
    )
  // A server may refuse values that nobody declared.
  const told = exchanges.filter(({ response }) => response?.status !== 400).length
  if (jobs.length > 0 || refused === 0 || refused < told)
    return { ...none, jobs, findings, responseLost }
  // The job may be that of a request whose answer was lost.
  const isLost = exchanges.some(({ unanswered }) => unanswered)
  const { job, finding } =
    isFree && !isLost ? await awaitRelease(held, { besides }) : await awaitIdle(held)
  const begun = { ...none, jobs: job ? [job] : [], responseLost: isLost }
  return { ...begun, findings: finding ? [...findings, finding] : findings }
}

/** Busy before this run had a job there: the run waits for it, at most `jobTimeoutMs`. */
async function awaitIdle(
  held: Held,
): Promise<{ readonly job?: Job | undefined; readonly finding?: Finding }> {
  const { run, gate } = held
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  for (;;) {
    await pause(run, Math.min(releaseMs, Math.max(0, deadline - performance.now())))
    const { job, isConflict } = await create(held, ids.released)
    if (isConflict && performance.now() < deadline) continue
    if (!job) gate.timedOut = isConflict
    // `releasedAtLast` looks at it again.
    if (gate.timedOut) gate.gaveUp = true
    return { job }
  }
}

/**
 * Findings on creations that came together with the one that made the job: a 409 is judged by its `tpe`, and a breakdown of all of
 * them, while the job is read as in progress after that, is their answer to the conflict.
 */
async function judgeBeside(
  { run }: Held,
  first: Job,
  beside: readonly Exchange[],
): Promise<Finding[]> {
  const finding = { of: ids.inProgress, cases: 0 }
  const [broken, ...more] = beside
  const areBroken = more.length > 0 && beside.every(isOwnBreakdown)
  if (broken && areBroken && (await noLonger(run, first, ids.inProgress)) === undefined) {
    const what = `with a valid body, at the same time as others: one of them made job ${first.id}, which was in progress after that`
    return [
      {
        ...finding,
        cases: beside.length,
        failure: { exchange: broken, expected: '409 BadRequest', what },
      },
    ]
  }
  return beside.flatMap((exchange) =>
    exchange.response?.status === 409 ? [{ ...finding, conflict: exchange }] : [],
  )
}

/** Proof by one reading of the second job as in progress between two of the first. */
async function proveOverlap({ run }: Held, first: Job, second: Job): Promise<Finding> {
  const finding = { of: ids.atomic, cases: 0 }
  if (sameId(first.id, second.id))
    return {
      ...finding,
      open: `two concurrent creations gave the same id, ${first.id}: no reading tells them apart`,
    }
  const over: (string | undefined)[] = []
  for (const job of [first, second, first]) over.push(await noLonger(run, job, ids.atomic))
  if (over.some((state) => state !== undefined))
    return {
      ...finding,
      open: 'two concurrent creations were granted, but the jobs ended before they could be read',
    }
  const what = `with a valid body, at the same time as others; jobs ${first.id} and ${second.id} were then both read as in progress`
  const expected = '409 BadRequest for all but one of several concurrent creations'
  return { ...finding, failure: { exchange: second.creation, expected, what } }
}
