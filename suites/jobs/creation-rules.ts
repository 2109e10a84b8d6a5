import { isBreakdown, shapeFault } from '../../harness/engine/index.ts'
import {
  broken,
  type Evidence,
  heldBy,
  type History,
  type HistoryEvent,
  type Rule,
} from '../../harness/history/index.ts'
import { seconds } from './conflict-rules.ts'
import {
  applicationsIn,
  creationsOn,
  isAlone,
  isConflict,
  isAsked,
  ownJobs,
  jobsOn,
  lostBefore,
  madeAt,
  meeting,
  overlaps,
  possibleSpan,
  wereTogether,
} from './jobs.ts'
import { perApplication } from './needless-conflict-rules.ts'

const created = '202 with the id, status and created_at of the new job'
const valid = 'with a valid body'

/** A granted creation whose answer is not that which §2.4 and §4.2 show. */
function wrongAnswer({ exchange, status }: HistoryEvent): Evidence | undefined {
  const shownBy = exchange.purpose.requirement
  if (status !== 202) return { exchange, what: valid, expected: created, shownBy }
  const fault = exchange.response && shapeFault(exchange.response, 'created-job')
  return fault && { exchange, what: valid, shownBy, ...fault }
}

/** A 5xx to a creation by itself, on an application that has granted another one. */
function breakdownOn(history: History, application: string): Evidence | undefined {
  const all = creationsOn(history, application)
  const alone = all.filter(({ request, isFirst, exchange: { response } }) => {
    const isOwn = response && isBreakdown(response) && ![502, 504].includes(response.status)
    return request === 'valid' && isFirst && isOwn
  })
  if (alone.length === 0 || !all.some(({ isGranted }) => isGranted)) return undefined
  const beside = new Set(
    meeting(alone, jobsOn(history, application), possibleSpan, overlaps).map((one) => one.creation),
  )
  const first = alone.find(
    (one) => !beside.has(one) && !all.some((other) => wereTogether(one, other)),
  )
  return (
    first && {
      exchange: first.exchange,
      what: valid,
      expected: created,
      shownBy: first.exchange.purpose.requirement,
    }
  )
}

/**
 * A creation on an application that the history made, before any job was granted there: nobody else's can be in progress.
 * One that follows a refused creation is judged by that one's effect.
 */
function refusedWhenNew(history: History, application: string): Evidence | undefined {
  const from = madeAt(history, application)
  if (from === undefined) return undefined
  const all = creationsOn(history, application)
  const others = all.filter((one) => one.status === undefined || !isConflict(one) || !isAsked(one))
  const isFirst = (one: HistoryEvent): boolean => others.every(({ sentAt }) => sentAt > one.endedAt)
  const isApart = perApplication(history).outcome === 'held'
  const refused = all.find(
    (one) =>
      isAsked(one) &&
      isConflict(one) &&
      isFirst(one) &&
      !lostBefore(history, application, one.sentAt) &&
      (isApart || isAlone(history, one)),
  )
  if (!refused) return undefined
  const what = `on an application that was made ${seconds(refused.sentAt - from)} before, and has had no job`
  const expected = '202: nobody else uses it, and no job is in progress there'
  return { exchange: refused.exchange, what, expected }
}

/** A first creation on an application that the history made is never answered 409. */
export const neverBusyWhenNew: Rule = (history) => {
  const [found] = applicationsIn(history).flatMap((id) => refusedWhenNew(history, id) ?? [])
  return found ? broken(found) : { outcome: 'open', why: 'no application was made' }
}

/** §4.2, §2.4: a valid creation is answered 202 with the new job; the first one on an application that was just made is, too. */
export const createdRule: Rule = (history) => {
  const granted = history.events.filter(
    (one) => one.operation === 'jobs.create' && one.isGranted && isAsked(one),
  )
  const evidence = [
    ...granted.map(wrongAnswer),
    ...applicationsIn(history).flatMap((application) => [
      breakdownOn(history, application),
      refusedWhenNew(history, application),
    ]),
  ].filter((one) => one !== undefined)
  const [first, ...more] = evidence
  const cases = granted.length + (first ? 1 : 0)
  if (first) return { outcome: 'broken', cases, evidence: [first, ...more] }
  return heldBy(cases, 'no creation was granted')
}

/** Header by which a recording tells one client from another: a job may be that of another account. */
function keyOf({ exchange: { probe } }: HistoryEvent): string | undefined {
  return probe.headers.find(({ name }) => name.toLowerCase() === 'authorization')?.value
}

/** §4.2, §4.3: the id that a creation returned can be retrieved, at the latest `settleMs` later. */
export const retrievable: Rule = (history) => {
  const { settleMs } = history.limits
  let cases = 0
  for (const job of ownJobs(history)) {
    const own = job.readings.filter((one) => keyOf(one) === keyOf(job.creation))
    if (own.some(({ status }) => status === 200)) {
      cases++
      continue
    }
    const last = own.findLast(({ status, noise }) => status !== undefined && noise === undefined)
    const afterMs = (last?.sentAt ?? 0) - job.creation.endedAt
    if (!last || !(afterMs >= settleMs) || last.status === 403) continue
    const expected = `200: the id that the creation returned can be retrieved, at the latest ${settleMs} ms later (limits.settleMs)`
    const shownBy = job.creation.exchange.purpose.requirement
    const what = `${seconds(afterMs)} after the creation of the job`
    return broken({ exchange: last.exchange, what, expected, shownBy }, cases + 1)
  }
  return heldBy(cases, `no job was read for ${settleMs} ms (limits.settleMs) or until it was found`)
}
