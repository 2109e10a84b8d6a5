import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson, readBytes } from '../../harness/report/json-file.ts'
import { isObject } from '../../schemas/json-object.ts'
import { UserError } from '../../harness/user-error.ts'

/** The files of a register's folder that are no certificates. */
export const REVOKED = 'revoked.json'
export const TRUSTED = 'trusted-keys.json'

/** A certificate, or all that a key signed, is no longer to be relied on. */
export interface Revocation {
  /** Of a certificate, as `verify` prints it, or of a key. */
  readonly id: string
  /** Such as 2026-03-01. */
  readonly day: string
  readonly reason: string
}

export interface TrustedKey {
  readonly id: string
  /** Whose it is, as the pages show it. */
  readonly name?: string
}

/** The revocations of a register; none if there is no such file. Throws UserError if the file is not such a list. */
export function readRevoked(folder: string): Revocation[] {
  return readList(join(folder, REVOKED), ({ id, day, reason }) => {
    if (typeof day !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(Date.parse(day))) return 'day'
    return typeof reason === 'string' && reason !== '' && isId(id) ? null : isId(id) ? 'reason' : 'id'
  }) as Revocation[]
}

/** The keys that a register trusts: those of its file, and those that were named besides. */
export function readTrusted(folder: string, keyIds: readonly string[]): TrustedKey[] {
  const listed = readList(join(folder, TRUSTED), ({ id, name }) => {
    if (name !== undefined && typeof name !== 'string') return 'name'
    return isId(id) ? null : 'id'
  }) as TrustedKey[]
  const others = keyIds.filter((id) => !listed.some((key) => key.id === id)).map((id) => ({ id }))
  if (listed.length + others.length > 0) return [...listed, ...others]
  throw new UserError(`${folder}: no key is trusted; name those that are in ${TRUSTED}, or with --key-id`)
}

function readList(path: string, wrongMember: (item: Record<string, unknown>) => string | null): unknown[] {
  if (!existsSync(path)) return []
  const value = parseJson(readBytes(path).toString('utf8'), path)
  if (!Array.isArray(value)) throw new UserError(`${path}: must be a list`)
  value.forEach((item: unknown, index) => {
    const wrong = isObject(item) ? wrongMember(item) : 'id'
    if (wrong !== null) throw new UserError(`${path}: [${index}].${wrong} is missing, or not what it should be`)
  })
  return value as unknown[]
}

function isId(id: unknown): boolean {
  return typeof id === 'string' && /^sha256:[0-9a-f]{64}$/.test(id)
}
