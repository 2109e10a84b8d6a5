import { shapeFault } from '../../harness/run/index.ts'
import {
  isBreakdown,
  eachOf,
  type Evidence,
  type History,
  type HistoryEvent,
  isConflict,
  type Rule,
  verdictOf,
} from '../../harness/journal/index.ts'
import { seconds } from '../created/rules.ts'
import { perApplication, refusedTogether } from './conflicts.ts'
import { type Attempt, attemptsIn, isAlone, isAsked, ownJobs, wereTogether } from './view.ts'

const created = '202 with the id, status and created_at of the new job'

const wrong = (event: HistoryEvent, more: Partial<Evidence> = {}): Evidence => ({
  ...{ exchange: event.exchange, what: 'with a valid body', expected: created },
  ...more,
})

function wrongAnswer(creation: HistoryEvent): Evidence | undefined {
  const { response } = creation.exchange
  if (creation.status !== 202) return wrong(creation)
  const fault = response && shapeFault(response, 'created-job')
  return fault && wrong(creation, fault)
}

function breakdownIn(attempts: readonly Attempt[]): Evidence | undefined {
  if (!attempts.some((attempt) => attempt.creation.isGranted)) return undefined
  const found = attempts.find((attempt) => {
    const { request, exchange } = attempt.creation
    const { response } = exchange
    const isOwn = response && isBreakdown(response) && ![502, 504].includes(response.status)
    return (
      request === 'valid' &&
      isOwn &&
      attempt.met.length === 0 &&
      !attempts.some((one) => wereTogether(one.creation, attempt.creation))
    )
  })
  return found && wrong(found.creation)
}

/**
 * Before the first job of an application that the run made: no other client can have one there, but a platform may
 * start its own.
 */
function refusedWhenNew(history: History, attempts: readonly Attempt[]): Evidence | undefined {
  const [{ application } = {}] = attempts
  if (application?.madeAt === undefined) return undefined
  const { madeAt, creations } = application
  const [first, ...more] = creations
  const isRefused = (one: HistoryEvent): boolean => isAsked(one) && isConflict(one)
  if (!first || !isRefused(first)) return undefined
  const isApart = perApplication(history).outcome === 'held'
  const end = more.findIndex((one) => !isRefused(one))
  const alike = [first, ...(end < 0 ? more : more.slice(0, end))]
  const granted = end < 0 ? Infinity : more[end]!.sentAt
  const late = alike.find(
    (one) =>
      one.sentAt - madeAt > history.limits.settleMs &&
      one.endedAt < granted &&
      (isApart || isAlone(history, one)),
  )
  if (!late) return undefined
  const what = `on an application that was made ${seconds(late.sentAt - madeAt)} before, and has had no job`
  const expected = `202: nobody else uses it, and what the platform does with a new one is over after ${history.limits.settleMs} ms (limits.settleMs)`
  return { exchange: late.exchange, what, expected }
}

export const neverBusyWhenNew: Rule = (history) => {
  const all = [...attemptsIn(history).values()]
  const found = all.flatMap((attempts) => refusedWhenNew(history, attempts) ?? [])
  return verdictOf(found.slice(0, 1), Math.min(found.length, 1), 'no application was created')
}

const grantedIn = (history: History): HistoryEvent[] =>
  history.events.filter((one) => one.operation === 'jobs.create' && one.isGranted && isAsked(one))

/** Whether some creation was answered as documented, so that a wrong answer is an exception. */
export const isSomeCreated = (history: History): boolean =>
  grantedIn(history).some((one) => !wrongAnswer(one))

export const createdRule: Rule = (history) => {
  const granted = grantedIn(history)
  const all = [...attemptsIn(history).values()]
  const evidence = [
    ...granted.map(wrongAnswer),
    ...all.flatMap((one) => [breakdownIn(one), refusedWhenNew(history, one)]),
    refusedTogether(history),
  ].filter((one) => one !== undefined)
  const cases = granted.length + Math.min(evidence.length, 1)
  return verdictOf(evidence, cases, 'no creation was accepted')
}

/** §4.2, §4.3: the id of a creation can be retrieved, at the latest `settleMs` later. */
export const retrievable = eachOf(
  ownJobs,
  (other, { limits: { settleMs } }) => {
    const own = other.readings.filter((one) => one.key === other.creation.key)
    if (own.some((one) => one.status === 200)) return 'held'
    const last = own.findLast((one) => one.status !== undefined)
    const afterMs = (last?.sentAt ?? 0) - other.creation.endedAt
    if (!last || !(afterMs >= settleMs) || last.status === 403) return undefined
    const expected = `200: the id that the creation returned can be retrieved, at the latest ${settleMs} ms later (limits.settleMs)`
    const shownBy = other.creation.exchange.purpose.requirement
    const what = `${seconds(afterMs)} after the creation of the job`
    return { exchange: last.exchange, what, expected, shownBy }
  },
  ({ limits: { settleMs } }) =>
    `no job was read for ${settleMs} ms (limits.settleMs) or until it was found`,
)
