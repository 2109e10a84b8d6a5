import type { HttpAnswer, HttpRequest, HttpResult } from '../../harness/http/message.ts'
import { differ } from './answer.ts'
import type { Asked, Past } from './traffic.ts'

/** What an alteration has to go by. */
export interface Given {
  readonly asked: Asked
  readonly past: Past
  /** Answers of a run without alterations, by signature: their ids are unknown in this one. */
  readonly recorded: ReadonlyMap<string, HttpAnswer>
  /** Hands the request to the reference, or another one in its place. */
  ask(request?: HttpRequest): Promise<HttpResult>
}

export interface Altered {
  readonly result: HttpResult
  /** False if it came to nothing: the reference would have answered the same. */
  readonly changed: boolean
}

/** What a wrong server does with one request. */
export type Alter = (given: Given) => Promise<Altered>

/** Lets the request have its effect, and changes an answer of that status; undefined leaves it as it is. */
export function answered(status: number, change: (answer: HttpAnswer, given: Given) => HttpResult | undefined): Alter {
  return async (given) => {
    const right = await given.ask()
    if (right.kind !== 'answer' || right.status !== status) return { result: right, changed: false }
    const result = change(right, given) ?? right
    return { result, changed: result.kind !== 'answer' || differ(result, right) }
  }
}
