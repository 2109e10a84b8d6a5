import type { Client } from '../../harness/client/index.ts'
import { oversized, type Pairs } from '../../catalogue/expected.ts'
import { operation } from '../../catalogue/operations.ts'
import { member } from '../../schemas/json.ts'
import { validate } from '../../schemas/validate.ts'
import { acceptedPairs, type RequirementId } from '../../catalogue/catalogue.ts'
import { breakdownAnyway } from './control.ts'
import { keyFits, mayCarry } from '../../catalogue/errors.ts'
import {
  describeResponse,
  type Exchange,
  type HttpResponse,
  isBreakdown,
  type Evidence,
  type Verdict,
} from '../../harness/journal/index.ts'
import { perRun, type Judge } from '../../harness/run/index.ts'

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
