import { granting } from '../../catalogue/catalogue.ts'
import { type HeaderLine, type HttpRequest, isNamed } from '../http/index.ts'
import {
  type OperationId,
  firstOperation,
  operation as operationOf,
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
  probeOf,
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
  return readsDeclared(operation, given.target.file) ? 'none' : granting(operation).effect
}

export function httpRequest(given: Pick<Given, 'target'>, probe: Probe): HttpRequest {
  const { method, headers, body, credential } = probe
  const { value } = credential
  const own = value === undefined ? headers : [...headers, { name: 'authorization', value }]
  const path = pathOf(probe, given.target.query)
  return { method, path, headers: withOwn(given.target.headers, own), body }
}

export function operationName({ operation, method, path }: Probe): string {
  return operation ?? `${method} ${path}`
}

/** The request with the current key, since a short-lived one may have expired in the queue. */
export function requestOf(
  given: Pick<Given, 'keys' | 'target'>,
  probe: Probe,
  purpose: Purpose,
  source?: Source,
): PreviousRequest | Promise<PreviousRequest> {
  const again = source && (() => probeOf(source))
  const withKey = (credential: Credential): PreviousRequest => {
    const current = credential === probe.credential ? probe : { ...probe, credential }
    return { probe: current, purpose, request: httpRequest(given, current), again }
  }
  const credential = given.keys.current(probe.credential)
  return credential instanceof Promise ? credential.then(withKey) : withKey(credential)
}
