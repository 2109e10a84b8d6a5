import { isRequirementId, requirementOf } from '../../catalogue/catalogue.ts'
import { conditionOf, type Pairs, isRefusal } from '../../catalogue/requirement.ts'
import { codeNames, modelErrors } from '../../catalogue/errors.ts'
import type { Failure, HttpResponse, RequirementResult } from '../../harness/report/index.ts'
import { isSame, responseOf, sayAnswers } from '../../harness/report/index.ts'
import { isObject, parsedJson } from '../../schemas/json.ts'
import { groupBy } from '../../harness/group-by.ts'

/** Failures that have one cause, as far as can be told from outside: the first of them is shown for all. */
export interface Cause {
  readonly first: RequirementResult
  /** The others, in report order. */
  readonly others: readonly RequirementResult[]
}

/**
 * Failed requirements of several operations that share level, expectation and what was wrong are one cause, and so are all that
 * failed on reused connections only; all others stand by themselves. In the order of the first of each.
 */
export function byCause(results: readonly RequirementResult[]): Cause[] {
  return [...groupBy(results, keyOf)].flatMap(([key, group]): Cause[] => {
    const operations = new Set(group.map(({ operation }) => operation))
    const [first, ...others] = group
    const isOne = operations.size > 1 || isOneCause(key)
    return isOne ? [{ first: first!, others }] : group.map((one) => ({ first: one, others: [] }))
  })
}

const noEnvelope = 'no envelope: '
const ofConnection = 'connection: '

/** Causes whose failures are one also within one operation. */
function isOneCause(key: string): boolean {
  return key.startsWith(ofConnection) || key.startsWith(noEnvelope)
}

/** Selects the causes that a reader sees whole: one for each likely cause first, then what belongs to none. */
export function shownFirst(causes: readonly Cause[], likely: readonly LikelyCause[]): Cause[] {
  const explained = likely.map(({ results }) => new Set(results))
  const examples = explained.flatMap((results) => causes.find(({ first }) => results.has(first)) ?? [])
  return [...examples, ...causes.filter(({ first }) => !explained.some((results) => results.has(first)))]
}

export function idsOf({ first, others }: Cause): string[] {
  return [first, ...others].map(({ id }) => id)
}

/** Key that failures are compared by: the level, what was asked for, and what was wrong with the answer. */
function keyOf({ failures: [failure], id, level }: RequirementResult): string {
  if (!failure) return id
  // Whatever the requests were: how the server treats its connections is one cause, and what it takes them for another.
  if (failure.connection) return ofConnection + failure.connection
  // Whatever was asked for: the server has no handler that makes its errors envelopes.
  if (failure.noEnvelope) return noEnvelope + level
  // Operations are described in different sections, which does not make it another expectation.
  const expected = failure.expected.slice(0, failure.expected.length - (failure.cites ?? '').length)
  return JSON.stringify([level, expected, ...receivedIn(failure, id), failure.familyOnly])
}

/**
 * An answer with a `tpe` is known by that, not by what its message says. The body of any other differs from one operation to the
 * next: if its status alone is wrong it is known by the condition (`400-malformed-json`) and the status.
 */
function receivedIn(failure: Failure, id: string): string[] {
  const response = responseOf(failure)
  if (response.tpe !== undefined) return [sayAnswers([response])]
  const condition = conditionOf(id)
  const { status } = response
  if (status !== null && status < 300 && failure.toRefuse) return ['granted', condition]
  if (status !== null && status >= 400) return [`${status}`, condition]
  return [failure.actual]
}

/** Likely mistake of a server at one place, by what its answers have in common. */
export type Likely =
  /** A code name of the interface in another letter case, or with other separators. */
  | { readonly kind: 'spelling'; readonly names: readonly { readonly received: string; readonly meant: string }[] }
  /** The status is right, but the body is no error envelope: a page, nothing, or JSON with these members. */
  | { readonly kind: 'no-envelope'; readonly form: 'page' | 'empty' | 'other' | readonly string[] }
  /** An envelope without these of its members. */
  | { readonly kind: 'envelope-members'; readonly missing: readonly string[] }
  /** Every request to these operations gets the same answer. */
  | { readonly kind: 'one-answer'; readonly response: HttpResponse; readonly operations: readonly string[] }
  | { readonly kind: 'status'; readonly received: number; readonly wanted: readonly number[] }
  /** The status is right, the code name is another one of the interface. */
  | { readonly kind: 'name'; readonly received: string; readonly wanted: readonly string[] }
  | { readonly kind: 'granted'; readonly wanted: readonly number[] }
  | { readonly kind: 'refused'; readonly response: HttpResponse }
  | { readonly kind: 'no-answer' }
  | { readonly kind: 'unfinished-jobs' }

/** Failed requirements that one change would most likely mend. */
export interface LikelyCause {
  readonly likely: Likely
  /** Results in report order. */
  readonly results: readonly RequirementResult[]
}

/** Fewer failures than that are read faster than what they have in common. */
const FEWEST = 3
const MOST = 6

const statuses = [400, 401, 403, 404, 409, 410, 413, 422, 429, 500, 503, 507]
const knownNames = new Set<string>([
  ...statuses.flatMap((status) => codeNames(status) ?? []),
  ...modelErrors,
  'GuardrailBlockedError',
])
const bySpelling = new Map([...knownNames].map((name) => [letters(name), name]))

function letters(name: string): string {
  return name.replaceAll(/[\s._-]/g, '').toLowerCase()
}

/** Finds what failed requirements have in common, what most of them share first; nothing of what stands alone. */
export function likelyCauses(results: readonly RequirementResult[]): LikelyCause[] {
  const [oneLikely, alike] = oneAnswer(results)
  const groups = new Map<string, { likely: Likely; results: RequirementResult[] }>()
  for (const result of results) {
    const likely: Likely | undefined = alike.has(result) ? oneLikely : likelyOf(result)
    if (likely === undefined) continue
    const key = keyOfLikely(likely)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { likely, results: [result] })
    else {
      group.results.push(result)
      group.likely = joined(group.likely, likely)
    }
  }
  const concernsAll = ({ kind }: Likely): boolean => kind === 'unfinished-jobs' || kind === 'envelope-members'
  return [...groups.values()]
    .filter(({ likely, results }) => results.length >= FEWEST || concernsAll(likely))
    .sort((a, b) => b.results.length - a.results.length)
    .slice(0, MOST)
}

/** Joins what is one cause: every misspelt name, and every status of one kind that another one stands for. */
function keyOfLikely(likely: Likely): string {
  if (likely.kind === 'spelling') return likely.kind
  if (likely.kind === 'status') return `${likely.received} for ${likely.wanted[0]}`
  return JSON.stringify(likely)
}

function joined(one: Likely, two: Likely): Likely {
  if (one.kind === 'status' && two.kind === 'status')
    return { ...one, wanted: [...new Set([...one.wanted, ...two.wanted])] }
  if (one.kind !== 'spelling' || two.kind !== 'spelling') return one
  const fresh = two.names.filter(({ received }) => !one.names.some((name) => name.received === received))
  return { kind: 'spelling', names: [...one.names, ...fresh] }
}

/** The answer that four of five failures share, though different ones were expected; and those failures. */
function oneAnswer(results: readonly RequirementResult[]): [Likely | undefined, ReadonlySet<RequirementResult>] {
  const answered = results.flatMap((result) => {
    const [failure] = result.failures
    return failure === undefined ? [] : [{ result, response: responseOf(failure) }]
  })
  for (const { response } of answered.slice(0, 20)) {
    if (response.status === null) continue
    const same = answered.filter((other) => isSame(other.response, response)).map(({ result }) => result)
    const expected = new Set(same.map(({ id }) => String(wantedStatuses(id))))
    const operations = new Set(same.map(({ operation }) => operation))
    if (same.length >= 10 && same.length * 5 >= results.length * 4 && expected.size > 2 && operations.size > 2)
      return [{ kind: 'one-answer', response, operations: [...operations] }, new Set(same)]
  }
  return [undefined, new Set()]
}

/** The statuses that the requirement's refusal may have; none if it is to be granted, or is not about one request. */
function wantedStatuses(id: string): number[] {
  return pairsFor(id).flatMap(([status]) => (typeof status === 'number' ? [status] : []))
}

function pairsFor(id: string): Pairs {
  const expects = isRequirementId(id) ? requirementOf(id).expects : undefined
  return isRefusal(expects) ? expects : []
}

function isOtherStatus(id: string, received: number): boolean {
  const pairs = pairsFor(id)
  return pairs.length > 0 && pairs.every(([status]) => typeof status === 'number' && status !== received)
}

function likelyOf(result: RequirementResult): Likely | undefined {
  const [failure] = result.failures
  if (failure === undefined) return undefined
  const response = responseOf(failure)
  if (response.status === null) return failure.exchange === undefined ? undefined : { kind: 'no-answer' }
  if (isUnfinished(result, failure)) return { kind: 'unfinished-jobs' }
  if (response.status >= 400) return ofError(result, failure, { ...response, status: response.status })
  const wanted = wantedStatuses(result.id)
  return wanted.length > 0 ? { kind: 'granted', wanted } : undefined
}

/** The requirement is that a job ends, and what is shown is one that goes on. */
function isUnfinished({ id }: RequirementResult, failure: Failure): boolean {
  if (id !== 'jobs.retrieve/200-outcome') return false
  const { value } = bodyOf(failure)
  return isObject(value) && value.status !== 'completed' && value.status !== 'failed'
}

function ofError(
  { id }: RequirementResult,
  failure: Failure,
  response: { readonly status: number; readonly tpe?: string },
): Likely | undefined {
  const requirement = isRequirementId(id) ? requirementOf(id) : undefined
  const { status, tpe } = response
  if (requirement?.expects !== undefined && !isRefusal(requirement.expects)) return { kind: 'refused', response }
  if (isOtherStatus(id, status)) return { kind: 'status', received: status, wanted: wantedStatuses(id) }
  // Nobody knows which status would be right in place of a breakdown.
  const envelope = requirement?.expects === undefined && status >= 500 ? undefined : ofEnvelope(failure, tpe)
  if (envelope !== undefined) return envelope
  if (tpe === undefined) return undefined
  const names = pairsFor(id).flatMap(([of, ...list]) => (of === status ? list : []))
  return names.length > 0 && !names.includes(tpe) ? { kind: 'name', received: tpe, wanted: names } : undefined
}

function ofEnvelope(failure: Failure, tpe: string | undefined): Likely | undefined {
  const { form, value } = bodyOf(failure)
  if (tpe !== undefined && !knownNames.has(tpe)) {
    const meant = bySpelling.get(letters(tpe))
    if (meant !== undefined) return { kind: 'spelling', names: [{ received: tpe, meant }] }
  }
  if (form !== 'json') return form === 'cut' ? undefined : { kind: 'no-envelope', form }
  if (!isObject(value)) return { kind: 'no-envelope', form: 'other' }
  const missing = ['tpe', 'errors', 'extras'].filter((name) => !Object.hasOwn(value, name))
  if (missing.length === 0) return undefined
  if (missing.length === 3) return { kind: 'no-envelope', form: Object.keys(value).sort().slice(0, 4) }
  return { kind: 'envelope-members', missing }
}

function bodyOf({ exchange }: Failure): { form: 'page' | 'empty' | 'other' | 'cut' | 'json'; value?: unknown } {
  const response = exchange?.response
  if (response === undefined || response.body === '') return { form: 'empty' }
  if (response.bodyLength !== undefined) return { form: 'cut' }
  const value = parsedJson(response.body)
  if (value !== undefined) return { form: 'json', value }
  return { form: /^\s*<(?:!doctype|html|head|body)\b/i.test(response.body) ? 'page' : 'other' }
}
