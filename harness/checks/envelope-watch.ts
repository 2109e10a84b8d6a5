import type { Pairs } from '../../catalogue/answers.ts'
import { operations } from '../../catalogue/operations.ts'
import { member } from '../../schemas/json-object.ts'
import { validate } from '../../schemas/validate.ts'
import { acceptedPairs, type RequirementId } from '../../catalogue/catalogue.ts'
import { keyFits, mayCarry } from '../../catalogue/errors.ts'
import { type Answer, isBreakdown, isEnvelope, tpeOf } from '../engine/answer.ts'
import { describeAnswer } from '../engine/describe.ts'
import type { Exchange } from '../engine/exchange.ts'

/** The rows that are judged on every response of the run, whatever caused it. */
export const observedRows = [
  'envelope/shape',
  'envelope/status-tpe-pair',
  'envelope/content-type',
  'envelope/message-keys',
  'envelope/bad-input-no-5xx',
] as const satisfies readonly RequirementId[]

export type ObservedRow = (typeof observedRows)[number]

/** What one row saw: how many answers it judged, and the first failures with their exchanges. */
export interface Tally {
  cases: number
  readonly failures: { exchange: Exchange; expected: string; actual: string; at?: string | undefined }[]
}

export interface EnvelopeWatch {
  /** Whether the operation granted nothing, and answered valid requests with that status too: then it says nothing of the input. */
  breaksAnyway(exchange: Exchange): boolean
  observe(exchange: Exchange): void
  tally(row: ObservedRow): Tally
}

/** First failures kept a row: some may turn out to be those of a connection. */
const mostKept = 12
/** Of each operation at least so many: all of one may turn out to say nothing. */
const mostOfOne = 2

function isToKeep({ failures }: Tally, { probe: { operation } }: Exchange): boolean {
  const isOfOne = (failure: Tally['failures'][number]): boolean => failure.exchange.probe.operation === operation
  return failures.length < mostKept || failures.filter(isOfOne).length < mostOfOne
}

/** What the row expects of an answer, and what it got if that is wrong; undefined if the row does not judge such an answer. */
type AnswerRule = (
  answer: Answer,
  exchange: Exchange,
) => { expected: string; actual?: string | (() => string); at?: string } | undefined

const isError = (answer: Answer): boolean => answer.status >= 400

const envelopeShape: AnswerRule = (answer, exchange) => {
  const expected = 'a JSON error envelope with tpe, errors and extras'
  const json = answer.json()
  // What came is described if it is shown: most are not.
  if (!json.ok) return { expected, actual: () => describeAnswer(exchange) }
  const found = validate('error-envelope', json.value)
  return found.valid ? { expected } : { expected, actual: `${answer.status}, but ${found.problem}`, at: found.place }
}

/** True if one of the pairs names that status with that type. */
function isNamed(pairs: Pairs, status: number, tpe: string): boolean {
  return pairs.some(([of, ...names]) => of === status && names.includes(tpe))
}

const statusTpePair: AnswerRule = (answer, { probe, purpose }) => {
  const tpe = tpeOf(answer)
  // An answer without a tpe is a fault of shape.
  if (tpe === undefined) return undefined
  const expected = `a tpe that is allowed with status ${answer.status}`
  // What some requirement of the operation accepts (for example 413 in place of 400) is not a wrong pair.
  const accepted = [...acceptedPairs(probe.operation), ...(purpose.expects ?? [])]
  const fits = mayCarry(probe.operation, answer.status, tpe) || isNamed(accepted, answer.status, tpe)
  return fits ? { expected } : { expected, actual: `${answer.status} ${tpe}`, at: '/tpe' }
}

/** §4.1 to §4.3: operations whose whole success is shown. */
const shownSuccess: readonly (string | null)[] = operations
  .filter(({ section }) => section !== '4.4')
  .map(({ id }) => id)

const contentType: AnswerRule = (answer, { probe }) => {
  const success = answer.status >= 200 && answer.status < 300 && shownSuccess.includes(probe.operation)
  if (!isError(answer) && !success) return undefined
  const expected = 'Content-Type: application/json'
  const type = answer.header('content-type')
  const json = /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type ?? '')
  return json
    ? { expected }
    : { expected, actual: type === undefined ? 'no Content-Type' : `Content-Type: ${type.slice(0, 80)}` }
}

const messageKeys: AnswerRule = (answer, { probe }) => {
  const json = answer.json()
  const tpe = tpeOf(answer)
  if (!isError(answer) || !json.ok || tpe === undefined || !isEnvelope(answer)) return undefined
  let known = 0
  let wrong: { at: string; key: string } | undefined
  for (const [index, error] of (member(json.value, 'errors') as unknown[]).entries()) {
    const key = member(error, 'key')
    const fits = typeof key === 'string' ? keyFits(key, probe.operation, tpe) : undefined
    if (fits !== undefined) known++
    if (fits === false) wrong ??= { at: `/errors/${index}/key`, key: key as string }
  }
  if (known === 0) return undefined
  const expected = 'a message key that §7.1 shows with this tpe'
  return wrong === undefined
    ? { expected }
    : { expected, actual: `key ${wrong.key} with ${answer.status} ${tpe}`, at: wrong.at }
}

const badInput: AnswerRule = (answer, { purpose }) => {
  if (!purpose.badInput) return undefined
  const expected = 'no 5xx to bad input'
  if (isBreakdown(answer)) return { expected, actual: String(answer.status) }
  // A 503, a full storage or a model that fails comes and goes, whatever the input is.
  return answer.status < 500 ? { expected } : undefined
}

const rules: Readonly<Record<ObservedRow, AnswerRule>> = {
  'envelope/shape': (answer, exchange) =>
    isError(answer) && !exchange.purpose.unjudged ? envelopeShape(answer, exchange) : undefined,
  'envelope/status-tpe-pair': (answer, exchange) =>
    isError(answer) && !exchange.purpose.unjudged ? statusTpePair(answer, exchange) : undefined,
  'envelope/content-type': contentType,
  'envelope/message-keys': messageKeys,
  'envelope/bad-input-no-5xx': badInput,
}

export function createEnvelopeWatch(): EnvelopeWatch {
  const tallies = new Map<ObservedRow, Tally>(observedRows.map((row) => [row, { cases: 0, failures: [] }]))
  const broken = new Set<string>()
  const sound = new Set<string | null>()
  const nameOf = ({ probe, answer }: Exchange): string => `${probe.operation} ${answer?.status}`
  return {
    breaksAnyway: (exchange) => broken.has(nameOf(exchange)) && !sound.has(exchange.probe.operation),
    tally: (row) => tallies.get(row) as Tally,
    observe(exchange) {
      const { answer, purpose } = exchange
      if (!answer || purpose.unjudged === 'at all') return
      if (purpose.wanted && answer.status < 300) sound.add(exchange.probe.operation)
      if (purpose.wanted && answer.status >= 500) broken.add(nameOf(exchange))
      for (const row of observedRows) {
        const seen = rules[row](answer, exchange)
        if (!seen) continue
        const tally = tallies.get(row) as Tally
        tally.cases++
        const { expected, actual, at } = seen
        if (actual !== undefined && isToKeep(tally, exchange))
          tally.failures.push({ exchange, expected, actual: typeof actual === 'string' ? actual : actual(), at })
      }
    },
  }
}
