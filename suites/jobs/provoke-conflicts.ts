import { createdId } from '../../harness/history/index.ts'
import type { Run } from '../../harness/engine/index.ts'
import { isPlanned, oncePerRun, orElse, sendWithRetries } from '../../harness/engine/index.ts'
import type { ApplicationResource } from '../../harness/target-file/index.ts'
import { isDeclared, retryWhileSettling, validRequest } from '../../harness/checks/index.ts'
import {
  awaitRelease,
  confirmBlocked,
  createDuringJob,
  createOnOther,
  failureIn,
  type Finding,
  ids,
  isSettled,
} from './findings.ts'
import { type Attempt, begin, none } from './burst.ts'
import { awaitReleased, create, gateOf, type Held, hold, maxAttempts, whileIdle } from './gate.ts'
import { jobsOf, wasSeenEnded } from './job-tracker.ts'
import { failingLifecycle, readOlder } from './lifecycle.ts'
import { noEffectFindings } from './no-effect.ts'

/** The application whose jobs last longest: the declared slow one, else the plain one. */
export function busyApplication({ target: { resources } }: Run): ApplicationResource {
  return (resources.slowApplication ?? resources.application) as ApplicationResource
}

/** An application other than the busy one. */
function otherThan({ target: { resources } }: Run, id: string): ApplicationResource | undefined {
  return [resources.otherApplication, resources.application].find(
    (one) => one !== undefined && one.id !== id,
  )
}

/** State with which an attempt begins. */
interface Trial {
  readonly held: Held
  /** Other application on which a creation is judged, too. */
  readonly other?: Held | undefined
  readonly last: Attempt
  readonly found: readonly Finding[]
  /** Whether something is still to be learned of the requirement. */
  wants(of: Finding['of']): boolean
}

/** Provokes conflicts once a run: three attempts at most on the busy application, and one on others. */
export function provokeConflicts(run: Run) {
  return oncePerRun(run, 'conflicts', async () => {
    const findings: Finding[] = []
    let last = none
    const busy = busyApplication(run)
    await hold(run, busy, async (held) => {
      const beside = isPlanned(run, ids.perApplication) ? otherThan(run, busy.id) : undefined
      const other = beside && { run, application: beside, gate: gateOf(run, beside.id) }
      const wants = (of: Finding['of']): boolean => !isSettled(findings, of)
      // An attempt that proved nothing is repeated if the other ones speak against the target.
      const most = (): number =>
        times(findings, 'blocked') > 0 && !failureIn(findings, ids.perApplication)
          ? 2 * maxAttempts
          : maxAttempts
      for (
        let count = 1;
        count <= most() && (count === 1 || wantsMore(run, other, findings));
        count++
      ) {
        last = await attempt({ held, other, last, found: findings, wants })
        findings.push(...last.findings)
        if (held.gate.timedOut || failureIn(findings, ids.released)) break
      }
    })
    // Some creation on the busy application was answered 409 in its attempts, or before.
    const wasBusy = gateOf(run, busy.id).conflictSeen
    if (run.options.depth === 'full')
      for (const further of [attemptOnPlain, attemptOnCreated])
        findings.push(...(await further(run, last, findings)).map(withoutProof))
    // Last: a server that takes the jobs of all applications for one would refuse it beside any of them.
    // If that application gives no job, requirements about it tell.
    if (!failureIn(findings, ids.released))
      findings.push(...((await orElse(run, () => releasedAfterFailure(run))) ?? []))
    return { findings, wasBusy }
  })
}

function times(findings: readonly Finding[], what: Finding['met']): number {
  return findings.filter(({ met }) => met === what).length
}

/** A job that is refused, or that ends at once, proves nothing: what the busy application showed is kept. */
function withoutProof({ confirmed: _confirmed, open: _open, ...finding }: Finding): Finding {
  return finding
}

function wantsMore(run: Run, other: Held | undefined, found: readonly Finding[]): boolean {
  const isEnough = run.options.depth === 'quick' && isSettled(found, ids.atomic)
  if (!failureIn(found, ids.atomic) && !isEnough && isPlanned(run, ids.atomic)) return true
  const wanted = [ids.inProgress, ids.released, ...(other ? [ids.perApplication] : [])]
  return wanted.some((of) => !isSettled(found, of))
}

/** An attempt while the other application is idle too; without that if it stays busy. */
async function attempt(trial: Trial): Promise<Attempt> {
  const { other, wants } = trial
  if (!other || !wants(ids.perApplication)) return attemptOnce(trial)
  const { run, application } = other
  return whileIdle(run, application.id, async (busy) => {
    if (busy === undefined) await awaitReleased(run, application.id)
    const made = await attemptOnce(trial)
    return {
      ...made,
      findings: [{ of: ids.perApplication, cases: 0, open: busy }, ...made.findings],
    }
  })
}

async function attemptOnce({ held, other, last, found, wants }: Trial): Promise<Attempt> {
  const { run, gate, application } = held
  const begun = await begin(held, last, other?.application)
  const [first] = begun.jobs
  if (!first) return begun
  const findings = [...begun.findings]
  const end = (open?: string): Attempt => {
    if (open !== undefined) findings.push({ of: ids.released, cases: 0, open })
    return { ...begun, findings, isFree: open === undefined }
  }
  if (last.isFree) findings.push({ of: ids.released, cases: 1, confirmed: true })
  // Beside what has to come while the job lasts, which may be a round trip.
  const older = readOlder(run, first)
  void older.catch(() => undefined)
  const onOther = other && wants(ids.perApplication) ? await createOnOther(other, first) : undefined
  if (onOther) findings.push(onOther)
  const besideOther = other && onOther?.confirmed ? createBesideNewest(other) : undefined
  void besideOther?.catch(() => undefined)
  if (wants(ids.inProgress)) findings.push(...(await createDuringJob(held, first, found)))
  findings.push(...((await besideOther) ?? []))
  await older
  if (!(await jobsOf(run).awaitEnds(application.id))) {
    // A job that cannot be read may have ended: then only the application itself can tell.
    gate.timedOut = first.readings.at(-1)?.status !== undefined
    const { jobTimeoutMs } = run.target.limits
    const late = `a job was still in progress after ${jobTimeoutMs} ms (limits.jobTimeoutMs)`
    return end(gate.timedOut ? late : 'the last reading of the job shows no status')
  }
  if (other && onOther?.conflict)
    findings.push(await confirmBlocked(other, onOther.conflict, first, times(found, 'blocked')))
  const isClear = jobsOf(run).of(application.id).every(wasSeenEnded)
  return end(isClear ? undefined : 'what is read under the id of a job is another job')
}

/** One more creation beside the newest job of an application: a server may look for conflicts on some of them alone. */
async function createBesideNewest(held: Held): Promise<readonly Finding[]> {
  const { run, application } = held
  const job = jobsOf(run).of(application.id).at(-1)
  if (!job || wasSeenEnded(job) || !isPlanned(run, ids.inProgress) || run.options.depth === 'quick')
    return []
  return (await createDuringJob(held, job, [], 1)).map(withoutProof)
}

/** A server may check for conflicts on some applications only: the plain one is tried too, if its jobs last long enough. */
async function attemptOnPlain(
  run: Run,
  last: Attempt,
  found: readonly Finding[],
): Promise<readonly Finding[]> {
  const plain = run.target.resources.application
  if (!plain || plain.id === busyApplication(run).id || gateOf(run, plain.id).timedOut) return []
  const wants = (of: Finding['of']): boolean => isPlanned(run, of) && !failureIn(found, of)
  if (!wants(ids.inProgress) && !wants(ids.atomic)) return []
  return hold(run, plain, async (held) => {
    const { findings, isFree } = await attemptOnce({
      held,
      last: { ...last, isFree: false },
      found,
      wants,
    })
    held.gate.timedOut &&= !isFree
    // Looked at first: an application that is released late would be free after anything else.
    return isFree && wants(ids.released) ? [...findings, ...(await lookAfterEnd(held))] : findings
  })
}

/** A server may check for conflicts only on applications that it knew when it began: one that the run creates is tried too. */
async function attemptOnCreated(
  run: Run,
  _last: Attempt,
  found: readonly Finding[],
): Promise<readonly Finding[]> {
  if (
    !isPlanned(run, ids.inProgress) ||
    failureIn(found, ids.inProgress) ||
    !isDeclared(run, 'applications.create')
  )
    return []
  const purpose = { requirement: ids.inProgress, role: 'setup' } as const
  const id = createdId(
    run,
    await sendWithRetries(run, () => validRequest(run, 'applications.create'), purpose),
  )
  if (id === undefined) return []
  return hold(run, { id, inputs: [], requiredInputs: [] }, async (plain) => {
    let held = plain
    const make = async () => (await create(held, ids.inProgress)).exchange
    let made = await retryWhileSettling(run, make, ({ response }) => response?.status !== 404)
    // It may be made like the declared one, and want its inputs.
    if (made.response?.status === 400) {
      held = {
        ...plain,
        application: {
          ...plain.application,
          inputs: run.target.resources.application?.inputs ?? [],
        },
      }
      made = await make()
    }
    const first = plain.gate.record(made)
    if (!first) return []
    const beside = await createDuringJob(held, first, found)
    const isFree = isPlanned(run, ids.released) && (await jobsOf(run).awaitEnds(id))
    return isFree ? [...beside, ...(await lookAfterEnd(held))] : beside
  })
}

/** A creation on an application that is free, as its last job was seen ended; answered 409, two more follow. */
function createAfterEnd(
  run: Run,
  application: ApplicationResource,
  ended?: string,
): Promise<Finding[]> {
  return hold(run, application, async (held) => [
    ...(await lookAfterEnd(held, ended)),
    ...(await createBesideNewest(held)),
  ])
}

async function lookAfterEnd(held: Held, ended?: string): Promise<Finding[]> {
  const { isConflict } = await create(held, ids.released)
  const first = { of: ids.released, cases: 1 }
  return isConflict ? [first, (await awaitRelease(held, { ended })).finding] : [first]
}

/** Applications that were given up are looked at once more, at the end: somebody else's job may be over by then. */
export async function releasedAtLast(run: Run): Promise<Finding[]> {
  const { application, otherApplication, slowApplication, failingApplication } =
    run.target.resources
  const findings: Finding[] = []
  for (const resource of [application, otherApplication, slowApplication, failingApplication]) {
    if (!resource || failureIn(findings)) continue
    const last = jobsOf(run).of(resource.id).at(-1)
    if (!gateOf(run, resource.id).gaveUp || !last || !wasSeenEnded(last)) continue
    // Another requirement reports that it stays locked after a refusal.
    if (resource.id === application?.id && (await staysLocked(run))) continue
    findings.push(...(await createAfterEnd(run, resource)))
  }
  return findings
}

/** Whether refused creations have locked the application for good. */
async function staysLocked(run: Run): Promise<boolean> {
  if (!isPlanned(run, ids.noEffect)) return false
  return noEffectFindings(run).then(
    (findings) => findings.some(({ met }) => met === 'locked'),
    () => false,
  )
}

/** An application is free again after a job that failed, too. */
async function releasedAfterFailure(run: Run): Promise<Finding[]> {
  const application = run.target.resources.failingApplication
  if (!application || !isPlanned(run, ids.released)) return []
  const { job } = await failingLifecycle(run)
  return wasSeenEnded(job)
    ? createAfterEnd(run, application, String(job.readings.at(-1)?.status))
    : []
}
