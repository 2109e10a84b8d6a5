import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { groupBy } from '../../harness/group-by.ts'
import { orMistake, unreadable, UserError } from '../../harness/user-error.ts'
import { readCertificateFile } from '../certificate-file.ts'
import {
  readRevoked,
  readTrustedKeys,
  type Revocation,
  revocationOf,
  type TrustedKey,
} from '../verify-file.ts'
import type { Statement } from '../statement-schema.ts'
import type { SuiteFacts } from '../suite-facts.ts'
import { verifyCertificate } from '../verify-certificate.ts'

/** The files of a register's folder that are no certificates. */
const REVOKED = 'revoked.json'
const TRUSTED = 'trusted-keys.json'

/** The keys that a register trusts: those of its file, and those that were named besides. */
function readTrusted(folder: string, keyIds: readonly string[]): TrustedKey[] {
  const listed = readTrustedKeys(join(folder, TRUSTED))
  const others = keyIds.filter((id) => !listed.some((key) => key.id === id)).map((id) => ({ id }))
  if (listed.length + others.length > 0) return [...listed, ...others]
  throw new UserError(
    `${folder}: no key is trusted; name those that are in ${TRUSTED}, or with --key-id`,
  )
}

/** A certificate of the register that was verified. */
export interface Registered {
  readonly id: string
  readonly bytes: Uint8Array
  /** The file that it was in, if that is a bundle. */
  readonly bundle?: Uint8Array
  readonly statement: Statement
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

/** Content of a folder of certificates. */
export type Register = ReturnType<typeof readRegister>

/**
 * Every certificate of the folder, bundles included, verified against the keys that are trusted. Throws UserError that names
 * each one that does not verify: nothing is to be published beside it.
 */
export function readRegister(folder: string, options: ReadOptions) {
  const trusted = readTrusted(folder, options.keyIds)
  const revoked = readRevoked(join(folder, REVOKED))
  const found = new Map<string, { file: string; registered: Registered }>()
  const problems: string[] = []
  for (const file of certificateFiles(folder)) {
    const read = orMistake(() => verified(join(folder, file), { ...options, trusted, revoked }))
    if (read instanceof UserError) problems.push(`${join(folder, file)}: ${read.message}`)
    else if (typeof read === 'string') problems.push(`${join(folder, file)}: ${read}`)
    else if (found.has(read.id))
      problems.push(`${join(folder, file)}: is the same as ${found.get(read.id)?.file}`)
    else found.set(read.id, { file, registered: read })
  }
  const known = new Set([...found.keys(), ...trusted.map(({ id }) => id)])
  // A mistyped id would revoke nothing, and nobody would notice.
  for (const { id } of revoked) {
    if (!known.has(id))
      problems.push(
        `${join(folder, REVOKED)}: ${id} is neither a certificate here nor a trusted key`,
      )
  }
  if (problems.length > 0) throw new UserError(problems.join('\n'))
  const services = servicesOf([...found.values()].map(({ registered }) => registered))
  return { services, revocations: revoked }
}

function certificateFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && /\.(json|zip)$/i.test(entry.name))
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

function verified(path: string, { trusted, revoked, now, suite }: Lists): Registered | string {
  const { bytes, evidence, bundle } = readCertificateFile(path)
  if (!bytes) return 'is not a bundle as conform sign writes it'
  const { problems, isExpired, isForeign, statement, id, signers } = verifyCertificate(bytes, {
    now,
    suite,
    evidence,
  })
  if (!statement || id === undefined || (problems.length > 0 && !isExpired))
    return problems.join('; ')
  if (isForeign)
    return `its requirements are those of no version of the suite that ${suite.version} knows; a later version may know them`
  const signedBy = trusted.filter((key) => signers.includes(key.id))
  if (signedBy.length === 0) return `is signed by no trusted key, but by ${signers.join(', ')}`
  const keys = signedBy.map((key) => key.id)
  const revocation = revocationOf(id, keys, revoked)
  const status = revocation ? 'revoked' : isExpired ? 'expired' : 'valid'
  return {
    id,
    bytes,
    ...(bundle && { bundle }),
    statement,
    signedBy,
    status,
    ...(revocation && { revocation }),
  }
}

export type Service = ReturnType<typeof serviceOf>

/** The certificates by service, which is an address; services in the order of their names. */
function servicesOf(registered: readonly Registered[]) {
  return [...groupBy(registered, ({ statement }) => statement.subject[0].uri)]
    .map(([uri, ofIt]) => serviceOf(uri, ofIt))
    .sort((a, b) => a.name.localeCompare(b.name, 'en') || (a.uri < b.uri ? -1 : 1))
}

/** The name of a certificate's file in the folder of its service. */
export function certificateName({ id }: Registered): string {
  return `certificate-${id.slice('sha256:'.length, 'sha256:'.length + 16)}.json`
}

export function bundleName(one: Registered): string {
  return certificateName(one).replace(/json$/, 'zip')
}

function serviceOf(uri: string, ofIt: readonly Registered[]) {
  const certificates = [...ofIt].sort((a, b) => (judgedAt(a) < judgedAt(b) ? 1 : -1))
  const current = certificates.find(({ status }) => status !== 'revoked') ?? certificates[0]!
  const { name } = current.statement.subject[0]
  const mark = createHash('sha256').update(uri).digest('hex').slice(0, 16)
  const word = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40)
  return {
    ...{ name, uri },
    /** Names its folder: letters, digits and dashes, the same as long as name and address are. */
    slug: [word, mark].filter(Boolean).join('-'),
    /** The certificate of its last run that is not revoked, otherwise the last one. */
    current,
    /** All of them, the last run first. */
    certificates,
  }
}

function judgedAt({ statement, id }: Registered): string {
  return `${statement.predicate.run.startedAt} ${id}`
}
