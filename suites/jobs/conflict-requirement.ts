import { releasedAtLast } from './release.ts'
import { isEnded, jobsOf } from './job-tracker.ts'
import { busyApplication, provokeConflicts } from './provoke-conflicts.ts'
import type { ConflictFindings } from './finding.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { judgePairs } from '../../harness/engine/judge-response.ts'
import { granted } from '../../harness/checks/granted.ts'
import type { Run } from '../../harness/engine/run.ts'
import type { Judge, CheckContext } from '../../harness/engine/check-context.ts'
import { byScenario } from '../../harness/checks/judge-scenario.ts'

/** What §4.2 and §8 give a creation on a busy application. */
const conflict = [[409, 'BadRequest']] as const

type DefinedRequirement = 'inProgress' | 'released' | 'perApplication' | 'atomic'

/** A scenario of the target file brings about the conflict, or the state without one. */
function judgeConflictScenario(context: CheckContext, name: DefinedRequirement): Promise<void> {
  const free = name === 'released' || name === 'perApplication'
  return free ? granted('as the scenario of the target file says')(context) : byScenario()(context)
}

/** How long the longest job of the application lasted until it was read as ended, in ms; undefined if none was. */
function longestJob(run: Run, application: string): number | undefined {
  const lengths = jobsOf(run)
    .all.filter((job) => job.application === application)
    .flatMap(({ readings, createdAtMs }) => {
      const end = readings.find(isEnded)
      return end ? [end.exchange.endedAt - createdAtMs] : []
    })
  return lengths.length > 0 ? Math.max(...lengths) : undefined
}

/** What helps if jobs end before anything can be sent beside them. */
function remedy(run: Run): string {
  const { id } = busyApplication(run)
  const ms = longestJob(run, id)
  if (ms === undefined) return ''
  const took = `its longest job was read as ended after ${Math.round(ms).toLocaleString('en')} ms`
  const wanted = 'one whose jobs last a second or more, and some ten round trips over a network'
  return `; application ${id}: ${took}: declare as resources.slowApplication ${wanted}`
}

/**
 * One of the 409 rows: failed by the evidence of a later reading, passed by that of the same, not exercised
 * if three attempts showed neither. The rows that say when there is no conflict also need one 409 in the run: a
 * server that never answers one keeps them by checking nothing.
 */
export function conflictRequirement(name: DefinedRequirement): Judge {
  return async (context) => {
    if (context.run.target.scenarios[context.requirement.id]) return judgeConflictScenario(context, name)
    const found: ConflictFindings = await provokeConflicts(context.run)
    const finding = found[name]
    if (name === 'released') await releasedAtLast(context.run, finding)
    const judged = name === 'inProgress' ? finding.cases - found.inProgress.conflicts.length : finding.cases
    context.cases += judged
    const { failure } = finding
    // Whose job kept the application from being released, nobody can tell.
    if (name === 'released' && failure && found.perApplication.failure)
      throw new NotExercised('a job of one application blocks another: see jobs.create/409-per-application')
    if (failure) context.fail(failure.exchange, failure.expected, failure.what, failure.actual)
    if (name === 'inProgress') {
      context.control = 'granted'
      const what = 'with a valid body, while a job of the application was in progress'
      for (const exchange of found.inProgress.conflicts) judgePairs(context, exchange, conflict, what)
    }
    // No longer job would help one that is sent by itself.
    const needsSlower = name !== 'atomic' || context.run.client.semaphore.size > 1
    if (!finding.confirmed)
      throw new NotExercised(
        `three attempts showed nothing: ${finding.inconclusive}${needsSlower ? remedy(context.run) : ''}`,
      )
    if (name === 'inProgress') return
    if (!found.conflictSeen) throw new NotExercised('no creation on that application was answered 409 in this run')
  }
}
