import { type HttpResponse, isBlock, isBreakdown, tpeOf } from './response.ts'
import type { Pairs, Pair } from '../../catalogue/expected.ts'
import { validate } from '../../schemas/validate.ts'

/** A block in place of what is expected. */
export function isBlocked(
  { response }: { readonly response?: HttpResponse | undefined },
  expected?: Pairs,
): boolean {
  return response !== undefined && isBlock(response) && !isExpected(expected, response)
}

/** `family`: the status is right and the name is another code name of that status's row of §7.2. */
type Match = 'exact' | 'family' | 'none'

/** Statuses that are none of a 4xx: they speak of the key, of quota, or of what the path names. */
const excludedFrom: Readonly<Partial<Record<Pair[0], readonly number[]>>> = {
  '4xx': [401, 429],
  '4xx-body': [401, 403, 404, 429],
}
/** Statuses that speak of an object which is not there, or of an id that is none. */
const ofUnknownId: readonly number[] = [400, 403, 404, 410, 422]

/** Whether it names several statuses, each of them with an envelope of any name. */
const isScope = (status: Pair[0]): boolean =>
  status === '4xx-id' || excludedFrom[status] !== undefined

function hasStatus([status]: Pair, response: HttpResponse): boolean {
  if (status === 'any') return response.status >= 400
  if (status === 'no-5xx') return ![429, 503].includes(response.status) && !isBreakdown(response)
  if (status === '4xx-id') return ofUnknownId.includes(response.status)
  const excluded = excludedFrom[status]
  if (excluded)
    return response.status >= 400 && response.status < 500 && !excluded.includes(response.status)
  return status === response.status
}

/** Names what an answer lacks of an error envelope; undefined if it is whole. */
export function envelopeProblem(response: HttpResponse): string | undefined {
  const json = response.json()
  if (!json.ok) return json.problem
  const found = validate('error-envelope', json.value)
  return found.valid ? undefined : found.problem
}

/** How an answer compares with the pairs that the spec asks for. */
export function matchPairs(pairs: Pairs, response: HttpResponse): Match {
  const ofStatus = pairs.filter((pair) => hasStatus(pair, response))
  if (
    ofStatus.some(
      ([status, ...names]) =>
        names.length === 0 && (!isScope(status) || envelopeProblem(response) === undefined),
    )
  )
    return 'exact'
  const tpe = tpeOf(response)
  if (tpe === undefined) return 'none'
  if (ofStatus.some(([, ...names]) => names.includes(tpe))) return 'exact'
  const family =
    ofStatus.some(([status]) => typeof status === 'number') &&
    response.errors.codeNames(response.status)?.includes(tpe)
  return family ? 'family' : 'none'
}

/** Why an answer of the right status is still none of the pairs, if its envelope is the reason; else nothing. */
export function envelopeRemark(pairs: Pairs, response: HttpResponse): string {
  const asked = pairs.some((pair) => pair.length === 1 && hasStatus(pair, response))
  const problem = asked && response.json().ok ? envelopeProblem(response) : undefined
  return problem === undefined ? '' : `, but ${problem}`
}

/** True if the answer has one of the pairs: what tells an expected 429 from throttling. */
export function isExpected(pairs: Pairs | undefined, response: HttpResponse): boolean {
  return pairs !== undefined && matchPairs(pairs, response) === 'exact'
}

/** True if the answer has the status of a pair, and another name of its family. */
export function isOfFamily(pairs: Pairs | undefined, response: HttpResponse): boolean {
  return pairs !== undefined && matchPairs(pairs, response) === 'family'
}

/** True if the answer has the status of a pair, whatever its name. */
export function hasStatusOf(pairs: Pairs | undefined, response: HttpResponse): boolean {
  return pairs !== undefined && pairs.some((pair) => hasStatus(pair, response))
}

/** `400 InvalidInputParameters, or 413 BadRequest or PayloadTooLarge` */
export function describePairs(pairs: Pairs): string {
  return pairs
    .map(([status, ...names]) => {
      if (status === 'no-5xx') return 'anything but a 5xx'
      const listed = (all: readonly number[], and: string): string =>
        all.join(', ').replace(/, (\d+)$/, ` ${and} $1`)
      if (status === '4xx-id') return `${listed(ofUnknownId, 'or')}, with an error envelope`
      const excluded = excludedFrom[status]
      if (excluded) return `a 4xx other than ${listed(excluded, 'and')}, with an error envelope`
      return `${status === 'any' ? 'an error with' : status} ${names.join(' or ')}`.trim()
    })
    .join(', or ')
}
