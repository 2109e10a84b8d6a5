import type { RequirementId } from '../../catalogue/catalogue.ts'
import type { Exchange, Run } from '../../harness/engine/index.ts'
import {
  describeResponse,
  isGranted,
  isThrottled,
  jsonValue,
  pastBlocks,
  pause,
  sendWithStaleRetry,
} from '../../harness/engine/index.ts'
import type { ApplicationResource } from '../../harness/target-file/index.ts'
import { member } from '../../schemas/json.ts'
import { holdBack } from '../../harness/checks/index.ts'
import { create, type Held, maxAttempts, releaseMs, whileIdle } from './gate.ts'
import {
  hasFewer,
  isEnded,
  type Job,
  jobRequest,
  jobsOf,
  type Reading,
  withOtherValues,
} from './job-tracker.ts'
import { sameId } from '../../harness/history/index.ts'
import { isOwn } from './seen-jobs.ts'

/** The requirements that are judged by creations beside, or after, others. */
export const ids = {
  inProgress: 'jobs.create/409-job-in-progress',
  released: 'jobs.create/409-released',
  perApplication: 'jobs.create/409-per-application',
  atomic: 'jobs.create/409-atomic',
  noEffect: 'jobs.create/4xx-no-effect',
} as const satisfies Record<string, RequirementId>

/** Evidence on one requirement from one or several answers. */
export interface Finding {
  readonly of: (typeof ids)[keyof typeof ids]
  readonly cases: number
  /** The state was there, and the answer was right. */
  readonly confirmed?: boolean
  /** The answer was wrong, and a later reading proves that the state was there. */
  readonly failure?: {
    readonly exchange: Exchange
    readonly expected: string
    readonly what: string
  }
  /** Why nothing is proven. */
  readonly open?: string
  /** Answered 409, as it should be or not. */
  readonly conflict?: Exchange
  /** State counted over several attempts: `blocked` by a job elsewhere, `throttled`; `locked`: no creation is granted any more. */
  readonly met?: 'blocked' | 'throttled' | 'locked'
}

export function failureIn(findings: readonly Finding[], of?: Finding['of']): Finding['failure'] {
  return findings.findLast((finding) => finding.failure && (of ?? finding.of) === finding.of)
    ?.failure
}

/** True if nothing more is to be learned of the requirement. */
export function isSettled(findings: readonly Finding[], of: Finding['of']): boolean {
  return findings.some((finding) => finding.of === of && (finding.confirmed || finding.failure))
}

/** A job that cannot be read yet is read again after so many ms. */
const readEveryMs = 100

/** A reading that began after whatever it is evidence of; repeated while a new job cannot be read yet. */
async function readSettled(run: Run, job: Job, requirement: string): Promise<Reading> {
  for (;;) {
    const reading = await jobsOf(run).read(job, requirement)
    const settled = performance.now() - job.createdAtMs > run.target.limits.settleMs
    if (reading.status !== undefined || settled) return reading
    await pause(run, readEveryMs)
  }
}

/**
 * Reads the job: undefined if it is in progress, else why that is not proven for another creation. A server may
 * show another job under its id: that one names itself, or it has the time of a newer job.
 */
export async function noLonger(
  run: Run,
  job: Job,
  of: Finding['of'],
  newer?: Job,
): Promise<string | undefined> {
  const reading = await readSettled(run, job, of)
  if (reading.status !== 'in_progress')
    return isEnded(reading) ? 'the first job had ended by then' : 'the first job could not be read'
  const shown = member(reading.job, 'created_at')
  const isThat =
    isOwn(reading, job) && (!newer || createdAt(newer) !== shown || createdAt(job) === shown)
  return isThat ? undefined : 'what is read under the id of the first job is another job'
}

/** The time that the answer to its creation names. */
export function createdAt({ creation }: Job): unknown {
  return member(jsonValue(creation.response), 'created_at')
}

/** Pauses between creations during a job, in ms: none before the first two, then each half as long again as the last. */
const firstPauseMs = 10
const growth = 1.5
const maxMoments = { full: 20, quick: 3 }

/** A wait has at most so many parts of at least so many ms; a reading between them shows the end of a job soon. */
const maxParts = 4
const shortestPartMs = 20

/** Waits, in ms; false as soon as a reading shows that the job is no longer in progress. */
async function staysInProgress(run: Run, job: Job, ms: number): Promise<boolean> {
  const parts = Math.min(maxParts, Math.max(1, Math.floor(ms / shortestPartMs)))
  for (let part = 0; part < parts; part++) {
    await pause(run, ms / parts)
    if ((await noLonger(run, job, ids.inProgress)) !== undefined) return false
  }
  return true
}

/** Creations beside one job that have to get no answer, each on two connections, until that is a failure. */
const leastLost = 3

/**
 * Further creations during the whole life of a job, with the same inputs and with other values: a server may compare
 * requests, or forget after a while that the job goes on.
 * @param before findings of earlier attempts
 */
export async function createDuringJob(
  held: Held,
  first: Job,
  before: readonly Finding[],
  most = Infinity,
): Promise<Finding[]> {
  const { run, application } = held
  const throttled = before.filter(({ met }) => met === 'throttled').length
  const findings: Finding[] = []
  const wasConflict = (): boolean =>
    [...before, ...findings].some(({ of, confirmed }) => of === ids.inProgress && confirmed)
  const found = (finding: Partial<Finding>): void =>
    void findings.push({ of: ids.inProgress, cases: 1, ...finding })
  let lost = 0
  let pauseMs = firstPauseMs
  for (let moment = 0; moment < Math.min(most, maxMoments[run.options.depth]); moment++) {
    if (moment > 0 && !(await staysInProgress(run, first, moment > 1 ? pauseMs : 0))) break
    if (moment > 1) pauseMs *= growth
    const isOther = moment % 2 === 1
    const own = isOther ? withOtherValues(application, moment) : application
    const exchange = await pastBlocks(() => createBeside(held, own))
    const made = held.gate.record(exchange)
    const { response } = exchange
    const said = describeResponse(exchange)
    if (response?.status === 409) {
      found({ cases: 0, confirmed: true, conflict: exchange })
      continue
    }
    // A server may refuse values that nobody declared; a copy may not know an application that the run has just created.
    const isNew =
      exchange.sentAt - (run.objects.madeAt.get(application.id) ?? -Infinity) <
      run.target.limits.settleMs
    const isOdd =
      isOther && (response?.status === 400 || ((response?.status ?? 0) >= 500 && hasFewer(moment)))
    if (isOdd || (response?.status === 404 && isNew)) {
      found({ open: `another creation was answered ${said}` })
      continue
    }
    // The very same answer is that of the first job; an id that is given again may be another one's.
    if (made && sameId(made.id, first.id) && createdAt(made) !== createdAt(first)) {
      found({
        open: `another creation gave the id of the first job, ${first.id}: no reading tells them apart`,
      })
      break
    }
    const over = await noLonger(run, first, ids.inProgress, made)
    if (over !== undefined) {
      found({ open: `another creation was answered ${response?.status ?? said}, but ${over}` })
      break
    }
    if (!response && ++lost < leastLost) {
      found({ open: `another creation got no answer: ${said}` })
      continue
    }
    const values = isOther ? 'other values' : 'the same inputs'
    const what = `with ${values}, while job ${first.id} of the application was in progress`
    // A limit on creations, not on jobs. The first creation of each attempt was granted: what is throttled beside it in all of
    // them is the answer to the conflict, unless it names a time to wait, or some of them were answered 409.
    const isLimit = response !== undefined && isThrottled(response)
    holdBack(run, exchange)
    const open = `another creation was answered ${said}`
    if (isLimit && (wasConflict() || response.header('retry-after') !== undefined)) found({ open })
    else if (isLimit && throttled + 1 < maxAttempts) found({ open, met: 'throttled' })
    else if (
      made &&
      findings.some(({ confirmed }) => confirmed) &&
      !(await outlasts(run, first, exchange))
    )
      found({
        open: `${open}, but the first job was read as ended soon after: such readings may lag behind`,
      })
    else found({ failure: { exchange, expected: '409 BadRequest', what } })
    break
  }
  return findings
}

/**
 * After a 409 a creation that is granted proves a fault only if the first job goes on for so long after it, in ms: it may have
 * ended, and its readings lag behind. A young job is given less: that it ended already is not likely, and it may be a short one.
 */
const maxLagMs = 400
const lagByAge = 4

/** True if the job is still read as in progress after that time. */
async function outlasts(run: Run, job: Job, { sentAt, endedAt }: Exchange): Promise<boolean> {
  const lagMs = Math.min(maxLagMs, lagByAge * (sentAt - job.createdAtMs))
  for (;;) {
    const isLate = performance.now() - endedAt >= lagMs
    const stays = await staysInProgress(run, job, isLate ? 0 : readEveryMs)
    if (!stays || isLate) return stays
  }
}

/** Creates beside a job. Sent once: while a throttled creation waited, the job would end. */
async function createBeside({ run }: Held, application: ApplicationResource): Promise<Exchange> {
  const purpose = {
    requirement: ids.inProgress,
    role: 'probe',
    expects: [[409, 'BadRequest']],
  } as const
  const probe = await jobRequest(run, application)
  const exchange = await sendWithStaleRetry(run, probe, purpose)
  const { response, previousRequest } = exchange
  const isClear = response && (response.status === 409 || isGranted(response))
  // The previous request on the connection may have spoiled any other answer, and a connection may be lost.
  return isClear || (response && !previousRequest)
    ? exchange
    : sendWithStaleRetry(run, probe, purpose, { fresh: true })
}

const onOther = 'a creation on the other application was answered'

/** A creation on another application while the first job is in progress; a 409 may be a fault. */
export async function createOnOther(other: Held, first: Job): Promise<Finding> {
  const { run } = other
  const { exchange, isConflict } = await create(other, ids.perApplication)
  const finding = { of: ids.perApplication, cases: 1 }
  const said = describeResponse(exchange)
  const over = await noLonger(run, first, ids.perApplication)
  if (over !== undefined)
    return { ...finding, open: `${onOther} ${exchange.response?.status ?? said}, but ${over}` }
  if (isConflict) return { ...finding, conflict: exchange }
  return exchange.response && isGranted(exchange.response)
    ? { ...finding, confirmed: true }
    : { ...finding, open: `${onOther} ${said}` }
}

/**
 * The 409 of the other application counts if a creation there is granted once the first job has ended, and if that is so
 * in each of three attempts: somebody else may be using it now and then.
 * @param times how often that was so before
 */
export async function confirmBlocked(
  other: Held,
  blocked: Exchange,
  first: Job,
  times: number,
): Promise<Finding> {
  const { exchange, job } = await create(other, ids.perApplication)
  const finding = { of: ids.perApplication, cases: 0 }
  if (!job)
    return {
      ...finding,
      open: `${onOther} ${describeResponse(exchange)} even after the job had ended`,
    }
  await jobsOf(other.run).awaitEnds(other.application.id)
  if (times + 1 < maxAttempts)
    return {
      ...finding,
      met: 'blocked',
      open: `the other application was busy during a job in ${times + 1} attempts`,
    }
  const what = `with a valid body, while only job ${first.id} of another application was in progress, in ${maxAttempts} attempts (somebody else's job there would look the same)`
  const expected = '202: a job in progress on another application is no conflict'
  return { ...finding, met: 'blocked', failure: { exchange: blocked, expected, what } }
}

/** Circumstances of a release. */
interface After {
  /** How the last job ended, in words. */
  readonly ended?: string | undefined
  /** Other application that is already kept idle. */
  readonly besides?: ApplicationResource | undefined
}

/** A first creation after the end was answered 409: two more, 1 s apart, tell whether it stays so. */
export async function awaitRelease(
  held: Held,
  { ended = 'ended', besides }: After,
): Promise<{ readonly job?: Job | undefined; readonly finding: Finding }> {
  const { run, gate } = held
  for (let more = 1; ; more++) {
    await pause(run, releaseMs)
    const send = () => create(held, ids.released)
    // Another requirement reports that a job of another application blocks it: the last one is sent beside none.
    const { exchange, job, isConflict } = await (more < 2
      ? send()
      : whileOthersIdle(held, besides, send))
    const finding = { of: ids.released, cases: more }
    if (!isConflict) return { job, finding }
    if (more < 2) continue
    if (gate.lostAt !== undefined) {
      const open = 'a creation that got no answer may have started a job that nobody knows of'
      return { finding: { ...finding, open } }
    }
    const what = `with a valid body, after a retrieval showed the last job of the application ${ended} (somebody else's job would look the same)`
    const expected = '202, as the application has no job in progress'
    return { finding: { ...finding, failure: { exchange, expected, what } } }
  }
}

/** Acts while all other declared applications are idle, except the one that is held already. */
function whileOthersIdle<T>(
  { run, application }: Held,
  besides: ApplicationResource | undefined,
  action: () => Promise<T>,
): Promise<T> {
  const others = [...run.target.applicationIds].filter(
    (id) => id !== application.id && id !== besides?.id,
  )
  return others.reduce<() => Promise<T>>((inner, id) => () => whileIdle(run, id, inner), action)()
}
