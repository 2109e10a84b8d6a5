import { groupBy } from '../../harness/group-by.ts'
import {
  type History,
  type HistoryEvent,
  type Rule,
  sameId,
  type Verdict,
  verdictOf,
} from '../../harness/history/index.ts'
import {
  conflictsOn,
  isProof,
  releaseMs,
  remedy,
  somebodyElse,
  timesAlike,
} from './conflict-rules.ts'
import { type Application, applicationsIn, isConflict, jobsIn, statusOf } from './jobs.ts'
import {
  type Beside,
  busySpan,
  endOf,
  freeSince,
  isAlone,
  isWithin,
  lostBefore,
  meeting,
} from './spans.ts'
import { seconds } from '../created/attempts.ts'
import { mayBeOfRefusals } from './no-effect-rule.ts'

/** Creations on an application that is free, while a job of another one is in progress. */
function besideOthers(history: History, { id, creations }: Application): Beside[] {
  const others = jobsIn(history).filter((job) => !sameId(job.application.id, id))
  const free = creations.filter((one) => {
    const freeMs = one.sentAt - (freeSince(history, one) ?? Infinity)
    return freeMs >= (isConflict(one) ? releaseMs : 0)
  })
  return meeting(free, others, busySpan, isWithin)
}

/** §8: a job in progress on one application does not block another one. */
export const perApplication: Rule = (history) => {
  let [cases, blockedTimes] = [0, 0]
  for (const application of applicationsIn(history)) {
    const { creations } = application
    const beside = besideOthers(history, application)
    const granted = beside.filter(({ creation }) => creation.isGranted)
    // It counts only if the application takes a creation once the other job is over.
    const isFreeAfter = (end = Infinity): boolean =>
      creations.some(({ isGranted, sentAt }) => isGranted && sentAt > end)
    const blocked = beside.filter(
      ({ creation, job }) =>
        isConflict(creation) &&
        !lostBefore(application, creation.sentAt) &&
        isFreeAfter(endOf(job)?.endedAt),
    )
    const times = new Set(blocked.map(({ job }) => job)).size
    const [first] = blocked
    blockedTimes = Math.max(blockedTimes, times)
    cases += granted.length
    if (!first || granted.length > 0 || times < timesAlike) continue
    if (!isProof(history, application)) continue
    const { exchange } = first.creation
    const what = `with a valid body, while only job ${first.job.id} of another application was in progress, in ${times} attempts${somebodyElse(application)}`
    const expected = '202: a job in progress on another application is no conflict'
    return verdictOf([{ exchange, what, expected }], 1, '')
  }
  const busy =
    blockedTimes > 0
      ? `the other application was busy during a job in ${blockedTimes} attempts`
      : 'no creation was answered while a reading showed a job of another application in progress'
  return withConflict(
    history,
    verdictOf([], cases, () => busy + remedy(history)),
  )
}

/** A server that never answers 409 keeps these requirements by checking nothing. */
function withConflict(history: History, verdict: Verdict): Verdict {
  const isSeen = applicationsIn(history).some((one) => conflictsOn(one).length > 0)
  if (verdict.outcome !== 'held' || isSeen) return verdict
  return { outcome: 'open', why: 'no creation was answered 409 in this run' }
}

/** §4.2: once its job has ended, the application takes another one. */
export const released: Rule = (history) => {
  let [cases, open] = [0, 'no reading showed a job of the application ended']
  const isApart = perApplication(history).outcome === 'held'
  for (const application of applicationsIn(history)) {
    const { creations, jobs } = application
    const since = (one: HistoryEvent): number => freeSince(history, one) ?? -Infinity
    const afterEnds = creations.filter((one) => since(one) > -Infinity)
    cases += afterEnds.filter(({ isGranted }) => isGranted).length
    // In a row: with nothing granted between them.
    for (const kept of groupBy(afterEnds.filter(isConflict), since).values()) {
      const [first, last] = [kept[0]!, kept.at(-1)!]
      const keptMs = last.sentAt - first.sentAt
      const isLong = kept.length >= timesAlike && keptMs >= releaseMs * 0.95
      if (!isLong || kept.some((one) => mayBeOfRefusals(history, one))) continue
      if (lostBefore(application, last.sentAt))
        open = 'a creation that got no answer may have started a job that nobody knows of'
      else if (!isApart && !kept.some((one) => isAlone(history, one)))
        open = 'a job of one application may block another: see jobs.create/409-per-application'
      else if (!isProof(history, application))
        open =
          "the application was busy after its last known job: somebody else's job would look the same"
      else {
        const end = jobs.flatMap((job) => endOf(job) ?? []).at(-1)
        const ended = end && statusOf(end) === 'failed' ? 'failed' : 'ended'
        const what = `with a valid body, after a retrieval showed the last job of the application ${ended}, and so were ${kept.length - 1} more in ${seconds(keptMs)}${somebodyElse(application)}`
        const expected = '202, as the application has no job in progress'
        return verdictOf([{ exchange: last.exchange, what, expected }], kept.length, open)
      }
    }
  }
  return withConflict(history, verdictOf([], cases, open))
}
