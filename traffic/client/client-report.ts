import { groupBy } from '../../harness/group-by.ts'
import { isRefusal } from '../../catalogue/requirement.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { member } from '../../schemas/json.ts'
import type { RequestFault } from './request-faults.ts'
import type { Played } from './script.ts'

/** A fault of a request, or of the way in which it came. */
export type ClientFault =
  | RequestFault
  /** §8: the application's job was in progress, by all that the client knew. */
  | { readonly rule: 'repeated-creation'; readonly job: string }
  /** It came back before `Retry-After` (s) was over; without one, twice in a row at once. */
  | { readonly rule: 'waiting'; readonly retryAfter: number | undefined; readonly waitedMs: number }

/** A fault, told once; the same one again is counted. */
export interface ClientFinding {
  /** Which request showed it first, from 1. */
  readonly request: number
  readonly operation: OperationId | null
  readonly method: string
  readonly path: string
  readonly fault: ClientFault
  count: number
}

/** An answer that a client got, and how often. */
export interface CountedResponse {
  readonly status: number
  /** The `tpe` of the errors. */
  readonly tpe?: string
  count: number
}

/** An error that the operation can answer with. */
export interface ErrorCondition {
  readonly status: number
  readonly tpe: string
  /** Requirements that are answered so. */
  readonly ids: readonly string[]
  readonly met: number
  /** Value of the header `x-simulate` that brings it about. */
  readonly simulate?: string
}

interface UsedOperation {
  readonly operation: OperationId
  readonly deprecated: boolean
  readonly requests: number
  readonly answers: readonly CountedResponse[]
  readonly errors: readonly ErrorCondition[]
}

/** How the client behaved, all of it. */
export interface ClientReport {
  readonly format: 'client-report/1'
  readonly suite: { readonly name: string; readonly version: string; readonly specVersion: string }
  readonly startedAt: string
  readonly durationMs: number
  readonly requests: number
  /** Requests that did not keep the interface. */
  readonly wrong: number
  readonly exit: { readonly code: 0 | 1 | 3; readonly because: ClientExit }
  readonly operations: readonly UsedOperation[]
  readonly unused: readonly OperationId[]
  readonly findings: readonly ClientFinding[]
  readonly script: readonly Played[]
}

/** Why the exit code is what it is. */
type ClientExit =
  | { readonly kind: 'kept' }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'no-request' }
  /** So many answers of the script were asked for by nobody. */
  | { readonly kind: 'script-not-played'; readonly steps: number }

const codes = { kept: 0, wrong: 1, 'no-request': 3, 'script-not-played': 3 } as const

/** @param left answers of the script that nobody asked for */
export function exitOf(seen: {
  readonly used: number
  readonly wrong: number
  readonly left: number
}): ClientReport['exit'] {
  const { left, used, wrong } = seen
  const because: ClientExit =
    wrong > 0
      ? { kind: 'wrong' }
      : used === 0
        ? { kind: 'no-request' }
        : left > 0
          ? { kind: 'script-not-played', steps: left }
          : { kind: 'kept' }
  return { code: codes[because.kind], because }
}

/** The errors that the operation's requirements name, by status and type. */
export function errorsOf(
  operation: OperationId,
  responses: readonly CountedResponse[],
  scenarios: Readonly<Record<string, unknown>>,
): ErrorCondition[] {
  const errors = catalogue.flatMap(({ expects, id, operation: of }) => {
    if (of !== operation || !isRefusal(expects)) return []
    const [[status, tpe] = []] = expects as readonly (readonly [unknown, string?])[]
    return typeof status === 'number' && tpe !== undefined ? [{ id, status, tpe }] : []
  })
  const byPair = [...groupBy(errors, ({ status, tpe }) => `${status} ${tpe}`).values()]
  const all = byPair.map((same): ErrorCondition => {
    const { status, tpe } = same[0]!
    const met = responses.find((response) => response.status === status && response.tpe === tpe)?.count ?? 0
    const ids = same.map(({ id }) => id)
    const simulate = ids
      .map((id) => member(member(scenarios[id], 'headers'), 'x-simulate'))
      .find((value) => value !== undefined)
    const value = typeof simulate === 'string' ? simulate.split(' ').slice(0, 2).join(' ') : undefined
    return { status, tpe, ids, met, ...(value !== undefined && { simulate: value }) }
  })
  return all.sort((a, b) => a.status - b.status)
}
