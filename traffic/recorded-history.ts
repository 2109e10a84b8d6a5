import type { Target } from '../harness/target-file/index.ts'
import { createHistory, eventOf, type History } from '../harness/history/index.ts'
import { createdAtCases, identityCases, seenJobs, type SeenJob } from '../suites/jobs/seen-jobs.ts'
import type { RecordedHttpResponse } from './recorded-exchange.ts'

const rules = [
  ['jobs.retrieve/200-identity', identityCases],
  ['jobs.retrieve/200-created-at', createdAtCases],
] as const

function* casesOf(jobs: readonly SeenJob[]) {
  for (const [requirement, rule] of rules)
    for (const { problem } of rule(jobs)) yield { requirement, fault: problem }
}

/**
 * Appends recorded exchanges to a history, and judges it as that of a live run is: when all is known.
 * @param again reads the exchange of that index again: there may be more of them than memory holds
 */
export function createRecordedHistory(
  target: Target,
  again: (index: number) => RecordedHttpResponse,
) {
  const history = createHistory(target.limits, { isRecorded: true })
  /** An exchange without its answer, which is read again if somebody asks. */
  const trimmed = ({
    entry: { index },
    sentAt,
    endedAt,
  }: RecordedHttpResponse): RecordedHttpResponse =>
    new Proxy({ sentAt, endedAt, throttled: false } as RecordedHttpResponse, {
      get: (kept, name) => Reflect.get(name in kept ? kept : again(index), name) as unknown,
    })
  return {
    /** Gives what this exchange shows to be wrong with a job by itself. Entries are to come in the order of time. */
    see(exchange: RecordedHttpResponse) {
      const event = eventOf(target, exchange, true)
      if (!event?.operation.startsWith('jobs.')) return []
      const kept = trimmed(exchange)
      history.append({ ...event, exchange: kept })
      const { object, kind } = event
      // The first event of an id contradicts nothing.
      const isFirst = kind === 'creation' && history.of(object ?? '').length === 1
      if (object === undefined || isFirst) return []
      return [...casesOf(seenJobs(history, object))].flatMap(({ requirement, fault }) =>
        fault?.exchange === kept ? [{ requirement, fault: { ...fault, exchange } }] : [],
      )
    },
    cases: () => casesOf(seenJobs(history)),
    history: history as History,
  }
}
