import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { escapeToken, isObject, tokensOf } from '../../schemas/json.ts'
import { isSecretName } from '../recording/redactor.ts'
import { isKeyPerOperation } from './declared.ts'
import {
  type HookRequest,
  type Resources,
  type Target,
  type HeaderValue,
  type KeyValue,
  type SetupRequestValue,
  type TargetFile,
} from './model.ts'

const keyPlace = /^\/keys\/[^/]+(\/[^/]+)?$|^\/scenarios\/[^/]+\/key$/
/** The place of a header or query member, whose name may mark it as secret. */
const headerPlace =
  /^((\/(operations|scenarios)\/[^/]+)?\/query|(\/(setup|teardown)\/\d+|\/(operations|scenarios)\/[^/]+(\/(cleanup|before|after)\/\d+)?)?\/headers)\/[^/]+$/
/** The id of an object of the target: in `resources`, or a path parameter of a scenario. */
export const idPlace = /^\/resources\/(\w+\/id|(?!pdfText)\w+)$|^\/scenarios\/[^/]+\/params\/\w+$/

/**
 * The target file as plain JSON.
 * @param shown replaces a key, `keys`, a scenario, or a header or query member with a secret name; undefined removes it
 */
export function plainFile(
  value: unknown,
  shown: (key: KeyValue | HeaderValue, pointer: string) => unknown,
  pointer = '',
): unknown {
  const isKey = headerPlace.test(pointer)
    ? isSecretName(tokensOf(pointer).at(-1) ?? '')
    : keyPlace.test(pointer) && !(pointer === '/keys/restricted' && isKeyPerOperation(value))
  if (isKey) return shown(value as KeyValue | HeaderValue, pointer)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(
    ([name, item]) => [name, plainFile(item, shown, `${pointer}/${escapeToken(name)}`)] as const,
  )
  if (Array.isArray(value)) return members.map(([, item]) => item)
  return Object.fromEntries(members.filter(([, item]) => item !== undefined))
}

/** The digest of the target file as canonical JSON (RFC 8785), without keys and secret headers. */
export function targetDigest(file: TargetFile): string {
  const { keys: _, ...rest } = plainFile(file, () => undefined) as TargetFile
  return `sha256:${createHash('sha256')
    .update(canonicalize(rest) ?? '')
    .digest('hex')}`
}

interface Leaf {
  readonly pointer: string
  readonly text: string
}

/** The texts and numbers in a value, with their places. */
export function leavesOf(value: unknown, pointer = ''): Leaf[] {
  if (typeof value === 'string' || typeof value === 'number')
    return [{ pointer, text: String(value) }]
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return []
  return Object.entries(value).flatMap(([name, item]) =>
    leavesOf(item, `${pointer}/${escapeToken(name)}`),
  )
}

export function namesIn(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
}

type Saved = ReadonlyMap<string, string>

function fill(text: string, saved: Saved, written: (value: string) => string): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = saved.get(name)
    return value === undefined ? whole : written(value)
  })
}

function fillIn<T>(value: T, saved: Saved): T {
  const filled = (inner: unknown): unknown => {
    if (typeof inner === 'string') return fill(inner, saved, (text) => text)
    if (Array.isArray(inner)) return inner.map(filled)
    if (!isObject(inner) || inner instanceof Uint8Array) return inner
    return Object.fromEntries(Object.entries(inner).map(([name, item]) => [name, filled(item)]))
  }
  return filled(value) as T
}

export function fillRequest<R extends HookRequest>(request: R, saved: Saved): R {
  const url = fill(request.url, saved, encodeURIComponent)
  return {
    ...request,
    url,
    ...(request.body === undefined ? {} : { body: fillIn(request.body, saved) }),
  }
}

export function fillTarget(target: Target, saved: Saved): Target {
  if (saved.size === 0) return target
  const values = [...saved.values()].map((value) => value.toLowerCase())
  return {
    ...target,
    resources: fillIn(target.resources, saved),
    ids: new Set([...target.ids, ...values]),
    file: {
      ...target.file,
      ...(target.file.resources && { resources: fillIn(target.file.resources, saved) }),
    },
  }
}

/** The names under which requests of `setup` save what they are answered. */
export const namesSaved = (setup: readonly Pick<SetupRequestValue, 'save'>[]): string[] =>
  setup.flatMap((request) => Object.keys(request.save ?? {}))

function onlyRead(requests: readonly HookRequest[]): boolean {
  return requests.every((request) => request.method === 'GET' || request.method === 'HEAD')
}

/** The target for `--read-only`: leaves out `setup` and `teardown` if they may change it, and the values that `setup` saves. */
export function readOnlyTarget(target: Target): Target {
  const teardown = onlyRead(target.teardown) ? target.teardown : []
  if (onlyRead(target.setup)) return { ...target, teardown }
  const names = namesSaved(target.setup)
  const isKept = ([, value]: [string, unknown]): boolean =>
    leavesOf(value).every((leaf) => !namesIn(leaf.text).some((one) => names.includes(one)))
  const kept = <T extends object>(value: T): T =>
    Object.fromEntries(Object.entries(value).filter(isKept)) as T
  const { resources: declared, ...file } = target.file
  return {
    ...target,
    setup: [],
    teardown,
    resources: kept<Resources>(target.resources),
    file: { ...file, ...(declared && { resources: kept(declared) }) },
  }
}
