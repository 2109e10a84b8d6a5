import { isObject } from '../schemas/json-object.ts'
import type { KeyObject } from 'node:crypto'
import { createPublicKey } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import canonicalize from 'canonicalize'
import { inconsistencies } from '../harness/report/consistency.ts'
import { parseReport } from '../harness/report/report-file.ts'
import { UserError } from '../harness/user-error.ts'
import type { Envelope } from './dsse.ts'
import { decode, isSignedBy, keyId } from './dsse.ts'
import { pemOf } from './keys.ts'
import { makeStatement, sha256 } from './make-statement.ts'
import type { Statement } from './statement.ts'
import { PAYLOAD_TYPE } from './statement.ts'
import { contradictions, formProblem } from './statement-problems.ts'

export interface VerifyOptions {
  /** The signer's key, had from the signer; without it the one inside the certificate serves. */
  readonly publicKey?: KeyObject
  /** The report that the certificate is to be held against. */
  readonly report?: { readonly path: string; readonly bytes: Uint8Array }
  readonly now: Date
}

/** What was found: the statement and its signer where the signature holds, and every problem; valid where there is none. */
export interface Verification {
  readonly problems: readonly string[]
  readonly statement?: Statement
  readonly signer?: string
}

/** Checks a certificate's file, offline: every byte of it, signature, time, its own consistency, and the report if given. */
export function verifyCertificate(bytes: Uint8Array, options: VerifyOptions): Verification {
  const envelope = decode(bytes)
  if (!envelope)
    return refuse('it is not a certificate as conform sign writes it; it was changed, or is something else')
  if (envelope.payloadType !== PAYLOAD_TYPE)
    return refuse(`its payload is ${envelope.payloadType}, not ${PAYLOAD_TYPE}`)
  const payload = Buffer.from(envelope.payload, 'base64').toString('utf8')
  const value = parse(payload)
  const inside = keyInside(value)
  if (!inside) return refuse('no Ed25519 public key stands in it')
  const key = options.publicKey ?? inside
  const signature = signatureProblem(envelope, key, inside)
  if (signature !== null) return refuse(signature)
  const form = formProblem(value)
  if (form !== null) return refuse(form)
  const statement = value as Statement
  const problems = [
    ...(canonicalize(statement) === payload && pemOf(inside) === statement.predicate.publicKey
      ? []
      : ['its statement is not in canonical form']),
    ...contradictions(statement),
    ...timeProblems(statement, options.now),
    ...(options.report ? reportProblems(statement, options.report) : []),
  ]
  return { problems, statement, signer: keyId(key) }
}

const refuse = (problem: string): Verification => ({ problems: [problem] })

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function keyInside(statement: unknown): KeyObject | null {
  const predicate = isObject(statement) && isObject(statement.predicate) ? statement.predicate : {}
  if (typeof predicate.publicKey !== 'string' || predicate.publicKey.includes('PRIVATE')) return null
  try {
    const key = createPublicKey(predicate.publicKey)
    return key.asymmetricKeyType === 'ed25519' ? key : null
  } catch {
    return null
  }
}

function signatureProblem(envelope: Envelope, key: KeyObject, inside: KeyObject): string | null {
  if (!isSignedBy(envelope, key)) {
    return keyId(key) === keyId(inside)
      ? 'its signature does not hold'
      : `it is not signed by the key given, ${keyId(key)}; the key inside it is ${keyId(inside)}`
  }
  if (keyId(inside) !== keyId(key)) return 'another key stands in it than the one that signed it'
  if (envelope.signatures[0].keyid !== keyId(key)) return 'its keyid is not that of the key that signed it'
  return null
}

function timeProblems({ predicate: { issuedAt, expiresAt } }: Statement, now: Date): string[] {
  const at = now.toISOString()
  if (at < issuedAt) return [`it is dated ${issuedAt}, and now is ${at}`]
  return at >= expiresAt ? [`it expired at ${expiresAt}`] : []
}

/** The certificate is made anew from the report; whatever differs is named. */
function reportProblems(statement: Statement, { path, bytes }: { path: string; bytes: Uint8Array }): string[] {
  if (sha256(bytes).sha256 !== statement.subject[1].digest.sha256)
    return [`${path} is not the report it was issued for`]
  try {
    const report = parseReport(Buffer.from(bytes).toString('utf8'), path)
    const { issuedAt, expiresAt, publicKey, suite } = statement.predicate
    const made = makeStatement(report, bytes, { issuedAt, expiresAt, publicKey, suiteDigest: suite.digest })
    const differing = (Object.keys(made.predicate) as (keyof Statement['predicate'])[])
      .filter((name) => !isDeepStrictEqual(made.predicate[name], statement.predicate[name]))
      .map((name) => `its ${name} does not follow from ${path}`)
    const subject = isDeepStrictEqual(made.subject, statement.subject)
      ? []
      : [`its subject is not the target of ${path}`]
    return [...inconsistencies(report).map((problem) => `${path}: ${problem}`), ...differing, ...subject]
  } catch (error) {
    if (error instanceof UserError) return [error.message]
    throw error
  }
}
