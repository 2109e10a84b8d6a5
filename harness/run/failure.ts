import { sentTwice, type CheckContext } from './check.ts'
import type { Given, Client } from '../client/index.ts'
import { type CatalogueRequirement, granting, ofEveryResponse } from '../../catalogue/catalogue.ts'
import type { Pairs } from '../../catalogue/answers.ts'
import { type OperationId, operation as operationOf } from '../../catalogue/operations.ts'
import {
  describePairs,
  describeProbe,
  describeResponse,
  envelopeRemark,
  type Exchange,
  familyRemark,
  hasStatusOf,
  isThrottling,
  matchPairs,
  NotExercised,
  rerunLine,
  withFinding,
  type Evidence,
  onReusedConnection,
  type PreviousRequest,
} from '../journal/index.ts'
import { curlOfBoth, remarkMark } from '../recording/index.ts'
import { type Failure, type FailureExchange, sections, type TakesState } from '../report/index.ts'

const bareRemark = '; the status is right, but this is not an error envelope: see envelope/shape'

type Cause = Pick<CheckContext, 'client' | 'given' | 'hooks' | 'requirement'>

/** What the report says of an answer, and how to reproduce it. */
export function failureOf(cause: Cause, evidence: Evidence): Failure {
  const { expected, path } = evidence
  const failure =
    typeof expected === 'string'
      ? failureBy(cause, evidence, expected)
      : pairsFailure(cause, evidence, expected)
  return { ...failure, ...(path && { path }) }
}

/** The failures of one piece of evidence: the answer, and the earlier one that it contradicts. */
export function failuresOf(cause: Cause, evidence: Evidence): Failure[] {
  const { against: exchange, expected, what } = evidence
  const failure = failureOf(cause, evidence)
  if (!exchange || typeof expected !== 'string') return [failure]
  return [failure, failureOf(cause, { exchange, expected, what: `${what}, before` })]
}

function pairsFailure(cause: Cause, evidence: Evidence, pairs: Pairs): Failure {
  const { exchange } = evidence
  const { response } = exchange
  if (!response) return failureBy(cause, evidence, describePairs(pairs))
  const isFamily = matchPairs(pairs, response) === 'family'
  const isBare = response.tpe === undefined && hasStatusOf(pairs, response)
  const remark = isFamily
    ? familyRemark(exchange, pairs)
    : isBare
      ? bareRemark
      : envelopeRemark(pairs, response)
  const actual = describeResponse(exchange) + remark
  return {
    ...failureBy(cause, { ...evidence, actual }, describePairs(pairs)),
    toRefuse: true,
    onlyName: isFamily,
  }
}

/** Throws `NotExercised` if the answer may be due to a copy of the request. */
function failureBy(cause: Cause, evidence: Evidence, expected: string): Failure {
  const { given, hooks, requirement } = cause
  const { exchange, what, actual, takes: own } = evidence
  const why = sentTwice(exchange)
  if (why !== undefined) throw new NotExercised(why)
  const asked = [requirement.expects ?? []].flat(2).map(String)
  const isOfStatus = !asked.includes(String(exchange.response?.status))
  // After the sections: it does not tell failures apart.
  const remark = isOfStatus ? hooks.remarkOn(exchange) : ''
  const cites = ` (${sections(requirement.section)})${remark}`
  const isAlone = own === null
  const story = isAlone ? undefined : hooks.storyOf(requirement.id, exchange)
  const state = isAlone ? undefined : hooks.takesState(requirement.id)
  return {
    message: describeProbe(exchange, what),
    expected: expected + cites,
    cites,
    actual: withFinding(exchange, actual ?? describeResponse(exchange)),
    onlyName: false,
    seed: given.options.seed,
    ...(story !== undefined && { story }),
    ...againBy(cause, evidence, state),
    exchange: shownIn(cause, evidence, state),
  }
}

/** What reproduces a failure: required ids, and the state that the request alone does not create. */
function againBy(
  cause: Cause,
  { exchange, shownBy, takes: own }: Evidence,
  state: TakesState | undefined,
): Pick<Failure, 'rerun' | 'rerunIds' | 'takes'> {
  const { finding, purpose } = exchange
  const others =
    own === null
      ? []
      : [
          ...[shownBy, purpose.requirement].filter((id) => typeof id === 'string'),
          ...cause.hooks.rerunNeeds(cause.requirement.id, exchange),
        ]
  const rerunIds = [...new Set([cause.requirement.id, ...others])]
  const isOfLimit = isThrottling(exchange)
  const seen =
    finding?.kind === 'answers-differ' ? 'chance' : isOfLimit ? 'more-requests' : undefined
  const takes = own ?? state ?? seen
  return { ...(takes && { takes }), rerunIds, rerun: rerunLine(cause.given.options, ...rerunIds) }
}

/** The exchange as shown in a failure: its curl line warns if it alone shows something else. */
function shownIn(cause: Cause, evidence: Evidence, state: TakesState | undefined): FailureExchange {
  const recorded = evidence.exchange.recorded()
  const why =
    removedSince(cause.given, recorded) ??
    prepared(cause.given, cause.requirement) ??
    named(evidence.exchange)
  const first = (evidence.before ?? evidence.exchange).recorded()
  const curl = state === 'job-in-progress' ? curlOfBoth(first, recorded) : recorded.curl
  const shown = { ...recorded, curl: why === undefined ? curl : curl + remarkMark + why }
  cause.client.findings.shown.set(shown, evidence.exchange)
  return shown
}

function named(exchange: Exchange): string | undefined {
  const { creates, operation } = exchange.probe
  const isMade =
    creates !== undefined && exchange.response !== undefined && exchange.response.status < 300
  return isMade && operation !== null && operationOf(operation).creates?.hasUniqueName
    ? `${JSON.stringify(creates)} exists now: use another name`
    : undefined
}

/** Warns that an object in the request may be gone: removed by clean-up, or its server has ended. */
function removedSince(
  { objects, options, target }: Given,
  { request: { body, url } }: FailureExchange,
): string | undefined {
  const { endsTarget = false } = options
  const gone = objects.created.find((one) => {
    const { cleanup = [] } = target.operations[one.operation as OperationId] ?? {}
    return (endsTarget || cleanup.length > 0) && (url.includes(one.id) || body.includes(one.id))
  })
  if (!gone) return undefined
  const what = `${gone.operation} made ${gone.id} for this run`
  return endsTarget
    ? `${what}, and its server has ended: the rerun command starts the server and creates the object again`
    : `${what}, and was removed since: the rerun command creates the object again`
}

function prepared(given: Given, requirement: CatalogueRequirement): string | undefined {
  const { before } = given.target.scenarios[requirement.id] ?? { before: [] }
  if (before.length === 0) return undefined
  const [what, them] = before.length === 1 ? ['request', 'it'] : ['requests', 'them']
  return `first comes the scenario's \`before\` ${what}: the rerun command sends ${them} too`
}

/** The requirement of a request that spoiled the answer to another. */
function rowOf(given: Given, request: PreviousRequest, wrong: Exchange): string {
  const granted = request.probe.operation === null ? null : granting(request.probe.operation).id
  const isJudged = (id: string | null): boolean => {
    const entry = id === null ? undefined : given.plan.get(id)
    return entry?.run === true && entry.leftOut === undefined
  }
  const own = [request.purpose.about ?? request.purpose.requirement, granted].find(isJudged)
  return own ?? wrong.purpose.requirement ?? granted ?? ofEveryResponse
}

/** The failures of requests that spoiled their connections, by requirement. */
export function spoilersBlamed(client: Client, given: Given): Map<string, Failure> {
  const found = new Map<string, Failure>()
  for (const { wrong, fresh } of client.findings.spoiled.values()) {
    const before = wrong.previousRequest!
    if (!before.recorded) continue
    const first = before.recorded()
    const { id, failure } = blamed(given, before, wrong, first)
    if (found.has(id)) continue
    const unread =
      first.request.body === ''
        ? ''
        : '; does the server read the body of the first request completely?'
    found.set(id, {
      ...failure,
      message: `${failure.message} on the same connection`,
      expected: `the second request is answered as on a fresh connection: ${describeResponse(fresh)}`,
      actual: `${onReusedConnection}${describeResponse(wrong)}${unread}`,
      connection: 'reused',
    })
  }
  return found
}

/** The failure of a request after which the next one is answered wrongly, on whatever connection. */
export function blamed(
  given: Given,
  before: PreviousRequest,
  wrong: Exchange,
  first: FailureExchange,
): { readonly id: string; readonly failure: Failure } {
  const id = rowOf(given, before, wrong)
  const ids = [id, ...(wrong.purpose.requirement === null ? [] : [wrong.purpose.requirement])]
  const next = wrong.recorded()
  const failure: Failure = {
    message: `${first.request.method} ${first.request.url}, and then ${next.request.method} ${next.request.url}`,
    expected: 'the second request is answered as it is without the first',
    actual: `wrong only after the first one: ${describeResponse(wrong)}`,
    onlyName: false,
    seed: given.options.seed,
    rerunIds: [...new Set(ids)],
    rerun: rerunLine(given.options, ...ids),
    exchange: { ...next, curl: curlOfBoth(first, next) },
  }
  return { id, failure }
}
