import { outcomeIn } from './verdict.ts'
import type { Failure, RequirementResult, TpeMode } from './model.ts'

/** What came back in a failure: enough to tell whether it is the same failure as before. */
export interface Answer {
  /** Null if no answer came, or none belongs to the failure. */
  readonly status: number | null
  readonly tpe?: string
}

export function answerOf({ exchange }: Failure): Answer {
  const response = exchange?.response
  if (response === undefined) return { status: null }
  const tpe = response.bodyEncoding === undefined ? tpeIn(response.body) : undefined
  return { status: response.status, ...(tpe !== undefined && { tpe }) }
}

/** The answers that make the requirement fail in that mode, each once. */
export function answersOf(result: RequirementResult, mode: TpeMode): Answer[] {
  if (outcomeIn(result, mode) !== 'failed') return []
  const answers = result.failures.filter(({ familyOnly }) => mode === 'exact' || !familyOnly).map(answerOf)
  return answers.filter((answer, index) => answers.findIndex((other) => isSame(answer, other)) === index)
}

export function isSame(one: Answer, two: Answer): boolean {
  return one.status === two.status && one.tpe === two.tpe
}

/** `404 NotFound`, `200`, `no answer`; several with `or` between. */
export function sayAnswers(answers: readonly Answer[]): string {
  return answers
    .map(({ status, tpe }) => (status === null ? 'no answer' : `${status}${tpe === undefined ? '' : ` ${tpe}`}`))
    .join(' or ')
}

/** The `tpe` of an error envelope; a body that was cut is no JSON any more, but its beginning still tells. */
function tpeIn(body: string): string | undefined {
  try {
    const value = JSON.parse(body) as unknown
    const tpe = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)['tpe'] : undefined
    return typeof tpe === 'string' ? tpe : undefined
  } catch {
    return /^\s*\{\s*"tpe"\s*:\s*"([^"\\]*)"/.exec(body)?.[1]
  }
}
