import { pause } from '../../harness/engine/outcome.ts'
import { isPlanned, type Run } from '../../harness/engine/run.ts'
import type { ApplicationResource } from '../../harness/target-file/model.ts'
import { conflictId, create, type Finding, releaseMs } from './conflict.ts'
import { type Gate, gatesOf, whileIdle } from './gate.ts'
import { type Job, jobsOf, wasSeenEnded } from './job-tracker.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { failingLifecycle } from './lifecycle.ts'
import { noEffect } from './no-effect.ts'

const expected = '202, as the application has no job in progress'
const somebody = "somebody else's job would look the same"

/** Creations on an application whose last job was seen ended. */
interface Released {
  readonly run: Run
  readonly application: ApplicationResource
  readonly gate: Gate
  readonly finding: Finding
  /** Another application that nothing else is sent to already. */
  readonly held?: ApplicationResource | undefined
}

/**
 * A first creation after the end was answered 409: two more, 1 s apart, tell whether it stays so.
 * @param ended how the last job ended, in words
 */
export async function awaitRelease(released: Released, ended = 'ended'): Promise<Job[]> {
  const { run, application, gate, finding } = released
  for (let more = 1; ; more++) {
    await pause(run, releaseMs)
    const send = (): Promise<Exchange> => create(run, application, conflictId.released)
    // That a job of another application blocks it is told by another requirement: the last one is sent beside none.
    const exchange = await (more < 2 ? send() : whileOthersIdle(released, send))
    finding.cases++
    const job = gate.record(exchange)
    if (job) return [job]
    if (exchange.response?.status !== 409) return []
    if (more < 2) continue
    if (gate.lostAt !== undefined) {
      finding.inconclusive = 'a creation that got no answer may have started a job that nobody knows of'
      return []
    }
    const what = `with a valid body, after a retrieval showed the last job of the application ${ended} (${somebody})`
    finding.failure = { exchange, expected, what }
    return []
  }
}

/** Does that while all other declared applications are idle, but for the one that is held already. */
function whileOthersIdle<T>({ run, application, held }: Released, action: () => Promise<T>): Promise<T> {
  const others = [...run.target.applicationIds].filter((id) => id !== application.id && id !== held?.id)
  return others.reduce<() => Promise<T>>((inner, id) => () => whileIdle(run, id, inner), action)()
}

/** A creation on an application that is free, as its last job was seen ended; answered 409, two more follow. */
async function createAfterEnd(released: Released, ended?: string): Promise<void> {
  const { run, application, gate, finding } = released
  await gate.withExclusive(async () => {
    const exchange = await create(run, application, conflictId.released)
    finding.cases++
    gate.record(exchange)
    if (exchange.response?.status === 409) await awaitRelease(released, ended)
  })
}

/** Whether refused creations have locked the application for good. */
async function staysLocked(run: Run): Promise<boolean> {
  if (!isPlanned(run, 'jobs.create/4xx-no-effect')) return false
  return noEffect(run).then(
    ({ locked }) => locked,
    () => false,
  )
}

/** Applications that were given up are looked at once more, at the end: somebody else's job may be over by then. */
export async function releasedAtLast(run: Run, finding: Finding): Promise<void> {
  const { application, otherApplication, slowApplication, failingApplication } = run.target.resources
  for (const resource of [application, otherApplication, slowApplication, failingApplication]) {
    if (!resource || finding.failure) continue
    const gate = gatesOf(run).of(resource.id)
    const last = jobsOf(run)
      .all.filter((job) => job.application === resource.id)
      .at(-1)
    if (!gate.gaveUp || !last || !wasSeenEnded(last)) continue
    // That it stays locked after a refusal is told by another requirement.
    if (resource.id === application?.id && (await staysLocked(run))) continue
    await createAfterEnd({ run, application: resource, gate, finding })
  }
}

/** An application is free again after a job that failed, too. */
export async function releasedAfterFailure(run: Run, finding: Finding): Promise<void> {
  const application = run.target.resources.failingApplication
  if (!application || finding.failure || !isPlanned(run, conflictId.released)) return
  const { job } = await failingLifecycle(run)
  if (!wasSeenEnded(job)) return
  const gate = gatesOf(run).of(application.id)
  await createAfterEnd({ run, application, gate, finding }, String(job.readings.at(-1)?.status))
}
