import { grantedRequirement, type RequirementId, requirementOf } from '../catalogue/catalogue.ts'
import { operation, type OperationId } from '../catalogue/operations.ts'
import { type Exchange, isEnvelope, isGranted } from '../harness/engine/index.ts'
import type { Target } from '../harness/target-file/index.ts'
import { isObject, member, getAt, parsedJson } from '../schemas/json.ts'
import { type SchemaName, validate } from '../schemas/validate.ts'
import type { RecordedEntry } from './recorded-entry.ts'
import type { RecordedHttpResponse } from './recorded-exchange.ts'

/** What is expected of a success whose body the spec shows. */
const shown: Readonly<Partial<Record<OperationId, string>>> = {
  'pdf.parse': '200 with the content of the PDF',
  'jobs.create': '202 with the id, status and created_at of the new job',
  'jobs.retrieve': '200 with a job',
  'chat.create': 'a 2xx with choices[0].message.content, a string',
  'medical.comprehend': 'a 2xx with entities',
}

type Choose = (exchange: RecordedHttpResponse, body: unknown, target: Target) => RequirementId | undefined

/** The requirement of a success, if that depends on what the request asked for; undefined if it asked for something else. */
const chosen: Readonly<Partial<Record<OperationId, Choose>>> = {
  'pdf.parse': (_, body) => {
    const format = member(body, 'format')
    return format === 'text' || format === 'markdown' ? `pdf.parse/200-${format}` : undefined
  },
  'chat.create': ({ response }, body) => {
    const streamed = /^\s*text\/event-stream/i.test(response.header('content-type') ?? '')
    // A stream is no completion (its form is not shown), and a call of a tool need have no content.
    const plain = isObject(body) && member(body, 'stream') !== true && !hasTools(member(body, 'tools'))
    return streamed || !plain ? undefined : 'chat.create/200-completion'
  },
  'medical.comprehend': (_, body, { operations }) => {
    const pointer = operations['medical.comprehend']?.fields['response_type'] ?? '/response_type'
    return getAt(body, pointer) === 'Entities' ? 'medical.comprehend/200-entities' : undefined
  },
}

function hasTools(tools: unknown): boolean {
  return tools !== undefined && tools !== null && !(Array.isArray(tools) && tools.length === 0)
}

/**
 * Judges a 2xx by the granted requirement that it shows, and gives that requirement. Anything else is left to the requirements that see every
 * response.
 */
export function judgeSuccess(
  exchange: RecordedHttpResponse,
  target: Target,
  tallies: RequirementTallies,
): RequirementId | undefined {
  const { entry, probe, response } = exchange
  const { operation: id } = probe
  if (id === null || response.status < 200 || response.status >= 300) return undefined
  const choose = chosen[id]
  const requirement = choose ? choose(exchange, requestJson(entry), target) : grantedRequirement[id]
  if (requirement === undefined) return undefined
  if (shown[id] !== undefined) judgeShown(exchange, requirement, id, tallies)
  // What the interface does not show may be any 2xx, unless it is an error envelope.
  else if (entry.body.state === 'missing') tallies.skip(requirement, notWhole)
  else if (isGranted(response)) tallies.pass(requirement)
  else tallies.fail(requirement, exchange, 'a 2xx whose body is no error envelope')
  return requirement
}

const notWhole = 'the recording does not hold the whole body of any such answer'

function judgeShown(
  exchange: RecordedHttpResponse,
  requirement: RequirementId,
  id: OperationId,
  tallies: RequirementTallies,
): void {
  const { response, entry } = exchange
  const expected = shown[id]!
  const { expects } = requirementOf(requirement)
  if (typeof expects === 'number' && response.status !== expects) return tallies.fail(requirement, exchange, expected)
  if (entry.body.state !== 'whole') return tallies.skip(requirement, notWhole)
  const json = response.json()
  if (!json.ok) return tallies.fail(requirement, exchange, expected, `${response.status}, but ${json.problem}`)
  if (isEnvelope(response)) return tallies.fail(requirement, exchange, expected)
  const found = validate(operation(id).response as SchemaName, json.value)
  if (found.valid) tallies.pass(requirement)
  else tallies.fail(requirement, exchange, expected, `${response.status}, but ${found.problem}`)
}

/** The request's body as JSON; undefined if it is not JSON, or not known as a whole. */
function requestJson({ requestBody: { state, bytes } }: RecordedEntry): unknown {
  return state === 'whole' ? parsedJson(Buffer.from(bytes).toString('utf8')) : undefined
}

/** Findings of recorded responses on one requirement. */
export interface RequirementTally {
  cases: number
  readonly failures: { readonly exchange: Exchange; readonly expected: string; readonly actual?: string }[]
  /** Why answers that could have been judged were not. */
  unjudged?: string
}

const maxKept = 3

/** Called with a failure that is kept. @param actual if it is not the answer as a whole */
export type OnFailure = (requirement: RequirementId, exchange: Exchange, expected: string, actual?: string) => void

/** Collects what was seen of each requirement, while the recording is read. */
export type RequirementTallies = ReturnType<typeof createRequirementTallies>

export function createRequirementTallies(onFailure: OnFailure) {
  const tallies = new Map<RequirementId, RequirementTally>()
  const of = (id: RequirementId): RequirementTally => {
    const known = tallies.get(id) ?? { cases: 0, failures: [] }
    tallies.set(id, known)
    return known
  }
  const skip = (id: RequirementId, reason: string): void => void (of(id).unjudged ??= reason)
  const fail: OnFailure = (id, exchange, expected, actual) => {
    const tally = of(id)
    tally.cases++
    if (tally.failures.length === maxKept) return
    onFailure(id, exchange, expected, actual)
    tally.failures.push({ exchange, expected, ...(actual === undefined ? {} : { actual }) })
  }
  return {
    pass: (id: RequirementId): void => void of(id).cases++,
    fail,
    skip,
    tally: (id: RequirementId) => tallies.get(id),
    add(id: RequirementId, { cases, failures }: Readonly<RequirementTally>): void {
      for (const { exchange, expected, actual } of failures) fail(id, exchange, expected, actual)
      of(id).cases += cases - failures.length
    },
  }
}
