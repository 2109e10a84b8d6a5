import {
  type HttpResponse,
  type Exchange,
  describeResponse,
  isBreakdown,
  type Evidence,
  type Verdict,
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
import { acceptedPairs, type RequirementId } from '../../catalogue/catalogue.ts'
import { operation as operationOf } from '../../catalogue/operations.ts'
import { member } from '../../schemas/json.ts'
import { perRun, type Judge } from '../../harness/run/index.ts'
import type { Client } from '../../harness/client/index.ts'
import { breakdownAnyway } from './control.ts'

/** What an answer must be, and what is wrong with it; undefined if it is no case of the requirement. */
type AnswerRule = (
  response: HttpResponse,
  exchange: Exchange,
) => { readonly expected: string; readonly actual?: string | (() => string) } | undefined

const ofErrors =
  (rule: AnswerRule): AnswerRule =>
  (response, exchange) =>
    response.status >= 400 && !exchange.purpose.skipJudging ? rule(response, exchange) : undefined

const envelopeShape = ofErrors((response, exchange) => {
  const expected = 'a JSON error envelope with tpe, errors and extras'
  const json = response.json()
  // Described lazily: most answers are never shown.
  if (!json.ok)
    return { expected, actual: () => `${describeResponse(exchange)}${gatewayRemark(response)}` }
  const found = validate('error-envelope', json.value)
  if (found.valid) return { expected }
  return { expected, actual: `${response.status}, but ${found.problem}${gatewayRemark(response)}` }
})

function gatewayRemark(response: HttpResponse): string {
  if (![429, 502, 503, 504].includes(response.status) || response.tpe !== undefined) return ''
  const server = response.header('server')
  const who = server === undefined ? '' : ` (Server: ${server.slice(0, 80)})`
  return `; if a gateway answered${who}, make it return an envelope too`
}

/** §7.3 lists it for reading a deleted file; other operations name files, too. */
const deletedFile: Pairs = [[410, 'ResourceNotFound']]

const statusTpePair = ofErrors((response, exchange) => {
  const { status, tpe } = response
  const { operation } = exchange.probe
  // A missing tpe violates the shape instead.
  if (tpe === undefined) return undefined
  // Pairs of other requirements are allowed; any request may be too large (§8), or name a deleted file.
  const others = [acceptedPairs.get(operation), oversized, deletedFile, exchange.purpose.expects]
  const isOf = ([of]: Pair): boolean => of === status
  const isNamed = (pairs: Pairs = []): boolean =>
    pairs.some((pair) => isOf(pair) && pair.includes(tpe, 1))
  const expected = `a tpe that is allowed with status ${status}`
  if (mayCarry(operation, status, tpe) || others.some(isNamed)) return { expected }
  const named = others.flatMap((pairs = []) => pairs.filter(isOf).flatMap(([, ...names]) => names))
  const all = [...(codeNames[status] ?? []), ...listedTypes(operation, status), ...named]
  return {
    expected: `${expected}: ${[...new Set(all)].join(' or ')}`,
    actual: `${status} ${tpe}`,
  }
})

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
  if (isBreakdown(response)) return { expected, actual: String(response.status) }
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

const talliesOf = perRun(
  () => new Map(observedRequirements.map((id) => [id, { cases: 0, failures: [] as Evidence[] }])),
)

/** Failures kept per requirement and operation: some may turn out inconclusive, or those of a connection. */
const maxKept = 4

export function watchEnvelope(client: Client, exchange: Exchange): void {
  for (const [requirement, tally] of talliesOf(client)) {
    const seen = observedCase(requirement, exchange)
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
  const { cases, failures } = talliesOf(client).get(requirement.id as ObservedRequirement)!
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
  if (ended) return { outcome: 'open', why: ended.reason }
  if (cases > 0) return { outcome: 'held', cases }
  return { outcome: 'open', why: 'this run produced no answer to check' }
}
