import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { HeaderValue, KeyValue, TargetFile } from './target-file.ts'
import { isKeyPerOperation } from './declared.ts'
import { isSecretName } from '../recording/index.ts'
import { escapeToken, isObject, memberPath, tokensOf } from '../../schemas/json.ts'

/** Gives what is put in the place of a key at that path of members; undefined leaves it out. */
type Replace = (path: string, value: KeyValue | HeaderValue) => string | undefined

/** The place of a key; of `keys.restricted` with one key per operation, of each of them. */
const keyPlace = /^\/keys\/[^/]+(\/[^/]+)?$|^\/scenarios\/[^/]+\/key$/

/** The place of a header or query member, whose name may call it a secret. */
const headerPlace =
  /^(\/query|(\/(setup|teardown)\/\d+|\/(operations|scenarios)\/[^/]+(\/(cleanup|before|after)\/\d+)?)?\/headers)\/[^/]+$/

function isKey(pointer: string, value: unknown): boolean {
  if (headerPlace.test(pointer)) return isSecretName(tokensOf(pointer).at(-1) ?? '')
  return keyPlace.test(pointer) && !(pointer === '/keys/restricted' && isKeyPerOperation(value))
}

/** The file with every key replaced: those of `keys`, of scenarios, and what the name of a header or query member calls a secret. */
export function mapKeys(file: TargetFile, replace: Replace): TargetFile {
  const mapped = (value: unknown, pointer: string): unknown => {
    if (isKey(pointer, value)) return replace(memberPath(pointer), value as KeyValue | HeaderValue)
    if (Array.isArray(value)) return value.map((item, at) => mapped(item, `${pointer}/${at}`))
    if (!isObject(value)) return value
    const inside = ([name, item]: [string, unknown]) => [name, mapped(item, `${pointer}/${escapeToken(name)}`)] as const
    return compact(Object.fromEntries(Object.entries(value).map(inside)))
  }
  return mapped(file, '') as TargetFile
}

/** Drops the members that are undefined. */
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
