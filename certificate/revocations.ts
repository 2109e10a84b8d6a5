import { lstatSync } from 'node:fs'
import { parseJson, readBytes, refuseDoubled } from '../harness/report/index.ts'
import { ensure } from '../harness/user-error.ts'
import { isObject } from '../schemas/json.ts'

export const REGISTER_FORMAT = 'conform-register/1'

/** A certificate, or all that a key signed, is no longer to be relied on. */
export interface Revocation {
  /** Id of a certificate, as `verify` prints it, or of a key. */
  readonly id: string
  /** Date of the revocation: 2026-03-01. */
  readonly day: string
  readonly reason: string
}

/** The revocations that somebody publishes. */
export type Revocations = ReturnType<typeof readRevocations>

/**
 * Reads `revoked.json`, or the `index.json` of a register, and says as of when that was built. Throws UserError if the file is
 * neither.
 */
export function readRevocations(path: string) {
  const value = parseOnce(path)
  if (!isObject(value)) return { path, asOf: null, entries: checkedRevocations(value, path) }
  const isRegister = value.format === REGISTER_FORMAT
  ensure(
    isRegister,
    `${path}: is neither a list of revocations nor the index.json of a register (${REGISTER_FORMAT})`,
  )
  const { builtAt, revocations } = value
  ensure(typeof builtAt === 'string', `${path}: builtAt is missing`)
  return { path, asOf: builtAt, entries: checkedRevocations(revocations, `${path}: revocations`) }
}

/** The revocations of that file; none if there is no such file. Throws UserError if it is not such a list. */
export function readRevoked(path: string): readonly Revocation[] {
  return isThere(path) ? checkedRevocations(parseOnce(path), path) : []
}

function checkedRevocations(value: unknown, path: string): Revocation[] {
  return checkedList(value, path, ({ id, day, reason }) => {
    if (typeof day !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(Date.parse(day)))
      return 'day'
    return typeof reason === 'string' && reason !== '' && isId(id)
      ? null
      : isId(id)
        ? 'reason'
        : 'id'
  }) as Revocation[]
}

/** A key whose signature a register accepts. */
export interface TrustedKey {
  readonly id: string
  /** Name of the owner, as the pages show it. */
  readonly name?: string
}

/** The keys of such a list; none if there is no such file. Throws UserError if it is not one. */
export function readTrustedKeys(path: string): TrustedKey[] {
  if (!isThere(path)) return []
  return checkedList(parseOnce(path), path, ({ id, name }) => {
    if (name !== undefined && typeof name !== 'string') return 'name'
    return isId(id) ? null : 'id'
  }) as TrustedKey[]
}

/**
 * Entry that revokes a certificate: its own, or that of the last key that is relied on.
 * @param keys ids of the keys that signed it and are relied on
 */
export function revocationOf(id: string, keys: readonly string[], entries: readonly Revocation[]) {
  const entryOf = (name: string) => entries.find((entry) => entry.id === name)
  const ofKeys = keys.map(entryOf)
  return entryOf(id) ?? (ofKeys.every((entry) => entry !== undefined) ? ofKeys[0] : undefined)
}

/** A link that leads nowhere is there: it must not pass for an empty list. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function parseOnce(path: string): unknown {
  const text = readBytes(path).toString('utf8')
  const value = parseJson(text, path)
  refuseDoubled(text, path)
  return value
}

function checkedList(
  value: unknown,
  path: string,
  wrongMember: (item: Record<string, unknown>) => string | null,
): unknown[] {
  ensure(Array.isArray(value), `${path}: must be a list`)
  value.forEach((item: unknown, index) => {
    const wrong = isObject(item) ? wrongMember(item) : 'id'
    ensure(wrong === null, `${path}: [${index}].${wrong} is missing or malformed`)
  })
  return value
}

function isId(id: unknown): boolean {
  return typeof id === 'string' && /^sha256:[0-9a-f]{64}$/.test(id)
}
