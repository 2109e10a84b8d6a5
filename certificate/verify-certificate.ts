import { type KeyObject, createHash, createPublicKey } from 'node:crypto'
import canonicalize from 'canonicalize'
import { isObject } from '../schemas/json-object.ts'
import type { Evidence } from './certificate-file.ts'
import { type Envelope, decode, keyId, payloadOf, type Signature, isSignedBy } from './dsse.ts'
import { evidenceProblems } from './evidence.ts'
import { pemOf } from './keys.ts'
import { type Statement, PAYLOAD_TYPE } from './statement.ts'
import { contradictions, formProblem, setProblems } from './statement-problems.ts'
import { claimedByStatement, isPublished, type SuiteFacts } from './suite-facts.ts'

export interface VerifyOptions {
  /** A signer's key, had from the signer: it must be one of those that signed. */
  readonly publicKey?: KeyObject | undefined
  /** What the certificate is to be held against. */
  readonly evidence?: Evidence | undefined
  /** The suite that verifies. */
  readonly suite: SuiteFacts
  readonly now: Date
}

/** What was found: the statement and its signers if the signatures hold, and every problem; valid if there is none. */
export interface Verification {
  readonly problems: readonly string[]
  /** Nothing else is wrong with it than that its time is over. */
  readonly isExpired: boolean
  /** It was judged by requirements that no version of the suite has, as far as this one knows. */
  readonly isForeign: boolean
  readonly statement?: Statement
  /** `sha256:` of what is signed: the name of the certificate, whoever countersigns it. */
  readonly id?: string
  /** Key ids, the issuer's first. */
  readonly signers: readonly string[]
  readonly envelope?: Envelope
}

/**
 * Checks a certificate's bytes, offline: every one of them, each signature, its time, its own consistency, and the evidence
 * if it is given. Throws UserError if the evidence cannot be looked at.
 */
export function verifyCertificate(bytes: Uint8Array, options: VerifyOptions): Verification {
  const envelope = decode(bytes)
  if (!envelope)
    return refused('it is not a certificate as conform sign writes it; it was changed, or is something else')
  if (envelope.payloadType !== PAYLOAD_TYPE)
    return refused(`its payload is ${envelope.payloadType}, not ${PAYLOAD_TYPE}`)
  const payload = payloadOf(envelope).toString('utf8')
  const value = parse(payload)
  const issuer = keyFrom(isObject(value) && isObject(value.predicate) ? value.predicate.publicKey : undefined)
  if (!issuer) return refused('there is no Ed25519 public key in it')
  const { signers, problems: unsigned } = checkSignatures(envelope, issuer)
  if (unsigned.length > 0) return refused(...unsigned)
  const { publicKey } = options
  if (publicKey && !signers.includes(keyId(publicKey)))
    return refused(`it is not signed by the key given, ${keyId(publicKey)}, but by ${signers.join(', ')}`)
  const form = formProblem(value)
  if (form !== null) return refused(form)
  const statement = value as Statement
  const lasting = [
    ...(canonicalize(statement) === payload ? [] : ['its statement is not in canonical form']),
    ...contradictions(statement),
    ...setProblems(statement, options.suite),
    ...(options.now.toISOString() < statement.predicate.issuedAt
      ? [`it is dated ${statement.predicate.issuedAt}, and now is ${options.now.toISOString()}`]
      : []),
    ...(options.evidence ? evidenceProblems(statement, options.evidence, options.suite) : []),
  ]
  const { expiresAt } = statement.predicate
  const isOver = options.now.toISOString() >= expiresAt
  return {
    problems: isOver ? [`it expired at ${expiresAt}`, ...lasting] : lasting,
    isExpired: isOver && lasting.length === 0,
    isForeign: !isPublished(claimedByStatement(statement.predicate), options.suite),
    statement,
    id: `sha256:${createHash('sha256').update(payload).digest('hex')}`,
    signers,
    envelope,
  }
}

/** Nothing that it says is believed. */
export function refused(...problems: string[]): Verification {
  return { problems, isExpired: false, isForeign: false, signers: [] }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The ids of the keys that signed, in the order of the file; and what is wrong with any of the signatures. */
interface Signers {
  readonly signers: readonly string[]
  readonly problems: readonly string[]
}

/** Verifies every signature: the first by the key in the statement, each further one by the key beside it. */
function checkSignatures(envelope: Envelope, issuer: KeyObject): Signers {
  const signers: string[] = []
  const problems: string[] = []
  for (const [index, signature] of envelope.signatures.entries()) {
    const key = index === 0 ? issuer : keyFrom(signature.publicKey)
    const problem = key ? signatureProblem(envelope, signature, key) : `there is no Ed25519 public key beside it`
    if (problem !== null) problems.push(`its signature ${index + 1} does not hold: ${problem}`)
    else if (index === 0 && signature.publicKey !== undefined)
      problems.push('there is a key beside its first signature')
    else if (signers.includes(signature.keyid)) problems.push(`${signature.keyid} signed it twice`)
    else signers.push(signature.keyid)
  }
  return { signers, problems }
}

function signatureProblem(envelope: Envelope, signature: Signature, key: KeyObject): string | null {
  const id = keyId(key)
  if (signature.keyid !== id) return `it names ${signature.keyid}, but the key there is ${id}`
  return isSignedBy(envelope, signature, key) ? null : `it is not one by ${id}`
}

/** The Ed25519 public key of that PEM, if it is one and written in the one way. */
function keyFrom(pem: unknown): KeyObject | null {
  if (typeof pem !== 'string' || pem.includes('PRIVATE')) return null
  try {
    const key = createPublicKey(pem)
    return key.asymmetricKeyType === 'ed25519' && pemOf(key) === pem ? key : null
  } catch {
    return null
  }
}
