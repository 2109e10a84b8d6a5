import { granting } from '../../catalogue/catalogue.ts'
import { type HeaderLine, isNamed } from '../http/index.ts'
import {
  type OperationId,
  firstOperation,
  operationOf,
  type Effect,
  type Operation,
} from '../../catalogue/operations.ts'
import type { Given } from './state.ts'
import {
  type Credential,
  type Probe,
  type Purpose,
  type PreviousRequest,
  type Source,
  withOwn,
  pathOf,
} from '../journal/index.ts'
import { readsDeclared } from '../target/index.ts'

interface ProbeParts {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: readonly HeaderLine[]
  readonly json?: unknown
  readonly credential?: Credential
  readonly effect?: Probe['effect']
}

export const jsonType: HeaderLine = { name: 'content-type', value: 'application/json' }

export async function operationProbe(
  given: Pick<Given, 'keys' | 'target'>,
  id: OperationId,
  parts: ProbeParts,
): Promise<Probe> {
  const credential = parts.credential ?? (await given.keys.full())
  return draftOf(given.target, operationOf(id), { ...parts, credential })
}

export function draftOf(
  target: Pick<Given['target'], 'operations'>,
  { id: name, method, path }: Pick<Operation, 'id' | 'method' | 'path'>,
  parts: ProbeParts & { readonly credential: Credential },
): Probe {
  const id = name as OperationId
  const hasJson = Object.hasOwn(parts, 'json')
  const binding = target.operations[id]
  const headers = withOwn(binding?.headers ?? [], parts.headers ?? [])
  const hasType = headers.some((line) => isNamed(line, 'content-type'))
  return {
    operation: id,
    method,
    path: binding?.path ?? path,
    params: parts.params ?? {},
    query: { ...binding?.query, ...parts.query },
    headers: hasJson && !hasType ? [jsonType, ...headers] : headers,
    credential: parts.credential,
    effect: parts.effect ?? 'none',
    body: hasJson ? JSON.stringify(parts.json) : undefined,
  }
}

/** An id that does not exist: a gateway's answer there is its answer everywhere. */
const nobodysId = '00000000-0000-4000-8000-000000000000'

export function livenessProbe(
  given: Pick<Given, 'keys' | 'target'>,
  id = firstOperation,
  credential?: Credential,
): Promise<Probe> {
  const names = Object.keys(operationOf(id).params ?? {})
  const params = Object.fromEntries(names.map((name) => [name, nobodysId]))
  return operationProbe(given, id, { params, ...(credential && { credential }) })
}

export const forLiveness: Purpose = { requirement: null, role: 'liveness', skipPassive: true }

/** The effect of the operation's valid request on a conforming target. Reading a declared object has none. */
export function effectOf(given: Pick<Given, 'target'>, operation: OperationId): Effect {
  return readsDeclared(operation, given.target.file) ? 'none' : granting[operation].effect
}

export function operationName(probe: Probe): string {
  return probe.operation ?? `${probe.method} ${probe.path}`
}

export function requestOf(
  target: Given['target'],
  probe: Probe,
  credential: Credential,
  purpose: Purpose,
  again?: Source,
): PreviousRequest {
  const { method, headers, body } = probe
  const { value } = credential
  const own = value === undefined ? headers : [...headers, { name: 'authorization', value }]
  const path = pathOf(probe, target.query)
  const request = { method, path, headers: withOwn(target.headers, own), body }
  const current = credential === probe.credential ? probe : { ...probe, credential }
  return { probe: current, purpose, request, again }
}
