import {
  type HttpResponse,
  type Exchange,
  describeResponse,
  type Evidence,
  type Verdict,
  isExpected,
  isSettling,
  countsAsGranted,
  differing,
  sentFor,
  open,
} from '../../harness/journal/index.ts'
import { validate } from '../../schemas/validate.ts'
import {
  type Pairs,
  oversized,
  type Pair,
  mayCarry,
  codeNames,
  listedTypes,
  keyFits,
} from '../../catalogue/answers.ts'
import {
  acceptedPairs,
  type RequirementId,
  findRequirement,
  granting,
} from '../../catalogue/catalogue.ts'
import { operationOf, additionOperation, uploadOperation } from '../../catalogue/operations.ts'
import { member } from '../../schemas/json.ts'
import { groupBy } from '../../harness/group-by.ts'
import { perRun, type Judge } from '../../harness/run/index.ts'
import { type Client, type Given, isOwnBreakdown } from '../../harness/client/index.ts'
import { breakdownAnyway } from './valid-request.ts'
import { otherApplications } from '../../harness/target/index.ts'

/** What an answer must be, and what is wrong with it; undefined if it is no case of the requirement. */
type AnswerRule = (
  response: HttpResponse,
  exchange: Exchange,
) => { readonly expected: string; readonly actual?: string | (() => string) } | undefined

const envelopeShape: AnswerRule = (response, exchange) => {
  if (response.status < 400 || exchange.purpose.skipJudging) return undefined
  const expected = 'a JSON error envelope with tpe, errors and extras'
  const json = response.json()
  // Described lazily: most answers are never shown.
  if (!json.ok)
    return { expected, actual: () => `${describeResponse(exchange)}${gatewayRemark(response)}` }
  const found = validate('error-envelope', json.value)
  if (found.valid) return { expected }
  return { expected, actual: `${response.status}, but ${found.problem}${gatewayRemark(response)}` }
}

function gatewayRemark(response: HttpResponse): string {
  if (![429, 502, 503, 504].includes(response.status) || response.tpe !== undefined) return ''
  const server = response.header('server')
  const who = server === undefined ? '' : ` (Server: ${server.slice(0, 80)})`
  return `; if a gateway answered${who}, make it return an envelope too`
}

/** §7.3 lists it for reading a deleted file; other operations name files, too. */
const deletedFile: Pairs = [[410, 'ResourceNotFound']]

const statusTpePair: AnswerRule = (response, exchange) => {
  const { status, tpe } = response
  const { operation } = exchange.probe
  // A missing tpe violates the shape instead.
  if (status < 400 || exchange.purpose.skipJudging || tpe === undefined) return undefined
  // Pairs of other requirements are allowed; any request may be too large (§8), or name a deleted file.
  const expected = `a tpe that is allowed with status ${status}`
  if (mayCarry(operation, status, tpe)) return { expected }
  const others = [acceptedPairs(operation), oversized, deletedFile, exchange.purpose.expects]
  const isOf = ([of]: Pair): boolean => of === status
  const isNamed = (pairs: Pairs = []): boolean =>
    pairs.some((pair) => isOf(pair) && pair.includes(tpe, 1))
  if (others.some(isNamed)) return { expected }
  const named = others.flatMap((pairs = []) => pairs.filter(isOf).flatMap(([, ...names]) => names))
  const all = [...(codeNames[status] ?? []), ...listedTypes(operation, status), ...named]
  return {
    expected: `${expected}: ${[...new Set(all)].join(' or ')}`,
    actual: `${status} ${tpe}`,
  }
}

const contentType: AnswerRule = (response, { probe }) => {
  const { showsSuccess = false } = probe.operation === null ? {} : operationOf(probe.operation)
  const isSuccess = showsSuccess && response.status >= 200 && response.status < 300
  if (response.status < 400 && !isSuccess) return undefined
  const expected = 'Content-Type: application/json'
  const type = response.header('content-type')
  if (type === undefined) return { expected, actual: 'no Content-Type' }
  const isJson = /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)
  return isJson ? { expected } : { expected, actual: `Content-Type: ${type.slice(0, 80)}` }
}

const messageKeys: AnswerRule = (response, { probe }) => {
  const { status, tpe } = response
  const json = response.json()
  if (status < 400 || !json.ok || tpe === undefined || !response.isEnvelope) return undefined
  const expected = 'a message key that §7.1 shows with this tpe, or for a status of this kind'
  let isKnown = false
  for (const error of member(json.value, 'errors') as readonly unknown[]) {
    const key = member(error, 'key')
    const fits =
      typeof key === 'string' ? keyFits(key, probe.operation, { status, tpe }) : undefined
    if (fits === false) return { expected, actual: `key ${String(key)} with ${status} ${tpe}` }
    isKnown ||= fits === true
  }
  return isKnown ? { expected } : undefined
}

const badInput: AnswerRule = (response, exchange) => {
  if (!exchange.purpose.badInput) return undefined
  const expected = 'no 5xx to bad input'
  if (response.isBreakdown) return { expected, actual: String(response.status) }
  // 503, full storage and model errors are transient, whatever the input.
  return response.status < 500 ? { expected } : undefined
}

const rules = {
  'envelope/shape': envelopeShape,
  'envelope/status-tpe-pair': statusTpePair,
  'envelope/content-type': contentType,
  'envelope/message-keys': messageKeys,
  'envelope/bad-input-no-5xx': badInput,
} satisfies Partial<Record<RequirementId, AnswerRule>>
type ObservedRequirement = keyof typeof rules

export const observedRequirements = Object.keys(rules) as ObservedRequirement[]

/** Judges an answer by a requirement, if that applies; `actual` is set if wrong. */
export function observedCase(requirement: ObservedRequirement, exchange: Exchange) {
  const { response, purpose } = exchange
  if (!response || purpose.skipJudging === 'at all') return undefined
  return rules[requirement](response, exchange)
}

const talliesOf = perRun(() =>
  observedRequirements.map((id) => ({ id, cases: 0, failures: [] as Evidence[] })),
)

/** Failures kept per requirement and operation: some may turn out inconclusive, or those of a connection. */
const maxKept = 4

export function watchEnvelope(client: Client, exchange: Exchange): void {
  for (const tally of talliesOf(client)) {
    const seen = observedCase(tally.id, exchange)
    if (!seen) continue
    tally.cases++
    const { expected, actual } = seen
    if (actual === undefined) continue
    const isOfSame = (one: Evidence) => one.exchange.probe.operation === exchange.probe.operation
    if (tally.failures.filter(isOfSame).length >= maxKept) continue
    const shownBy = exchange.purpose.requirement
    tally.failures.push({
      exchange,
      expected,
      shownBy,
      what: shownBy === null ? '' : `(sent for ${shownBy})`,
      actual: typeof actual === 'string' ? actual : actual(),
    })
  }
}

const maxShown = 3

/** Judges an observed requirement by all answers of the run; must be called last. */
export const byAllAnswers: Judge = async ({ client, given, requirement }): Promise<Verdict> => {
  const { cases, failures } = talliesOf(client).find((one) => one.id === requirement.id)!
  const { spoiledAnswers } = client.findings
  const own: Evidence[] = []
  for (const failure of failures) {
    const response = failure.exchange.response!
    const isElsewhere = async (): Promise<boolean> =>
      failure.exchange.isOfGateway === true ||
      (await breakdownAnyway(client, given, failure.exchange)) !== undefined
    if (spoiledAnswers.has(response)) continue
    const isOfInput = requirement.id === 'envelope/bad-input-no-5xx'
    if (!isOfInput || !(await isElsewhere())) own.push(failure)
  }
  const [first, ...more] = own.slice(0, maxShown)
  if (first) return { outcome: 'broken', cases, evidence: [first, ...more] }
  const { ended } = client.life
  if (ended) return open(ended.reason)
  if (cases > 0) return { outcome: 'held', cases }
  return open('this run produced no answer to check')
}

interface Answers {
  granted: number
  readonly broken: Exchange[]
  /** Refused since the last one was granted, perhaps for a reason that goes on. */
  readonly refused: Exchange[]
  /** Errors right after an invalid request on their connection, which it may have spoiled. */
  readonly suspect: Suspect[]
}

interface Suspect {
  readonly exchange: Exchange
  /** Made at once: an exchange that is right for another requirement does not keep its previous request. */
  readonly order: string
}

const answersIn = perRun(() => new Map<string, Answers>())

/** Operations that were granted right after an invalid request on their connection, with what that was sent for. */
const unspoiledIn = perRun(() => new Set<string>())
const orderOf = ({ probe, previousRequest }: Exchange): string =>
  `${probe.operation} after ${sentFor(previousRequest!)}`

const longest = 10_000

/**
 * Identifies a request that must be accepted; undefined if it may be refused. Each creation is unique, but for its label; a
 * file that is made unique has another length.
 */
function nameOf(given: Given, { probe, purpose, sentAt }: Exchange): string | undefined {
  const { operation, path, params, query, headers, body = '', credential, effect, fault } = probe
  const { requirement, role, isSuccess, badInput, skipJudging, skipPassive } = purpose
  const isOfGranted = requirement !== null && findRequirement(requirement)?.expects === '2xx'
  const isMeant = role === 'control' || role === 'setup' || isSuccess !== undefined || isOfGranted
  // A change that leaves a request valid has a name, too. Of creations, no two are the same request.
  const isFaulty = fault !== undefined && !(isOfGranted && effect !== 'creates')
  const isOdd = badInput ?? skipPassive ?? skipJudging ?? isFaulty
  if (!credential.full || !isMeant || isOdd || body.length > longest) return undefined
  if (requirement !== null && given.target.scenarios[requirement]) return undefined
  const since = sentAt - given.target.limits.settleMs
  if (Object.values(params).some((id) => (given.objects.madeAt.get(id) ?? -Infinity) > since))
    return undefined
  const label = headers.find((one) => one.name.toLowerCase() === 'content-type')?.value
  const { length } = operation === uploadOperation ? body : ''
  if (effect === 'creates') return JSON.stringify([operation, path, params, label, length])
  return `${JSON.stringify([operation, path, params, query, headers])} ${String(body)}`
}

/** Refusals for which no state explains that the same request is granted at other times. */
const refusals = new Set([400, 404, 410, 422])

/**
 * Whether it was the first addition of a file that was uploaded once, and to no graph: a file may be in one graph only. A new
 * one may also conflict because it is still processed, unless the answer says that it was added.
 */
function isFirstAddition(client: Client, exchange: Exchange): boolean {
  const event = client.journal.events.at(-1)
  if (event?.exchange !== exchange || event.operation !== additionOperation) return false
  if (isSettling(client.known, exchange) && !countsAsGranted(exchange)) return false
  const [upload, ...others] = client.journal.of(event.object ?? '')
  const isPlain = upload?.operation === uploadOperation && upload.within === undefined
  return isPlain && others.every((one) => one === event)
}

const namesIn = perRun(() => new Set<string>())

/**
 * A valid request that is refused or crashes the server now and then fails the requirement for valid requests of its
 * operation, wherever it was sent, except when its connection is to blame.
 */
export function noteSteady(client: Client, exchange: Exchange, given: Given): void {
  const { creates, effect, operation, query } = exchange.probe
  if (operation === null) return
  const names = namesIn(client)
  const { busy, creates: created } = operationOf(operation)
  const isNewName = creates !== undefined && !names.has(creates)
  if (isNewName) names.add(creates)
  const { status = 0, isBlock = false, isEnvelope = false } = exchange.response ?? {}
  // What was never asked for before cannot exist.
  const isNew =
    (isNewName && created?.hasUniqueName === true) ||
    (status === 409 && isFirstAddition(client, exchange))
  const leavesNothing = isNew || effect === 'none' || effect === 'generates'
  // A server may refuse known bytes; but these are not known if another file like them is granted later. A new graph to
  // attach to may be missing.
  const isNewFile = operation === uploadOperation && isNewName && query.graphId === undefined
  // An invalid request may have spoiled the connection.
  const { probe: before, purpose } = exchange.previousRequest ?? {}
  const isBehindFault = before?.fault !== undefined || purpose?.expects || purpose?.badInput
  // No state explains an error with the status of a success, or a refusal of the full key.
  const isUnexplained = (isEnvelope && status < 300) || status === 401
  const isConflict = status === 409 && (effect !== 'generates' || busy === undefined)
  const isRefusal = (leavesNothing || isNewFile) && (refusals.has(status) || isConflict)
  // Another error may have a reason that goes on, such as a right that was lost.
  const isOther =
    isEnvelope &&
    status > 401 &&
    status < 500 &&
    !refusals.has(status) &&
    ![409, 429].includes(status)
  const isWanted = (): boolean =>
    exchange.response !== undefined && isExpected(exchange.purpose.expects, exchange.response)
  const isError = (isUnexplained || isRefusal || isOther) && !isBlock && !isWanted()
  const isBroken = isOwnBreakdown(exchange) || (isError && !isBehindFault)
  const mayGoOn = isOther || (isRefusal && isNewFile)
  const isSuspect = isError && isEnvelope && !mayGoOn && !isBroken
  if (!isBroken && !isSuspect && !countsAsGranted(exchange)) return
  const name = nameOf(given, exchange)
  if (name === undefined) return
  const all = answersIn(client)
  const known = all.get(name) ?? { granted: 0, broken: [], refused: [], suspect: [] }
  all.set(name, known)
  if (isSuspect) known.suspect.push({ exchange, order: orderOf(exchange) })
  else if (isBroken) (mayGoOn ? known.refused : known.broken).push(exchange)
  else {
    known.granted++
    if (isBehindFault) unspoiledIn(client).add(orderOf(exchange))
    known.broken.push(...known.refused.splice(0))
  }
}

export async function failUnsteady(client: Client, given: Given): Promise<void> {
  const { onTraffic, spoiledAnswers, spoilers } = client.findings
  const { resources } = given.target
  const all = [...answersIn(client).values()]
  const suspects = all.flatMap(({ granted, suspect }) => (granted > 0 ? suspect : []))
  const byOperation = groupBy(suspects, ({ exchange }) => exchange.probe.operation)
  // A request that spoils its connection does so each time, and hardly a second kind does so, too.
  const isUnspoiled = ({ exchange, order }: Suspect): boolean =>
    unspoiledIn(client).has(order) ||
    byOperation.get(exchange.probe.operation)?.some((other) => other.order !== order) === true
  for (const { granted, broken, suspect } of all) {
    const unspoiled = spoilers.size > 0 ? [] : suspect.filter(isUnspoiled)
    const [wrong, ...more] = [...broken, ...unspoiled.map(({ exchange }) => exchange)].filter(
      (one) => !spoiledAnswers.has(one.response!) && !(spoilers.size > 0 && one.previousRequest),
    )
    const requirement = wrong && granting[wrong.probe.operation!]
    if (!requirement || onTraffic.has(requirement.id)) continue
    // No control uploads a PDF or uses another application: if that crashes the server each time, nothing else shows it.
    const { operation, params } = wrong.probe
    const isOther = otherApplications.some(
      (name) => resources[name]?.id === params['application_id'],
    )
    const isOwnKind = operation === uploadOperation || (operation === 'jobs.create' && isOther)
    if (granted === 0 && !(isOwnKind && isOwnBreakdown(wrong))) continue
    const words = [wrong, ...more].map(describeResponse)
    const finding = differing([...words, ...Array<string>(granted).fill('granted')])
    const what = wrong.purpose.what ?? 'with a valid request'
    const exchange = granted === 0 ? wrong : { ...wrong, finding }
    onTraffic.set(requirement.id, { exchange, what, expected: '2xx, each time' })
  }
}
