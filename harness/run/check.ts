import { type CatalogueRequirement, granting, ofEveryResponse } from '../../catalogue/catalogue.ts'
import type { Given } from '../client/index.ts'
import type { CheckContext, Later } from './run.ts'
import {
  type Exchange,
  type Verdict,
  describeResponse,
  matchPairs,
  mayConflictWithCopy,
  sentFor,
  type Evidence,
  describePairs,
  describeProbe,
  envelopeRemark,
  familyRemark,
  hasStatusOf,
  isThrottling,
  rerunLine,
  withFinding,
  onReusedConnection,
  open,
  type PreviousRequest,
} from '../journal/index.ts'
import { haveStatus, isModelError, type Pairs } from '../../catalogue/answers.ts'
import { type SchemaName, validate } from '../../schemas/validate.ts'
import {
  type Reason,
  type Failure,
  type FailureExchange,
  sections,
  type TakesState,
} from '../report/index.ts'
import { type OperationId, operationOf } from '../../catalogue/operations.ts'
import { curlOfBoth, remarkMark } from '../recording/recorder.ts'

/** Judges, and once more at the end of the run if more is asked for there. */
export async function againAtEnd(
  judge: (isEnd: boolean) => Promise<Verdict>,
): Promise<Verdict | Later> {
  const verdict = await judge(false)
  if (verdict.outcome !== 'asks') return verdict
  return { outcome: 'later', cases: verdict.cases, judge: () => judge(true) }
}

export type Compared = 'held' | 'name' | 'broken' | { readonly why: string }

export function comparePairs(
  context: CheckContext,
  exchange: Exchange,
  pairs: Pairs,
  control = context.client.journal.controls.get(context.requirement.id) ?? 'none',
): Compared {
  const { given } = context
  const { isOwnLimit, response, throttled } = exchange
  if (!response)
    return control === 'granted' && exchange.unansweredTimes !== undefined
      ? 'broken'
      : { why: describeResponse(exchange) }
  // Throttling says nothing about a fault, unless a scenario asks for it. No limit has the name of the other status, or
  // the model error that it expects.
  const isNamed = pairs.some(
    ([status, ...names]) =>
      (status === 429 || status === 503 || isModelError(response.tpe)) &&
      names.includes(response.tpe!),
  )
  const isAskedFor = !isOwnLimit && haveStatus(pairs, 429, 503)
  if (throttled && !isAskedFor && !isNamed)
    return { why: `throttled: ${describeResponse(exchange)} on every try` }
  const match = matchPairs(pairs, response)
  if (match === 'exact' || (match === 'family' && given.options.tpe === 'family')) return 'held'
  const isFull = haveStatus(pairs, 507) ? undefined : storageFull(given, exchange)
  // A control would have shown that before.
  const isAlone = match === 'none' && control === 'none' && given.options.readOnly
  const why = isFull ?? (isAlone ? lacksRight(exchange) : undefined) ?? sentTwice(exchange)
  if (why !== undefined) return { why }
  return match === 'family' ? 'name' : 'broken'
}

function lacksRight(exchange: Exchange): string | undefined {
  const isBarred =
    exchange.response?.status === 403 && exchange.response.tpe === 'InsufficientAccessRights'
  return isBarred && exchange.probe.credential.full
    ? 'the full key lacks a right (403 InsufficientAccessRights): use a key with all rights'
    : undefined
}

/** Undefined if no copy of it may be the reason for its answer. */
function sentTwice(exchange: Exchange): string | undefined {
  if (!mayConflictWithCopy(exchange)) return undefined
  return `it was sent twice (${describeResponse(exchange.unanswered!)} at first), and got 409: the first one may have had its effect`
}

/** Says that what this run made has filled the account: before, 507 is an answer like any other. */
function storageFull(given: Given, exchange: Exchange): string | undefined {
  const { probe, response } = exchange
  const isFull = response?.status === 507 && response.tpe !== undefined
  return isFull && given.objects.created.some((one) => one.operation === probe.operation)
    ? `the account of the full key is now full: answered ${describeResponse(exchange)}`
    : undefined
}

/** Why there is no answer to judge; undefined if there is one. */
export function whySilent(exchange: Exchange): string | undefined {
  if (exchange.throttled) return `throttled: ${describeResponse(exchange)} on every try`
  return exchange.response ? undefined : describeResponse(exchange)
}

/** What is wrong with an answer, or why it says nothing about the target. */
export type Finding = (Pick<Evidence, 'actual'> & { readonly expected: string }) | Reason

export function grantedFinding(
  context: Pick<CheckContext, 'given' | 'requirement'>,
  exchange: Exchange,
  expected: string,
): Finding | undefined {
  const { expects } = context.requirement
  const { response } = exchange
  const isOneStatus = typeof expects === 'number'
  const fault = { expected: isOneStatus && expected === '2xx' ? String(expects) : expected }
  if (exchange.unansweredTimes !== undefined) return fault
  const reason = whySilent(exchange) ?? lacksRight(exchange) ?? storageFull(context.given, exchange)
  if (reason !== undefined) return { reason }
  const isRight = response!.isGranted && (!isOneStatus || response!.status === expects)
  return isRight ? undefined : fault
}

export type BodySchema = Exclude<SchemaName, 'report' | 'target' | 'certificate' | 'baseline'>

const bodyNames: Readonly<Record<BodySchema, string>> = {
  'llm-tool-completion': 'a chat completion with an llm tool',
  job: 'a job',
  'created-job': 'a created job',
  'pdf-content': 'the content of a PDF',
  'error-envelope': 'an error envelope',
  'chat-completion': 'a chat completion',
  'medical-entities': 'a list of medical entities',
}

/** What is wrong with a body that is not JSON or does not fit the schema. A success over the read limit says nothing. */
export function shapeFinding(
  exchange: Pick<Exchange, 'response'>,
  schema: BodySchema,
): Finding | undefined {
  const response = exchange.response!
  const json = response.json()
  const expected = `a JSON body with the members and types of ${bodyNames[schema]}`
  if (!json.ok && json.unread && response.isGranted) return { reason: json.problem }
  if (!json.ok) return { expected, actual: `${response.status}, but ${json.problem}` }
  const found = validate(schema, json.value)
  return found.valid ? undefined : { expected, actual: `${response.status}, but ${found.problem}` }
}

/**
 * The verdict of a rule over the whole history, which has shown that the state existed: of its evidence, the first
 * decisive answer, and one with another name of the right family. Open if one says nothing.
 */
export function judgeEvidence(context: CheckContext, verdict: Verdict): Verdict {
  if (verdict.outcome !== 'broken') return verdict
  const { spoiledAnswers, spoilers } = context.client.findings
  let named: Evidence | undefined
  for (const evidence of verdict.evidence) {
    const { exchange, expected } = evidence
    // Another requirement fails for the request that spoiled it.
    const isTrial = exchange.purpose.skipJudging === 'at all'
    if (isTrial || spoiledAnswers.has(exchange.response ?? exchange)) continue
    if (exchange.previousRequest && spoilers.has(sentFor(exchange.previousRequest))) continue
    if (typeof expected === 'string') return { ...verdict, evidence: [evidence] }
    const found = comparePairs(context, exchange, expected, 'granted')
    if (typeof found === 'object') return open(found.why)
    // Another answer may be wrong in more than its name.
    if (found === 'broken') return { ...verdict, evidence: named ? [evidence, named] : [evidence] }
    if (found === 'name') named ??= evidence
  }
  return named ? { ...verdict, evidence: [named] } : { outcome: 'held', cases: verdict.cases }
}

export function fits(exchange: Exchange, schema: SchemaName): boolean {
  const json = exchange.response?.json()
  return json?.ok === true && validate(schema, json.value).valid
}

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

/** Why evidence shows nothing: an answer may be due to a copy of its request. */
export function whyUnsure(evidence: readonly Evidence[]): string | undefined {
  const exchanges = evidence.flatMap((one) => [one.exchange, one.against ?? one.exchange])
  return exchanges.map(sentTwice).find((why) => why !== undefined)
}

/** The failures of one piece of evidence: the answer, and the earlier one that it contradicts. */
export function failuresOf(cause: Cause, evidence: Evidence): Failure[] {
  const { against: exchange, expected, what = '' } = evidence
  const failure = failureOf(cause, evidence)
  if (!exchange || typeof expected !== 'string') return [failure]
  return [failure, failureOf(cause, { exchange, expected, what: `${what}, before` })]
}

function pairsFailure(cause: Cause, evidence: Evidence, pairs: Pairs): Failure {
  const { exchange } = evidence
  if (!exchange.response) return failureBy(cause, evidence, describePairs(pairs))
  const { actual, onlyName } = misfitOf(exchange, pairs)
  return {
    ...failureBy(cause, { ...evidence, actual }, describePairs(pairs)),
    toRefuse: true,
    onlyName,
  }
}

/** What a wrong answer is called, and whether only its code name is wrong. */
export function misfitOf(exchange: Exchange, pairs: Pairs) {
  const response = exchange.response!
  const onlyName = matchPairs(pairs, response) === 'family'
  const isBare = response.tpe === undefined && hasStatusOf(pairs, response)
  const remark = onlyName
    ? familyRemark(exchange, pairs)
    : isBare
      ? bareRemark
      : envelopeRemark(pairs, response)
  return { actual: describeResponse(exchange) + remark, onlyName }
}

function failureBy(cause: Cause, evidence: Evidence, expected: string): Failure {
  const { given, hooks, requirement } = cause
  const { exchange, what = '', actual, takes: own } = evidence
  const asked = [requirement.expects ?? []].flat(2).map(String)
  const isOfStatus = !asked.includes(String(exchange.response?.status))
  // After the sections: it does not tell failures apart.
  const remark = isOfStatus ? hooks.remarkOn(exchange) : ''
  const cites = ` (${sections(requirement.section)})${remark}`
  const state = own === null ? undefined : hooks.takesState(requirement.id)
  return {
    message: describeProbe(exchange, what),
    expected: expected + cites,
    cites,
    actual: withFinding(exchange, actual ?? describeResponse(exchange)),
    onlyName: false,
    seed: given.options.seed,
    ...againBy(cause, evidence, state),
    exchange: shownIn(cause, evidence, state),
  }
}

/** What reproduces a failure: required ids, and the state that the request alone does not create. */
function againBy(
  cause: Cause,
  evidence: Evidence,
  state: TakesState | undefined,
): Pick<Failure, 'rerun' | 'rerunIds' | 'takes'> {
  const { exchange, shownBy, takes: own } = evidence
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
  const isOfConnection = finding?.kind === 'remembers-key'
  const seen = isOfConnection ? 'earlier-requests' : isOfLimit ? 'more-requests' : undefined
  const takes = own ?? state ?? (finding?.kind === 'answers-differ' ? 'chance' : seen)
  return { ...(takes && { takes }), rerunIds, rerun: rerunLine(cause.given.options, ...rerunIds) }
}

/** The exchange as shown in a failure: its curl line warns if it alone shows something else. */
function shownIn(cause: Cause, evidence: Evidence, state: TakesState | undefined): FailureExchange {
  const recorded = evidence.exchange.recorded()
  const why =
    removedSince(cause.given, recorded) ??
    prepared(cause.given, cause.requirement) ??
    takenName(evidence.exchange)
  const first = (evidence.before ?? evidence.exchange).recorded()
  const curl = state === 'job-in-progress' ? curlOfBoth(first, recorded) : recorded.curl
  const shown = { ...recorded, curl: why === undefined ? curl : curl + remarkMark + why }
  cause.client.findings.shown.set(shown, evidence.exchange)
  return shown
}

function takenName(exchange: Exchange): string | undefined {
  const { creates, operation } = exchange.probe
  const isMade =
    creates !== undefined && exchange.response !== undefined && exchange.response.status < 300
  return isMade && operation !== null && operationOf(operation).creates?.hasUniqueName
    ? `${JSON.stringify(creates)} exists now: use another name`
    : undefined
}

/** Warns that an object in the request may be gone: removed by clean-up, or its server has ended. */
function removedSince(given: Given, exchange: FailureExchange): string | undefined {
  const { endsTarget = false } = given.options
  const { body, url } = exchange.request
  const gone = given.objects.created.find((one) => {
    const { cleanup = [] } = given.target.operations[one.operation as OperationId] ?? {}
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

/** Whether it has an outcome of its own: it was not left out, as when it was only sent for `envelope/`. */
export function isJudged(given: Given, id: string | null): id is string {
  const entry = id === null ? undefined : given.plan.get(id)
  return entry?.run === true && entry.leftOut === undefined
}

/** The requirement of a request that spoiled the answer to another; undefined if none of them is judged. */
function blamedRequirement(given: Given, request: PreviousRequest, wrong: Exchange) {
  const { probe, purpose } = request
  const granted = probe.operation === null ? null : granting[probe.operation].id
  const own = [purpose.about ?? purpose.requirement, granted]
  return [...own, wrong.purpose.requirement, ofEveryResponse].find((id) => isJudged(given, id))
}

/** The failure of a request that spoiled its connection; undefined without a record of it. */
export function spoilerBlamed(given: Given, wrong: Exchange, fresh: Exchange) {
  const before = wrong.previousRequest!
  if (!before.recorded) return undefined
  const first = before.recorded()
  const found = blamed(given, before, wrong, first)
  if (!found) return undefined
  const { id, failure } = found
  const unread =
    first.request.body === ''
      ? ''
      : '; does the server read the body of the first request completely?'
  const onConnection: Failure = {
    ...failure,
    message: `${failure.message} on the same connection`,
    expected: `the second request is answered as on a fresh connection: ${describeResponse(fresh)}`,
    actual: `${onReusedConnection}${describeResponse(wrong)}${unread}`,
    connection: 'reused',
  }
  return { id, failure: onConnection }
}

/** The failure of a request after which the next one is answered wrongly, on whatever connection; undefined if no row is to blame. */
export function blamed(
  given: Given,
  before: PreviousRequest,
  wrong: Exchange,
  first: FailureExchange,
): { readonly id: string; readonly failure: Failure } | undefined {
  const id = blamedRequirement(given, before, wrong)
  if (id === undefined) return undefined
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
