import { errorNames } from '../catalogue/errors.ts'
import { performance } from 'node:perf_hooks'
import { type Exchange, responseOf, describePairs } from '../harness/engine/index.ts'
import {
  curlOf,
  recordBody,
  recordHead,
  recordHeaders,
  type Redactor,
  type Shown,
} from '../harness/recording/index.ts'
import type { FailureExchange, RecordedRequest } from '../harness/report/index.ts'
import { operationAt } from './base-url.ts'
import type { HarBody, RecordedEntry } from './recorded-entry.ts'
import { shownHeader, shownUrl, withoutSecretMembers } from './secrets.ts'
import type { RequirementId } from '../catalogue/catalogue.ts'
import type { OperationId } from '../catalogue/operations.ts'
import {
  createHistory,
  type Evidence,
  eventOf,
  type Rule,
  type Verdict,
} from '../harness/history/index.ts'
import type { Target } from '../harness/target/index.ts'
import { recordedRules } from '../suites/jobs/rules.ts'
import { storyOf } from '../suites/jobs/story.ts'
import { mostRead } from '../suites/files/rules.ts'
import { relationIds, relationRule } from '../suites/relation-rules.ts'

/** An answered entry in the form that answers of a run are judged in. */
export interface RecordedHttpResponse extends Exchange {
  readonly response: NonNullable<Exchange['response']>
  readonly entry: RecordedEntry
}

function queryOf(url: string): Record<string, string[]> {
  const query = URL.canParse(url) ? new URL(url).searchParams : new URLSearchParams()
  return Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)]))
}

/** @param path under the base URL */
export function recordResponse(
  entry: RecordedEntry,
  path: string,
  redactor: Redactor,
): RecordedHttpResponse {
  const place = operationAt(entry.method, path)
  const sentAt = (entry.startedAt ?? 0) - performance.timeOrigin
  const endedAt = sentAt + entry.durationMs
  const { status, headers, body } = entry
  let recorded: FailureExchange | undefined
  return {
    entry,
    probe: {
      operation: place?.operation ?? null,
      method: entry.method,
      path: place?.path ?? path,
      params: place?.params ?? {},
      query: queryOf(entry.url),
      headers: entry.requestHeaders,
      credential: { shown: '', full: false },
      ...(entry.requestBody.state === 'whole' && { body: entry.requestBody.bytes }),
      effect: 'none',
    },
    purpose: {
      requirement: null,
      role: 'probe',
      // What is not known whole can be no envelope; nor need an answer be one if the interface has no operation.
      ...(place === undefined || body.state !== 'whole'
        ? { skipJudging: 'envelope' as const }
        : {}),
    },
    response: responseOf(
      {
        ...{ kind: 'answer', status, headers, sentAt, endedAt },
        ...{ body: body.bytes, cut: body.state !== 'whole' },
      },
      errorNames,
    ),
    throttled: false,
    // Only the few that are shown are looked through for keys.
    get recorded() {
      return (recorded ??= recordEntry(entry, redactor))
    },
    sentAt,
    endedAt,
  }
}

/** An entry as reports show it: keys removed, bodies cut. */
export function recordEntry(entry: RecordedEntry, redactor: Redactor): FailureExchange {
  const shown: Shown = (line) => ({
    name: redactor.text(line.name.toLowerCase()),
    value: shownHeader(line, redactor),
  })
  const headers = recordHeaders(entry.requestHeaders, shown)
  const request: RecordedRequest = {
    method: redactor.text(entry.method),
    url: shownUrl(entry.url, redactor),
    headers,
    ...recordHarBody(entry.requestBody, redactor),
  }
  const body = recordHarBody(entry.body, redactor)
  const response = { status: entry.status, headers: recordHead(entry.headers, shown), ...body }
  return { request, response, curl: curlOf(request, new Set(['authorization'])) }
}

/** A body that the recording holds in part is shown as such: its length and, if it is known, its SHA-256. */
function recordHarBody({ state, bytes, length, sha256 }: HarBody, redactor: Redactor) {
  const recorded = recordBody(bytes, (text) => redactor.text(withoutSecretMembers(text)))
  if (state === 'whole') return recorded
  const { bodySha256: _ofTheRest, ...rest } = recorded
  return {
    ...rest,
    ...(length === undefined ? {} : { bodyLength: length }),
    ...(sha256 === undefined ? {} : { bodySha256: sha256 }),
  }
}

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
  const ofObjects = relationIds.map((id) => [id, relationRule(id)] as const)
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
