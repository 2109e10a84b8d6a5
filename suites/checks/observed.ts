import { type Client, type Given, isOwnBreakdown } from '../../harness/client/index.ts'
import { oversized, type Pairs } from '../../catalogue/expected.ts'
import { operation, operations } from '../../catalogue/operations.ts'
import { member } from '../../schemas/json.ts'
import { validate } from '../../schemas/validate.ts'
import {
  acceptedPairs,
  type RequirementId,
  findRequirement,
  granting,
} from '../../catalogue/catalogue.ts'
import { breakdownAnyway } from './control.ts'
import { keyFits, mayCarry } from '../../catalogue/errors.ts'
import {
  describeResponse,
  type Exchange,
  type HttpResponse,
  isBreakdown,
  type Evidence,
  type Verdict,
  differing,
  isBlocked,
  countsAsGranted,
  headBytes,
  isPage,
  pathOf,
  type Probe,
} from '../../harness/journal/index.ts'
import { perRun, type Judge, isPlanned, askHolding } from '../../harness/run/index.ts'
import { targetReason } from '../../harness/report/index.ts'
import { placeholderDraft } from './valid-request.ts'
import { unknownWord } from './values.ts'

interface Tally {
  cases: number
  readonly failures: Evidence[]
}

/** Failures kept per requirement: some may turn out to be those of a connection. */
const maxKept = 12
/** Failures kept per operation, at least: a single one may turn out to be inconclusive. */
const maxOfOne = 2

function isToKeep(tally: Tally, { probe: { operation } }: Exchange): boolean {
  const isOfOne = (failure: Tally['failures'][number]): boolean =>
    failure.exchange.probe.operation === operation
  return tally.failures.length < maxKept || tally.failures.filter(isOfOne).length < maxOfOne
}

type AnswerRule = (
  response: HttpResponse,
  exchange: Exchange,
) => { expected: string; actual?: string | (() => string) } | undefined

const isError = (response: HttpResponse): boolean => response.status >= 400

const envelopeShape: AnswerRule = (response, exchange) => {
  const expected = 'a JSON error envelope with tpe, errors and extras'
  const json = response.json()
  // Described lazily: most answers are never shown.
  if (!json.ok)
    return { expected, actual: () => `${describeResponse(exchange)}${gatewayRemark(response)}` }
  const found = validate('error-envelope', json.value)
  if (found.valid) return { expected }
  return { expected, actual: `${response.status}, but ${found.problem}${gatewayRemark(response)}` }
}

const ofGateways: readonly number[] = [429, 502, 503, 504]

function gatewayRemark(response: HttpResponse): string {
  if (!ofGateways.includes(response.status) || response.tpe !== undefined) return ''
  const server = response.header('server')
  const who = server === undefined ? '' : ` (Server: ${server.slice(0, 80)})`
  return `; if a gateway answered${who}, make it return an envelope too`
}

function isNamed(pairs: Pairs, status: number, tpe: string): boolean {
  return pairs.some(([of, ...names]) => of === status && names.includes(tpe))
}

/** §7.3 lists it for reading a deleted file; other operations name files, too. */
const deletedFile: Pairs = [[410, 'ResourceNotFound']]

const statusTpePair: AnswerRule = (response, one) => {
  const tpe = response.tpe
  // A missing tpe violates the shape instead.
  if (tpe === undefined) return undefined
  const expected = `a tpe that is allowed with status ${response.status}`
  const { operation } = one.probe
  if (mayCarry(operation, response.status, tpe)) return { expected }
  // Pairs of other requirements are allowed; any request may be too large (§8), or name a deleted file.
  const accepted = [acceptedPairs(operation), oversized, deletedFile, one.purpose.expects ?? []]
  return accepted.some((pairs) => isNamed(pairs, response.status, tpe))
    ? { expected }
    : { expected, actual: `${response.status} ${tpe}` }
}

const contentType: AnswerRule = (response, one) => {
  const { showsSuccess = false } =
    one.probe.operation === null ? {} : operation(one.probe.operation)
  const success = showsSuccess && response.status >= 200 && response.status < 300
  if (!isError(response) && !success) return undefined
  const expected = 'Content-Type: application/json'
  const type = response.header('content-type')
  const json = /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type ?? '')
  return json
    ? { expected }
    : {
        expected,
        actual: type === undefined ? 'no Content-Type' : `Content-Type: ${type.slice(0, 80)}`,
      }
}

const messageKeys: AnswerRule = (response, one) => {
  const json = response.json()
  const tpe = response.tpe
  if (!isError(response) || !json.ok || tpe === undefined || !response.isEnvelope) return undefined
  let known = 0
  let wrong: string | undefined
  for (const error of member(json.value, 'errors') as unknown[]) {
    const key = member(error, 'key')
    const { status } = response
    const fits =
      typeof key === 'string' ? keyFits(key, one.probe.operation, { status, tpe }) : undefined
    if (fits !== undefined) known++
    if (fits === false) wrong ??= key as string
  }
  if (known === 0) return undefined
  const expected = 'a message key that §7.1 shows with this tpe, or for a status of this kind'
  return wrong === undefined
    ? { expected }
    : { expected, actual: `key ${wrong} with ${response.status} ${tpe}` }
}

const badInput: AnswerRule = (response, one) => {
  if (!one.purpose.badInput) return undefined
  const expected = 'no 5xx to bad input'
  if (isBreakdown(response)) return { expected, actual: String(response.status) }
  // 503, full storage and model errors are transient, whatever the input.
  return response.status < 500 ? { expected } : undefined
}

function ofErrors(rule: AnswerRule): AnswerRule {
  return (response, exchange) =>
    isError(response) && !exchange.purpose.skipJudging ? rule(response, exchange) : undefined
}

const rules = {
  'envelope/shape': ofErrors(envelopeShape),
  'envelope/status-tpe-pair': ofErrors(statusTpePair),
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

function createEnvelopeWatch() {
  const tallies = new Map<ObservedRequirement, Tally>(
    observedRequirements.map((requirement) => [requirement, { cases: 0, failures: [] }]),
  )
  const broken = new Set<string>()
  const sound = new Set<string | null>()
  const nameOf = (exchange: Exchange): string =>
    `${exchange.probe.operation} ${exchange.response?.status}`
  return {
    /**
     * Whether the operation accepted nothing, and gave valid requests that status too: then the input is not the cause.
     */
    breaksAnyway: (exchange: Exchange): boolean =>
      broken.has(nameOf(exchange)) && !sound.has(exchange.probe.operation),
    tally: (requirement: ObservedRequirement) => tallies.get(requirement) as Tally,
    observe(exchange: Exchange): void {
      const { response, purpose } = exchange
      if (!response || purpose.skipJudging === 'at all') return
      if (purpose.isSuccess && response.status < 300) sound.add(exchange.probe.operation)
      if (purpose.isSuccess && response.status >= 500) broken.add(nameOf(exchange))
      for (const requirement of observedRequirements) {
        const seen = observedCase(requirement, exchange)
        if (!seen) continue
        const tally = tallies.get(requirement) as Tally
        tally.cases++
        const { expected, actual } = seen
        if (actual === undefined || !isToKeep(tally, exchange)) continue
        const shownBy = purpose.requirement
        tally.failures.push({
          ...{ exchange, expected, shownBy },
          what: shownBy === null ? '' : `(sent for ${shownBy})`,
          actual: typeof actual === 'string' ? actual : actual(),
        })
      }
    },
  }
}

const envelopeOf = perRun(createEnvelopeWatch)

const maxShown = 3

export const watchEnvelope = (client: Client, exchange: Exchange): void =>
  envelopeOf(client).observe(exchange)

/** Judges an observed requirement by all answers of the run; must be called last. */
export const byAllAnswers: Judge = async (one): Promise<Verdict> => {
  const id = one.requirement.id as ObservedRequirement
  const watch = envelopeOf(one.client)
  const { gatewayErrors, poisonedResponses } = one.client.findings
  const { cases, failures } = watch.tally(id)
  const isElsewhere = async (evidence: Evidence): Promise<boolean> =>
    watch.breaksAnyway(evidence.exchange) ||
    gatewayErrors.has(evidence.exchange.response!) ||
    (await breakdownAnyway(one.client, one.given, evidence.exchange)) !== undefined
  const own: Evidence[] = []
  for (const failure of failures) {
    if (poisonedResponses.has(failure.exchange.response!)) continue
    if (id !== 'envelope/bad-input-no-5xx' || !(await isElsewhere(failure))) own.push(failure)
  }
  const [first, ...more] = own.slice(0, maxShown)
  if (first) return { outcome: 'broken', cases, evidence: [first, ...more] }
  const { ended } = one.client.life
  if (ended) return { outcome: 'open', why: ended.message, reason: ended.reason }
  if (cases > 0) return { outcome: 'held', cases }
  return { outcome: 'open', why: 'this run produced no answer to check' }
}

interface Answers {
  granted: number
  readonly broken: Exchange[]
}

const answersIn = perRun(() => new Map<string, Answers>())

const longest = 10_000

/** Identifies a request that must be accepted; undefined if it may be refused. Each creation is unique. */
function nameOf(
  { objects, target }: Given,
  { probe, purpose, sentAt }: Exchange,
): string | undefined {
  const { operation, path, params, query, headers, body = '', credential, effect, fault } = probe
  const { requirement, role, isSuccess, badInput, skipJudging, skipPassive } = purpose
  const isOfGranted = requirement !== null && findRequirement(requirement)?.expects === '2xx'
  const isMeant = role === 'control' || role === 'setup' || isSuccess !== undefined || isOfGranted
  const isOdd = badInput ?? skipPassive ?? skipJudging ?? fault
  if (operation === null || !credential.full || !isMeant || isOdd || body.length > longest)
    return undefined
  if (requirement !== null && target.scenarios[requirement]) return undefined
  const since = sentAt - target.limits.settleMs
  if (Object.values(params).some((id) => (objects.madeAt.get(id) ?? -Infinity) > since))
    return undefined
  const own = effect === 'creates' ? [] : [query, headers, String(body)]
  return JSON.stringify([operation, path, params, ...own])
}

/** Refusals for which no state explains that the same request is granted at other times. */
const refusals = new Set([400, 404, 410, 422])

function isRefusedNow(exchange: Exchange): boolean {
  const { previousRequest, probe, response } = exchange
  const leavesNothing = probe.effect === 'none' || probe.effect === 'generates'
  // An invalid request may have spoiled the connection.
  const { probe: before, purpose } = previousRequest ?? {}
  const isBehindFault = before?.fault !== undefined || purpose?.expects || purpose?.badInput
  const isRefusal = refusals.has(response?.status ?? 0) && !isBlocked(exchange)
  return leavesNothing && isRefusal && !isBehindFault
}

/**
 * A valid request that is refused or crashes the server now and then fails the requirement for valid requests of its
 * operation, wherever it was sent, except when its connection is to blame.
 */
export function noteSteady(client: Client, given: Given, exchange: Exchange): void {
  const isBroken = isOwnBreakdown(exchange) || isRefusedNow(exchange)
  if (!isBroken && !countsAsGranted(exchange)) return
  const name = nameOf(given, exchange)
  if (name === undefined) return
  const all = answersIn(client)
  const known = all.get(name) ?? { granted: 0, broken: [] }
  all.set(name, known)
  if (isBroken) known.broken.push(exchange)
  else known.granted++
}

export async function failUnsteady(client: Client, given: Given): Promise<void> {
  const { onTraffic, poisonedResponses, spoiled } = client.findings
  for (const { granted, broken } of answersIn(client).values()) {
    const [wrong, ...more] = broken.filter(
      (one) => !poisonedResponses.has(one.response!) && !(spoiled.size > 0 && one.previousRequest),
    )
    const requirement = wrong && granting(wrong.probe.operation!)
    if (!requirement || granted === 0 || onTraffic.has(requirement.id)) continue
    if (!isPlanned(given, requirement.id)) continue
    const words = [wrong, ...more].map(describeResponse)
    const finding = differing([...words, ...Array<string>(granted).fill('granted')])
    const what = wrong.purpose.what ?? 'with a valid request'
    const exchange = { ...wrong, finding }
    onTraffic.set(requirement.id, { exchange, what, expected: '2xx, each time' })
  }
}

/** Statuses that do not show what the server is: a refused key, a limit, a gateway without its service. */
const saysNothing: readonly number[] = [401, 403, 429, 502, 503, 504]

/** An error envelope: a server of the interface, even if it has no operation yet. */
const isOwn = (response: HttpResponse): boolean =>
  response.isEnvelope && response.status >= 400 && response.status !== 500

function likeness(exchange: Exchange): string {
  if (!exchange.response) return ''
  if (isPage(exchange.response)) return 'a page'
  const text = exchange.response
    .text(headBytes)
    .replaceAll(pathOf(exchange.probe, {}), '')
    .replaceAll(exchange.probe.method, '')
  return `${exchange.response.status} ${text.replaceAll(/[\w:.-]*\d[\w:.-]*/g, '')}`
}

function* probesOf(given: Given): Generator<Probe> {
  const { absent } = given.target
  const drafts = operations
    .filter(
      (operation) =>
        !absent[operation.id] && (operation.method === 'GET' || !given.options.readOnly),
    )
    .map((operation) => placeholderDraft(given, operation.id))
  const [reading] = drafts.filter((draft) => draft.method === 'GET')
  if (reading)
    yield { ...reading, operation: null, path: `/v1/${unknownWord(given, 'alike')}`, params: {} }
  yield* drafts
}

function adviceFor(response: HttpResponse): string {
  const { status } = response
  if (status >= 500) return 'every path gets the same error: check the log of the server'
  if (isPage(response)) return 'this looks like a website, not the API: check the base URL'
  return status >= 300 && status < 400
    ? 'every path is redirected, and a redirect is not followed: serve the documented paths directly'
    : 'every path gets the same answer: check the base URL'
}

/** Before anything is judged, ends the run if every path gets the same answer, or a page: then this is not the API. */
export async function endIfAlike(client: Client, given: Given): Promise<void> {
  if (!given.keys.hasFull) return
  const credential = await given.keys.full()
  const purpose = { requirement: null, role: 'probe', skipPassive: true } as const
  let first: Exchange | undefined
  for (const probe of probesOf(given)) {
    const exchange = await askHolding(client, { ...probe, credential }, purpose)
    first ??= exchange
    const { response } = exchange
    if (!response || saysNothing.includes(response.status) || isOwn(response)) return
    if (likeness(exchange) !== likeness(first)) return
  }
  if (!first?.response || (given.options.readOnly && first.response.status >= 400)) return
  const { method, url } = first.recorded().request
  const seen = `${method} ${url} got ${describeResponse(first)}`
  const advice = adviceFor(first.response)
  client.life.end('unreachable', targetReason(given.target.baseUrl, `${advice} (${seen})`))
}
