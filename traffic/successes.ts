import { grantedRequirement, type RequirementId } from '../catalogue/catalogue.ts'
import type { OperationId } from '../catalogue/operations.ts'
import { type Exchange, isEnvelope, isGranted } from '../harness/engine/index.ts'
import type { Target } from '../harness/target-file/index.ts'
import { isObject, member, getAt, parsedJson } from '../schemas/json.ts'
import { type SchemaName, validate } from '../schemas/validate.ts'
import type { RecordedEntry } from './recorded-entry.ts'
import type { RecordedHttpResponse } from './recorded-exchange.ts'

/** The form of the operation's success that a requirement asks for; `status` and `schema` if the spec shows them. */
interface Shown {
  readonly requirement: RequirementId
  readonly expected: string
  readonly status?: number
  readonly schema: SchemaName
}

const created = '202 with the id, status and created_at of the new job'
const completion = 'a 2xx with choices[0].message.content, a string'

type Choose = (exchange: RecordedHttpResponse, body: unknown, target: Target) => Shown | undefined

/** The requirements whose body the spec shows, by what the request asked for; undefined if it asked for something else. */
const shown: Readonly<Partial<Record<OperationId, Choose>>> = {
  'pdf.parse': (_, body) => {
    const format = member(body, 'format')
    if (format !== 'text' && format !== 'markdown') return undefined
    return {
      requirement: `pdf.parse/200-${format}`,
      expected: '200 with the content of the PDF',
      status: 200,
      schema: 'pdf-content',
    }
  },
  'jobs.create': () => ({
    requirement: 'jobs.create/202-created',
    expected: created,
    status: 202,
    schema: 'created-job',
  }),
  'jobs.retrieve': () => ({
    requirement: 'jobs.retrieve/200-job',
    expected: '200 with a job',
    status: 200,
    schema: 'job',
  }),
  'chat.create': ({ response }, body) => {
    const streamed = /^\s*text\/event-stream/i.test(response.header('content-type') ?? '')
    // A stream is no completion (its form is not shown), and a call of a tool need have no content.
    const plain = isObject(body) && member(body, 'stream') !== true && !hasTools(member(body, 'tools'))
    if (streamed || !plain) return undefined
    return { requirement: 'chat.create/200-completion', expected: completion, schema: 'chat-completion' }
  },
  'medical.comprehend': (_, body, { operations }) => {
    const pointer = operations['medical.comprehend']?.fields['response_type'] ?? '/response_type'
    if (getAt(body, pointer) !== 'Entities') return undefined
    return {
      requirement: 'medical.comprehend/200-entities',
      expected: 'a 2xx with entities',
      schema: 'medical-entities',
    }
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
  const { operation } = exchange.probe
  const { status } = exchange.response
  if (operation === null || status < 200 || status >= 300) return undefined
  const choose = shown[operation]
  if (!choose) return judgeAccepted(exchange, grantedRequirement[operation], tallies)
  const form = choose(exchange, requestJson(exchange.entry), target)
  if (form) judgeShown(exchange, form, tallies)
  return form?.requirement
}

const notWhole = 'the recording does not hold the whole body of any such answer'

function judgeShown(
  exchange: RecordedHttpResponse,
  { requirement, expected, status, schema }: Shown,
  tallies: RequirementTallies,
): void {
  const { response, entry } = exchange
  if (status !== undefined && response.status !== status) return tallies.fail(requirement, exchange, expected)
  if (entry.body.state !== 'whole') return tallies.skip(requirement, notWhole)
  const json = response.json()
  if (!json.ok) return tallies.fail(requirement, exchange, expected, `${response.status}, but ${json.problem}`)
  if (isEnvelope(response)) return tallies.fail(requirement, exchange, expected)
  const found = validate(schema, json.value)
  if (found.valid) tallies.pass(requirement)
  else tallies.fail(requirement, exchange, expected, `${response.status}, but ${found.problem}`)
}

/** Judges a success whose body the interface does not show: any 2xx passes unless it is an error envelope. */
function judgeAccepted(
  exchange: RecordedHttpResponse,
  requirement: RequirementId,
  tallies: RequirementTallies,
): RequirementId {
  const { response, entry } = exchange
  if (entry.body.state === 'missing') tallies.skip(requirement, notWhole)
  else if (isGranted(response)) tallies.pass(requirement)
  else tallies.fail(requirement, exchange, 'a 2xx whose body is no error envelope')
  return requirement
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
export interface RequirementTallies {
  pass(id: RequirementId): void
  /** @param actual if it is not the answer as a whole */
  fail(id: RequirementId, exchange: Exchange, expected: string, actual?: string): void
  skip(id: RequirementId, reason: string): void
  tally(id: RequirementId): RequirementTally | undefined
  add(id: RequirementId, tally: Readonly<RequirementTally>): void
  copyTo(others: RequirementTallies): void
}

export function createRequirementTallies(onFailure?: OnFailure): RequirementTallies {
  const tallies = new Map<RequirementId, RequirementTally>()
  const of = (id: RequirementId): RequirementTally => {
    const known = tallies.get(id) ?? { cases: 0, failures: [] }
    tallies.set(id, known)
    return known
  }
  const all: RequirementTallies = {
    pass: (id) => void of(id).cases++,
    fail(id, exchange, expected, actual) {
      const tally = of(id)
      tally.cases++
      if (tally.failures.length < maxKept) {
        onFailure?.(id, exchange, expected, actual)
        tally.failures.push({ exchange, expected, ...(actual === undefined ? {} : { actual }) })
      }
    },
    skip(id, reason) {
      of(id).unjudged ??= reason
    },
    tally: (id) => tallies.get(id),
    add(id, { cases, failures, unjudged }) {
      for (const { exchange, expected, actual } of failures) all.fail(id, exchange, expected, actual)
      of(id).cases += cases - failures.length
      if (unjudged !== undefined) all.skip(id, unjudged)
    },
    copyTo(others) {
      for (const [id, tally] of tallies) others.add(id, tally)
    },
  }
  return all
}
