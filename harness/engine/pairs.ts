import { validate } from '../../schemas/validate.ts'
import type { Pair, Pairs } from '../../catalogue/answers.ts'
import { codeNames } from '../../catalogue/errors.ts'
import { type Answer, tpeOf } from './answer.ts'

export type { Pairs } from '../../catalogue/answers.ts'

/** `family`: the status is right and the name is another code name of that status's row of §7.2. */
export type Match = 'exact' | 'family' | 'none'

function hasStatus([status]: Pair, answer: Answer): boolean {
  if (status === 'any') return answer.status >= 400
  if (status === '4xx') return answer.status >= 400 && answer.status < 500 && ![401, 429].includes(answer.status)
  return status === answer.status
}

/** What an answer lacks of an error envelope; undefined if it is whole. */
export function envelopeProblem(answer: Answer): string | undefined {
  const json = answer.json()
  if (!json.ok) return json.problem
  const found = validate('error-envelope', json.value)
  return found.valid ? undefined : found.problem
}

/** How an answer compares with the pairs that the spec asks for. */
export function matchPairs(pairs: Pairs, answer: Answer): Match {
  const ofStatus = pairs.filter((pair) => hasStatus(pair, answer))
  if (
    ofStatus.some(
      ([status, ...names]) => names.length === 0 && (status !== '4xx' || envelopeProblem(answer) === undefined),
    )
  )
    return 'exact'
  const tpe = tpeOf(answer)
  if (tpe === undefined) return 'none'
  if (ofStatus.some(([, ...names]) => names.includes(tpe))) return 'exact'
  const family = ofStatus.some(([status]) => typeof status === 'number') && codeNames(answer.status)?.includes(tpe)
  return family ? 'family' : 'none'
}

/** Why an answer of the right status is still none of the pairs, if its envelope is the reason; else nothing. */
export function envelopeRemark(pairs: Pairs, answer: Answer): string {
  const asked = pairs.some((pair) => pair[0] === '4xx' && pair.length === 1 && hasStatus(pair, answer))
  const problem = asked && answer.json().ok ? envelopeProblem(answer) : undefined
  return problem === undefined ? '' : `, but ${problem}`
}

/** True if the answer has one of the pairs: what tells an expected 429 from throttling. */
export function isExpected(pairs: Pairs | undefined, answer: Answer): boolean {
  return pairs !== undefined && matchPairs(pairs, answer) === 'exact'
}

/** True if the answer has the status of a pair, and another name of its family. */
export function isOfFamily(pairs: Pairs | undefined, answer: Answer): boolean {
  return pairs !== undefined && matchPairs(pairs, answer) === 'family'
}

/** `400 InvalidInputParameters, or 413 BadRequest or PayloadTooLarge` */
export function describePairs(pairs: Pairs): string {
  return pairs
    .map(([status, ...names]) => {
      if (status === '4xx') return 'a 4xx other than 401 and 429, with an error envelope'
      return `${status === 'any' ? 'an error with' : status} ${names.join(' or ')}`.trim()
    })
    .join(', or ')
}
