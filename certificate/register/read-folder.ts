import { readdirSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { unreadable, UserError } from '../../harness/user-error.ts'
import { readCertificateFile } from '../certificate-file.ts'
import type { Statement } from '../statement.ts'
import type { SuiteFacts } from '../suite-facts.ts'
import { verifyCertificate } from '../verify-certificate.ts'
import { parseJson, readBytes } from '../../harness/report/json-file.ts'
import { isObject } from '../../schemas/json-object.ts'

/** The files of a register's folder that are no certificates. */
const REVOKED = 'revoked.json'
const TRUSTED = 'trusted-keys.json'

/** A certificate, or all that a key signed, is no longer to be relied on. */
interface Revocation {
  /** Of a certificate, as `verify` prints it, or of a key. */
  readonly id: string
  /** Such as 2026-03-01. */
  readonly day: string
  readonly reason: string
}

interface TrustedKey {
  readonly id: string
  /** Whose it is, as the pages show it. */
  readonly name?: string
}

/** The revocations of a register; none if there is no such file. Throws UserError if the file is not such a list. */
function readRevoked(folder: string): Revocation[] {
  return readList(join(folder, REVOKED), ({ id, day, reason }) => {
    if (typeof day !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(Date.parse(day))) return 'day'
    return typeof reason === 'string' && reason !== '' && isId(id) ? null : isId(id) ? 'reason' : 'id'
  }) as Revocation[]
}

/** The keys that a register trusts: those of its file, and those that were named besides. */
function readTrusted(folder: string, keyIds: readonly string[]): TrustedKey[] {
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

/** A certificate of the register that was verified. */
export interface Registered {
  readonly id: string
  readonly bytes: Uint8Array
  readonly statement: Statement
  /** Those of its signers that the register trusts. */
  readonly signedBy: readonly TrustedKey[]
  readonly status: 'valid' | 'expired' | 'revoked'
  readonly revocation?: Revocation
}

export interface ReadOptions {
  /** Trusted besides those of the folder's own list. */
  readonly keyIds: readonly string[]
  readonly suite: SuiteFacts
  readonly now: Date
}

/**
 * Every certificate of the folder, bundles included, verified against the keys that are trusted. Throws UserError that names
 * each one that does not verify: nothing is to be published beside it.
 */
export function readRegister(folder: string, options: ReadOptions): Registered[] {
  const trusted = readTrusted(folder, options.keyIds)
  const revoked = readRevoked(folder)
  const found = new Map<string, { file: string; registered: Registered }>()
  const problems: string[] = []
  for (const file of certificateFiles(folder)) {
    const read = readOne(join(folder, file), { ...options, trusted, revoked })
    if (typeof read === 'string') problems.push(`${join(folder, file)}: ${read}`)
    else if (found.has(read.id)) problems.push(`${join(folder, file)}: is the same as ${found.get(read.id)?.file}`)
    else found.set(read.id, { file, registered: read })
  }
  const known = new Set([...found.keys(), ...trusted.map(({ id }) => id)])
  // A mistyped id would revoke nothing, and nobody would notice.
  for (const { id } of revoked) {
    if (!known.has(id)) problems.push(`${join(folder, REVOKED)}: ${id} is neither a certificate here nor a trusted key`)
  }
  if (problems.length > 0) throw new UserError(problems.join('\n'))
  return [...found.values()].map(({ registered }) => registered)
}

function certificateFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && /\.(json|zip)$/.test(entry.name))
      .map(({ name }) => name)
      .filter((name) => name !== REVOKED && name !== TRUSTED)
      .sort()
  } catch (error) {
    throw unreadable(folder, error)
  }
}

interface Lists extends ReadOptions {
  readonly trusted: readonly TrustedKey[]
  readonly revoked: readonly Revocation[]
}

/** The certificate of that file, or what is wrong with it. */
function readOne(path: string, lists: Lists): Registered | string {
  try {
    return verified(path, lists)
  } catch (error) {
    if (error instanceof UserError) return error.message
    throw error
  }
}

function verified(path: string, { trusted, revoked, now, suite }: Lists): Registered | string {
  const { bytes, evidence } = readCertificateFile(path)
  if (!bytes) return 'is not a bundle as conform sign writes it'
  const { problems, isExpired, statement, id, signers } = verifyCertificate(bytes, { now, suite, evidence })
  if (!statement || id === undefined || (problems.length > 0 && !isExpired)) return problems.join('; ')
  const signedBy = trusted.filter((key) => signers.includes(key.id))
  if (signedBy.length === 0) return `is signed by no trusted key, but by ${signers.join(', ')}`
  const revocation = revocationOf(id, signedBy, revoked)
  const status = revocation ? 'revoked' : isExpired ? 'expired' : 'valid'
  return { id, bytes, statement, signedBy, status, ...(revocation && { revocation }) }
}

/** Its own, or that of the last trusted key that signed it. */
function revocationOf(id: string, signedBy: readonly TrustedKey[], revoked: readonly Revocation[]) {
  const own = revoked.find((entry) => entry.id === id)
  const keys = signedBy.map((key) => revoked.find((entry) => entry.id === key.id))
  return own ?? (keys.every((entry) => entry !== undefined) ? keys[0] : undefined)
}
