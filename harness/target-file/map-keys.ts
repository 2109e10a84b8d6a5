import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type {
  HeaderValue,
  HeaderValues,
  HookRequestValue,
  KeyValue,
  OperationValue,
  ScenarioValue,
  TargetFile,
} from './target-file.ts'
import { isKeyPerOperation } from './declared.ts'
import { isSecretName } from '../recording/index.ts'
import { escapeToken } from '../../schemas/json.ts'

/** Gives what is put in the place of a key at that path of members; undefined leaves it out. */
type Replace = (path: string, value: KeyValue | HeaderValue) => string | undefined

/** The file with every key replaced: those of `keys`, of scenarios, and what the name of a header or query member calls a secret. */
export function mapKeys(file: TargetFile, replace: Replace): TargetFile {
  const { keys, headers, query, setup, teardown, operations, scenarios, ...rest } = file
  const restricted = keys?.restricted
  return compact({
    ...rest,
    keys: keys && {
      ...mapMembers({ ...keys }, (name, value) =>
        name === 'restricted' && isKeyPerOperation(restricted) ? undefined : replace(`keys.${name}`, value as KeyValue),
      ),
      ...(isKeyPerOperation(restricted) && {
        restricted: mapMembers(restricted, (id, value) => replace(`keys.restricted.${id}`, value)),
      }),
    },
    headers: mapHeaders('headers', headers, replace),
    query: mapHeaders('query', query, replace),
    setup: mapHookRequests('setup', setup, replace),
    teardown: mapHookRequests('teardown', teardown, replace),
    operations:
      operations &&
      mapMembers(operations, (id, value) =>
        typeof value === 'object' ? mapOperation(`operations.${id}`, value, replace) : value,
      ),
    scenarios: scenarios && mapMembers(scenarios, (id, value) => mapScenario(`scenarios.${id}`, value, replace)),
  })
}

function mapHeaders(path: string, headers: HeaderValues | undefined, replace: Replace): HeaderValues | undefined {
  return (
    headers && mapMembers(headers, (name, value) => (isSecretName(name) ? replace(`${path}.${name}`, value) : value))
  )
}

function mapHookRequests(
  path: string,
  requests: readonly HookRequestValue[] | undefined,
  replace: Replace,
): readonly HookRequestValue[] | undefined {
  return requests?.map((request, at) =>
    compact({ ...request, headers: mapHeaders(`${path}[${at}].headers`, request.headers, replace) }),
  )
}

function mapOperation(path: string, value: OperationValue, replace: Replace): OperationValue {
  return compact({
    ...value,
    headers: mapHeaders(`${path}.headers`, value.headers, replace),
    cleanup: mapHookRequests(`${path}.cleanup`, value.cleanup, replace),
  })
}

function mapScenario(path: string, value: ScenarioValue, replace: Replace): ScenarioValue {
  return compact({
    ...value,
    key: value.key === undefined ? undefined : replace(`${path}.key`, value.key),
    headers: mapHeaders(`${path}.headers`, value.headers, replace),
    before: mapHookRequests(`${path}.before`, value.before, replace),
    after: mapHookRequests(`${path}.after`, value.after, replace),
  })
}

function mapMembers<T, R>(
  members: Readonly<Record<string, T>>,
  map: (name: string, value: T) => R,
): Record<string, Exclude<R, undefined>> {
  return compact(
    Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(name, value)])),
  ) as Record<string, Exclude<R, undefined>>
}

/** Without the members that are undefined. */
export function compact<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T
}

/** The canonical JSON (RFC 8785) of the target file without its keys and secret headers. */
export function canonicalTarget(file: TargetFile): string {
  const { keys: _, ...rest } = mapKeys(plainData(file, () => undefined) as TargetFile, () => undefined)
  return canonicalize(rest) ?? ''
}

/** `sha256:...` over that JSON. */
export function targetDigest(file: TargetFile): string {
  return `sha256:${createHash('sha256').update(canonicalTarget(file)).digest('hex')}`
}

/** Places at which a module may have a function in place of a key. */
const keyPlace = /^\/keys\/[^/]+(\/[^/]+)?$|^\/scenarios\/[^/]+\/key$/

/**
 * The value as JSON would hold it, functions in place of keys written as a word; `problem` is called with the pointer of
 * whatever JSON cannot hold.
 */
export function plainData(
  value: unknown,
  problem: (pointer: string, what: string) => void,
  pointer = '',
  around: readonly object[] = [],
): unknown {
  if (typeof value === 'function' && keyPlace.test(pointer)) return 'function'
  if (typeof value === 'number' && !Number.isFinite(value)) problem(pointer, `${value} is not a JSON number`)
  if (['function', 'symbol', 'bigint'].includes(typeof value)) problem(pointer, `a ${typeof value} is not allowed here`)
  if (typeof value !== 'object' || value === null) return value
  if (around.includes(value)) return problem(pointer, 'holds itself')
  const inside = [...around, value]
  if (Array.isArray(value)) return value.map((item, index) => plainData(item, problem, `${pointer}/${index}`, inside))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) problem(pointer, 'must be a plain object')
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(
    members.map(([name, member]) => [name, plainData(member, problem, `${pointer}/${escapeToken(name)}`, inside)]),
  )
}
