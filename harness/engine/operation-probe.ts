import type { OperationId } from '../../catalogue/operations.ts'
import type { Run } from './run.ts'
import { type Credential, type Probe, type RequestHeader, withOwn } from './probe.ts'
import { readsDeclared } from '../target-file/declared.ts'
import type { Effect } from '../../catalogue/operation.ts'

interface ProbeParts {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: readonly RequestHeader[]
  /** Sent as JSON. */
  readonly json?: unknown
  readonly credential?: Credential
  readonly effect?: Probe['effect']
}

export const jsonType: RequestHeader = { name: 'content-type', value: 'application/json' }

/** A request of that operation, with the full key if no other credential is given; at the path that the target declares. */
export async function operationProbe(run: Run, id: OperationId, parts: ProbeParts): Promise<Probe> {
  const { method, path } = run.api.operation(id)
  const hasJson = Object.hasOwn(parts, 'json')
  const binding = run.target.operations[id]
  const headers = withOwn(binding?.headers ?? [], parts.headers ?? [])
  const hasType = headers.some(({ name }) => name.toLowerCase() === 'content-type')
  return {
    operation: id,
    method,
    path: binding?.path ?? path,
    params: parts.params ?? {},
    query: { ...binding?.query, ...parts.query },
    headers: hasJson && !hasType ? [jsonType, ...headers] : headers,
    credential: parts.credential ?? (await run.keys.full()),
    effect: parts.effect ?? 'none',
    ...(hasJson ? { body: JSON.stringify(parts.json) } : {}),
  }
}

/** A request with the full key that changes nothing: it tells whether the target lives, and shows a connection the key. */
export function livenessProbe(run: Run): Promise<Probe> {
  return operationProbe(run, run.api.first, {})
}

/** Tells what a conforming target does when it grants the operation's valid request. Reading a declared object makes none. */
export function effectOf(run: Run, operation: OperationId): Effect {
  return readsDeclared(operation, run.target.file) ? 'none' : run.api.granted(operation).effect
}
