import type { RequirementId } from '../catalogue/catalogue.ts'
import type { OperationId } from '../catalogue/operations.ts'
import { describePairs } from '../harness/engine/index.ts'
import {
  createHistory,
  type Evidence,
  eventOf,
  type Rule,
  type Verdict,
} from '../harness/history/index.ts'
import type { Target } from '../harness/target-file/index.ts'
import { recordedRules } from '../suites/jobs/rules.ts'
import { storyOf } from '../suites/jobs/story.ts'
import { mostRead } from '../suites/files/rules.ts'
import { relationRules } from '../suites/relation-rules.ts'
import type { RecordedHttpResponse } from './recorded-exchange.ts'

/** A fault that more than one answer shows, as that of a single one is told. */
const faultOf = ({ exchange, expected, what, actual, at }: Evidence) => ({
  exchange,
  expected: `${typeof expected === 'string' ? expected : describePairs(expected)}${what && ` (${what})`}`,
  actual,
  at,
})

type Rules = readonly (readonly [RequirementId, Rule])[]

/** With so many events what is new is told as it comes; with more, when all is known: rules look at all of them. */
const toldAtOnce = 2000

/**
 * Appends recorded exchanges to a history, and judges it by the rules of a live run.
 * @param again reads the exchange of that index again: there may be more of them than memory holds
 */
export function createRecordedHistory(
  target: Target,
  again: (index: number) => RecordedHttpResponse,
) {
  const history = createHistory(target.limits, { isRecorded: true })
  const ofJobs = recordedRules(target.resources.failingApplication?.id)
  const ofObjects = Object.entries(relationRules) as [RequirementId, Rule][]
  /** The rules that a request may break at once; what reads whole answers again is told when all is known. */
  const toldBy = (operation: OperationId): Rules => {
    const [area] = operation.split('.')
    const isAbout = (id: RequirementId): boolean =>
      id.split('.')[0] === area && !/^files\.(list|retrieve)/.test(id)
    return area === 'jobs' ? ofJobs : ofObjects.filter(([id]) => isAbout(id))
  }
  const told = new Set<string>()
  let listings = 0
  /** An exchange without its answer, which is read again if somebody asks. */
  const trimmed = ({
    entry: { index },
    sentAt,
    endedAt,
  }: RecordedHttpResponse): RecordedHttpResponse =>
    new Proxy({ sentAt, endedAt, throttled: false } as RecordedHttpResponse, {
      get: (kept, name) => Reflect.get(name in kept ? kept : again(index), name) as unknown,
    })
  const verdicts = (rules: Rules): [RequirementId, Verdict][] =>
    history.events.length === 0 ? [] : rules.map(([id, rule]) => [id, rule(history)])
  return {
    /** Gives what is known to be wrong since this exchange. Entries are to come in the order of time. @param isTold somebody waits for it */
    see(exchange: RecordedHttpResponse, isTold: boolean) {
      const event = eventOf(target, exchange, true)
      if (!event || (event.kind === 'listing' && ++listings > mostRead)) return []
      const { operation } = event
      // An entry without a time is neither before nor after another.
      const time = exchange.entry.startedAt === undefined ? { sentAt: NaN, endedAt: NaN } : {}
      let kept: RecordedHttpResponse = exchange
      // What no rule reads takes no place; of many listings that say the same few are kept.
      const isRead = operation.startsWith('jobs.') || event.kind === 'listing'
      const body = isRead ? event.body : undefined
      history.append({
        ...event,
        ...time,
        body,
        get exchange() {
          return kept
        },
      })
      const news = isTold && history.events.length <= toldAtOnce ? verdicts(toldBy(operation)) : []
      const faults = news.flatMap(([requirement, verdict]) => {
        if (verdict.outcome !== 'broken' || told.has(requirement)) return []
        told.add(requirement)
        return [{ requirement, fault: faultOf(verdict.evidence[0]) }]
      })
      kept = trimmed(exchange)
      return faults
    },
    /** Notes a request of a kind that the spec does not show. @param at when it was sent, in ms; NaN if nobody knows */
    seeOther: (at: number): void => history.appendOther(at),
    /** Each requirement that the whole of it shows to hold or to be broken; of the others why nothing is known. */
    end: () =>
      verdicts([...ofJobs, ...ofObjects]).map(([requirement, verdict]) => ({
        requirement,
        cases: verdict.outcome === 'open' ? 0 : verdict.cases,
        faults:
          verdict.outcome === 'broken'
            ? verdict.evidence.map((evidence) => ({
                ...faultOf(evidence),
                story: storyOf(history, evidence.exchange),
              }))
            : [],
        ...(verdict.outcome === 'open' && { why: verdict.why }),
      })),
  }
}
