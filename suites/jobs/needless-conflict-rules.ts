import {
  type History,
  sameId,
  type Rule,
  broken,
  heldBy,
  type HistoryEvent,
} from '../../harness/history/index.ts'
import {
  type Beside,
  releaseMs,
  timesAlike,
  isProof,
  somebodyElse,
  remedy,
  conflictsOn,
  seconds,
} from './conflict-rules.ts'
import {
  jobsIn,
  creationsOn,
  isAsked,
  freeSince,
  isConflict,
  meeting,
  busySpan,
  isWithin,
  applicationsIn,
  lostBefore,
  endOf,
  isAlone,
  jobsOn,
  statusOf,
} from './jobs.ts'
import { mayBeOfRefusals } from './no-effect-rule.ts'

/** Creations on an application that is free, while a job of another one is in progress. */
function besideOthers(history: History, application: string): Beside[] {
  const others = jobsIn(history).filter((job) => !sameId(job.application, application))
  const free = creationsOn(history, application).filter((one) => {
    const since = isAsked(one) ? freeSince(history, one) : undefined
    return since !== undefined && one.sentAt - since >= (isConflict(one) ? releaseMs : 0)
  })
  return meeting(free, others, (job) => busySpan(history, job), isWithin)
}

const granting = '202: a job in progress on another application is no conflict'

/** §8: a job in progress on one application does not block another one. */
export const perApplication: Rule = (history) => {
  let [cases, blockedTimes] = [0, 0]
  for (const application of applicationsIn(history)) {
    const beside = besideOthers(history, application)
    const granted = beside.filter(({ creation }) => creation.isGranted)
    // It counts only if the application takes a creation once the other job is over.
    const all = creationsOn(history, application)
    const blocked = beside.filter(
      ({ creation, job }) =>
        isConflict(creation) &&
        !lostBefore(history, application, creation.sentAt) &&
        all.some(
          ({ isGranted, sentAt }) => isGranted && sentAt > (endOf(job)?.endedAt ?? Infinity),
        ),
    )
    const jobs = new Set(blocked.map(({ job }) => job))
    const [first] = blocked
    blockedTimes = Math.max(blockedTimes, jobs.size)
    cases += granted.length
    if (!first || granted.length > 0 || jobs.size < timesAlike) continue
    if (!isProof(history, application)) continue
    const what = `with a valid body, while only job ${first.job.id} of another application was in progress, in ${jobs.size} attempts${somebodyElse(history, application)}`
    return broken({ exchange: first.creation.exchange, what, expected: granting })
  }
  const busy =
    blockedTimes > 0
      ? `the other application was busy during a job in ${blockedTimes} attempts`
      : 'no creation was answered while a reading showed a job of another application in progress'
  return withConflict(history, heldBy(cases, busy + remedy(history)))
}

/** A server that never answers 409 keeps these requirements by checking nothing. */
function withConflict(history: History, verdict: ReturnType<Rule>): ReturnType<Rule> {
  const isSeen = applicationsIn(history).some(
    (application) => conflictsOn(history, application).length > 0,
  )
  if (verdict.outcome !== 'held' || isSeen) return verdict
  return { outcome: 'open', why: 'no creation was answered 409 in this run' }
}

/** Creations in a row that were answered 409 after the end of a job, with nothing granted between them. */
function keptAfterEnds(history: History, application: string): HistoryEvent[][] {
  const bySince = new Map<number, HistoryEvent[]>()
  for (const creation of creationsOn(history, application)) {
    const since = isAsked(creation) ? freeSince(history, creation) : undefined
    if (since === undefined || since === -Infinity || !isConflict(creation)) continue
    bySince.set(since, [...(bySince.get(since) ?? []), creation])
  }
  return [...bySince.values()]
}

/** §4.2: once its job has ended, the application takes another one. */
export const released: Rule = (history) => {
  let [cases, open] = [0, 'no reading showed a job of the application ended']
  const isApart = perApplication(history).outcome === 'held'
  for (const application of applicationsIn(history)) {
    for (const kept of keptAfterEnds(history, application)) {
      const [first, last] = [kept[0]!, kept.at(-1)!]
      const isLong = kept.length >= timesAlike && last.sentAt - first.sentAt >= releaseMs * 0.95
      if (!isLong || kept.some((one) => mayBeOfRefusals(history, one))) continue
      if (lostBefore(history, application, last.sentAt))
        open = 'a creation that got no answer may have started a job that nobody knows of'
      else if (!isApart && !kept.some((one) => isAlone(history, one)))
        open = 'a job of one application may block another: see jobs.create/409-per-application'
      else if (!isProof(history, application))
        open =
          "the application was busy after its last known job: somebody else's job would look the same"
      else {
        const end = jobsOn(history, application)
          .flatMap((job) => endOf(job) ?? [])
          .at(-1)
        const ended = end && statusOf(end) === 'failed' ? 'failed' : 'ended'
        const what = `with a valid body, after a retrieval showed the last job of the application ${ended}, and so were ${kept.length - 1} more in ${seconds(last.sentAt - first.sentAt)}${somebodyElse(history, application)}`
        const expected = '202, as the application has no job in progress'
        return broken({ exchange: last.exchange, what, expected }, kept.length)
      }
    }
    cases += creationsOn(history, application).filter((one) => {
      const since = isAsked(one) && one.isGranted ? freeSince(history, one) : undefined
      return since !== undefined && since !== -Infinity
    }).length
  }
  return withConflict(history, heldBy(cases, open))
}
