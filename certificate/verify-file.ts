import { basename } from 'node:path'
import { type EvidenceFiles, readCertificateFile, keyId } from './certificate-file.ts'
import { describe } from './describe.ts'
import { readPublicKey } from './keys.ts'
import { DAY_MS, reasonsIn } from './statement.ts'
import type { SuiteFacts } from './suite-facts.ts'
import { refused, verifyCertificate, type Verification } from './verify-certificate.ts'
import { lstatSync } from 'node:fs'
import { parseJson, readBytes, refuseDoubled } from '../harness/report/index.ts'
import { ensure } from '../harness/user-error.ts'
import { isObject } from '../schemas/json.ts'

/** A certificate, and the options of `verify`: what it is held against, and what is asked of it beyond its being valid. */
export interface VerifyRequest extends EvidenceFiles {
  /** The certificate or the bundle. */
  readonly file: string
  readonly publicKey?: string | undefined
  /** `revoked.json`, or the `index.json` of a register. */
  readonly revoked?: string | undefined
  /** By exact names, not partial, and by the requirements of a version of the suite. */
  readonly require?: 'conformant' | undefined
  /** One of these keys must have signed. */
  readonly keyId?: readonly string[] | undefined
  /** These must have been judged, or so many. */
  readonly requireOperations?: readonly string[] | number | undefined
  /** In normal form. */
  readonly baseUrl?: string | undefined
  /** The run began no more days ago. */
  readonly maxAge?: number | undefined
}

/**
 * Looks at a certificate or bundle; throws UserError if it cannot be looked at. Gives the lines that `verify` prints, and what
 * `verify --json` does.
 */
export function verifyFile(
  request: VerifyRequest,
  { now, suite }: { readonly now: Date; readonly suite: SuiteFacts },
) {
  const publicKey = request.publicKey === undefined ? undefined : readPublicKey(request.publicKey)
  const revocations = request.revoked === undefined ? undefined : readRevocations(request.revoked)
  const { bytes, evidence, bundle } = readCertificateFile(request.file, request)
  const verification = bytes
    ? verifyCertificate(bytes, { now, suite, publicKey, evidence })
    : refused('it is not a bundle as conform sign writes it; it was changed, or is another archive')
  const { keyId: keyIds = [] } = request
  const given = publicKey && { path: request.publicKey as string, id: keyId(publicKey) }
  const named = [...keyIds, ...(given ? [given.id] : [])]
  const found = withRevocation(verification, named, revocations)
  const unmet = unmetDemands(found, { ...request, named, now })
  const { problems, signers, statement } = found
  const { verdicts, partial, operations } = statement?.predicate ?? {}
  const words = bundle ? `the report in ${basename(request.file)}` : request.report
  return {
    ...describe(found, unmet, {
      publicKey: given,
      keyIds,
      evidence: words,
      exchanges: evidence?.exchanges !== undefined,
      revocations,
      suite,
    }),
    result: {
      /** Valid, and all that was asked of it is met: exit 0. */
      accepted: problems.length === 0 && unmet.length === 0,
      /** `insufficient`: valid, but not what was asked for. */
      outcome: outcomeOf(problems, unmet),
      valid: problems.length === 0,
      problems,
      unmet,
      /** Each signer, and how it was known: by which option, or not at all. */
      signedBy: signers.map((id) => ({
        keyId: id,
        known: id === given?.id ? '--public-key' : named.includes(id) ? '--key-id' : null,
      })),
      /** `sha256:` of what was signed; null if the signature does not hold, as are the rest but the last two. */
      certificate: found.id ?? null,
      /** By exact names. */
      verdict: verdicts?.exact ?? null,
      /** Whether its requirements are those of a version of the suite that this one knows. */
      published: statement ? !found.isForeign : null,
      partial: partial ?? null,
      operations: operations ?? null,
      statement: statement ?? null,
      /** Source of the revocations, and when it was built if it says so; null if they were not looked up. */
      revocations: revocations ? { path: revocations.path, asOf: revocations.asOf } : null,
      /** Names of the evidence that the claims were held against. */
      heldAgainst: [
        evidence && 'report',
        evidence?.exchanges && 'exchanges',
        evidence?.target && 'target',
      ].filter(Boolean),
    },
  }
}

function outcomeOf(problems: readonly string[], unmet: readonly string[]) {
  if (problems.length > 0) return 'invalid' as const
  return unmet.length > 0 ? ('insufficient' as const) : ('accepted' as const)
}

/**
 * A certificate that was revoked is not valid: itself, or every key that is relied on. Those are the signers that were
 * named, or all of them if nobody named any.
 */
function withRevocation(
  found: Verification,
  named: readonly string[],
  revocations?: Revocations,
): Verification {
  if (!revocations || found.id === undefined) return found
  const known = found.signers.filter((id) => named.includes(id))
  const revocation = revocationOf(
    found.id,
    known.length > 0 ? known : found.signers,
    revocations.entries,
  )
  if (!revocation) return found
  const { id, day, reason } = revocation
  const problem = `${id === found.id ? 'it' : `its key ${id}`} was revoked on ${day}: ${reason}`
  return { ...found, problems: [problem, ...found.problems] }
}

/** @param asked with the ids of all keys that were named */
function unmetDemands(
  { statement, signers, isForeign }: Verification,
  asked: VerifyRequest & { readonly named: readonly string[]; readonly now: Date },
): string[] {
  if (!statement) return []
  const { uri } = statement.subject[0]
  const { operations, partial, run, verdicts } = statement.predicate
  const { judged } = operations
  const {
    baseUrl,
    keyId: keyIds = [],
    maxAge = Infinity,
    now,
    requireOperations: required = 0,
  } = asked
  const unsigned = asked.named.filter((id) => !signers.includes(id))
  const unjudged = typeof required === 'number' ? [] : required.filter((id) => !judged.includes(id))
  const fewest = typeof required === 'number' ? required : 0
  const age = now.getTime() - Date.parse(run.startedAt)
  const whole = asked.require === 'conformant'
  const unknown =
    'its requirements are those of no version of the suite that this one knows (--require conformant); a later version may know them'
  return reasonsIn([
    [
      keyIds.length > 0 && keyIds.every((id) => unsigned.includes(id)),
      `it is not signed by ${keyIds.join(' or ')} (--key-id)`,
    ],
    [
      whole && verdicts.exact !== 'conformant',
      `it is ${verdicts.exact} by exact names (--require conformant)`,
    ],
    [whole && partial.length > 0, 'it is partial (--require conformant)'],
    [whole && isForeign, unknown],
    [baseUrl !== undefined && uri !== baseUrl, `it is for ${uri} (--base-url ${baseUrl})`],
    [
      judged.length < fewest,
      `${judged.length} operations were judged (--require-operations ${fewest})`,
    ],
    [unjudged.length > 0, `it does not judge ${unjudged.join(', ')} (--require-operations)`],
    [age > maxAge * DAY_MS, `the run began at ${run.startedAt} (--max-age ${maxAge})`],
  ])
}

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
