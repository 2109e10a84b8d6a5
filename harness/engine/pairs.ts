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

function isWholeEnvelope(answer: Answer): boolean {
  const json = answer.json()
  return json.ok && validate('error-envelope', json.value).valid
}

/** How an answer stands to the pairs that the spec asks for. */
export function matchPairs(pairs: Pairs, answer: Answer): Match {
  const ofStatus = pairs.filter((pair) => hasStatus(pair, answer))
  if (ofStatus.some(([status, ...names]) => names.length === 0 && (status !== '4xx' || isWholeEnvelope(answer))))
    return 'exact'
  const tpe = tpeOf(answer)
  if (tpe === undefined) return 'none'
  if (ofStatus.some(([, ...names]) => names.includes(tpe))) return 'exact'
  const family = ofStatus.some(([status]) => typeof status === 'number') && codeNames(answer.status)?.includes(tpe)
  return family ? 'family' : 'none'
}

/** True where the answer has one of the pairs: what tells an expected 429 from throttling. */
export function isExpected(pairs: Pairs | undefined, answer: Answer): boolean {
  return pairs !== undefined && matchPairs(pairs, answer) === 'exact'
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
