import type { RequirementId } from '../catalogue/catalogue.ts'
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

/** Rules that read whole answers again: when all is known. */
const isReadAgain = (id: RequirementId): boolean =>
  id.startsWith('files.list') || id.startsWith('files.retrieve')

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
  const told = new Set<string>()
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
      if (!event) return []
      const isOfJobs = event.operation.startsWith('jobs.')
      // An entry without a time is neither before nor after another.
      const time = exchange.entry.startedAt === undefined ? { sentAt: NaN, endedAt: NaN } : {}
      let kept: RecordedHttpResponse = exchange
      // Of a use its answer alone counts: of many that say the same few are kept.
      const body = event.kind === 'use' ? undefined : event.body
      history.append({
        ...event,
        ...time,
        body,
        get exchange() {
          return kept
        },
      })
      const news =
        isTold && history.events.length <= toldAtOnce
          ? verdicts(isOfJobs ? ofJobs : ofObjects.filter(([id]) => !isReadAgain(id)))
          : []
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
