import canonicalize from 'canonicalize'
import { type KeyObject, createHash, createPublicKey } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { operations as interfaceOperations } from '../catalogue/operations.ts'
import type { Counts } from '../harness/report/index.ts'
import { sum, total } from '../reporters/view/groups.ts'
import { isObject, parsedJson } from '../schemas/json.ts'
import { validatorOf } from '../schemas/validators.ts'
import type { Evidence, Envelope, Signature } from './certificate-file.ts'
import { decode, keyId, payloadOf, isSignedBy } from './certificate-file.ts'
import { evidenceProblems } from './evidence.ts'
import { pemOf } from './keys.ts'
import {
  daysAfterRun,
  MOST_VALID_DAYS,
  partialReasons,
  PAYLOAD_TYPE,
  reasonsIn,
  type Rule,
} from './statement.ts'
import type { Predicate, Statement } from './statement-schema.ts'
import { claimedByStatement, isPublished, type SuiteFacts, requirementsIn } from './suite-facts.ts'

export interface VerifyOptions {
  /** A signer's key, had from the signer: it must be one of those that signed. */
  readonly publicKey?: KeyObject | undefined
  readonly evidence?: Evidence | undefined
  readonly suite: SuiteFacts
  readonly now: Date
}

/** Findings: the statement and its signers if the signatures hold, and every problem; valid if there is none. */
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
    return refused(
      'it is not a certificate as conform sign writes it; it was changed, or is something else',
    )
  if (envelope.payloadType !== PAYLOAD_TYPE)
    return refused(`its payload is ${envelope.payloadType}, not ${PAYLOAD_TYPE}`)
  const payload = payloadOf(envelope).toString('utf8')
  const value = parsedJson(payload)
  const issuer = keyFrom(
    isObject(value) && isObject(value.predicate) ? value.predicate.publicKey : undefined,
  )
  if (!issuer) return refused('there is no Ed25519 public key in it')
  const { signers, problems: unsigned } = checkSignatures(envelope, issuer)
  if (unsigned.length > 0) return refused(...unsigned)
  const { publicKey } = options
  if (publicKey && !signers.includes(keyId(publicKey)))
    return refused(
      `it is not signed by the key given, ${keyId(publicKey)}, but by ${signers.join(', ')}`,
    )
  const form = formProblem(value)
  if (form !== null) return refused(form)
  const statement = value as Statement
  const { expiresAt, issuedAt } = statement.predicate
  const now = options.now.toISOString()
  const lasting = [
    ...reasonsIn([[canonicalize(statement) !== payload, 'its statement is not in canonical form']]),
    ...contradictions(statement),
    ...setProblems(statement, options.suite),
    ...reasonsIn([[now < issuedAt, `it is dated ${issuedAt}, and now is ${now}`]]),
    ...(options.evidence ? evidenceProblems(statement, options.evidence, options.suite) : []),
  ]
  const isOver = now >= expiresAt
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

/**
 * Verifies every signature: the first by the key in the statement, each further one by the key beside it. Gives the ids of the
 * keys that signed, in the order of the file; and what is wrong with any of the signatures.
 */
function checkSignatures(envelope: Envelope, issuer: KeyObject) {
  const signers: string[] = []
  const problems: string[] = []
  for (const [index, signature] of envelope.signatures.entries()) {
    const key = index === 0 ? issuer : keyFrom(signature.publicKey)
    const problem = key
      ? signatureProblem(envelope, signature, key)
      : `there is no Ed25519 public key beside it`
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

/** Null if it has the form of a certificate's statement; otherwise the place where it differs. */
export function formProblem(value: unknown): string | null {
  const validate = validatorOf('certificate')
  if (validate(value)) return null
  const [error] = validate.errors ?? []
  return `its statement is not a certificate: ${error?.instancePath || '/'} ${error?.message}`
}

const none: Counts = { passed: 0, failed: 0, notExercised: 0, notApplicable: 0 }

/** Finds where a statement of the right form contradicts itself. */
export function contradictions({ subject, predicate }: Statement): string[] {
  const { coverage, expiresAt, issuedAt, partial, requirements, run, summary, verdict, verdicts } =
    predicate
  const { failed, notApplicable, notExercised } = predicate
  const both = sum(summary.must, summary.should)
  const unsaid = partialReasons(predicate).filter((reason) => !partial.includes(reason))
  const latest = daysAfterRun(predicate, MOST_VALID_DAYS)
  const found = reasonsIn([
    [
      !isDeepStrictEqual(subject[0].digest, predicate.targetFile.digest),
      'the digests of the target differ',
    ],
    [
      !isPlainAddress(subject[0].uri),
      'the address of its target is not written as conform writes it',
    ],
    [both.passed + both.failed > 0 && run.requests === 0, 'it judged without a request'],
    [!isDistinct(predicate), 'a requirement or an operation is in it twice'],
    [
      verdict !== verdicts[run.tpe],
      `verdict is ${verdict}, but verdicts.${run.tpe} is ${verdicts[run.tpe]}`,
    ],
    [
      verdict === 'conformant' && summary.must.failed > 0,
      'conformant, with must requirements failed',
    ],
    [
      verdict === 'conformant' && summary.must.notExercised > 0,
      'conformant, with must requirements not exercised',
    ],
    [
      verdicts.exact === 'conformant' && verdicts.family !== 'conformant',
      'conformant by exact names only',
    ],
    [!isDeepStrictEqual(coverage.reduce(sum, none), both), 'coverage and summary differ'],
    [total(both) !== requirements.count, 'the summary does not count all requirements'],
    [both.failed !== failed.length, 'the failed requirements are not those counted'],
    [both.notExercised !== notExercised.length, 'those not exercised are not those counted'],
    [both.notApplicable !== notApplicable.length, 'those not applicable are not those counted'],
    [issuedAt >= expiresAt, 'it ends before it begins'],
    [!(Date.parse(expiresAt) <= latest), 'it is valid for longer than a certificate may be'],
    ...operationRules(predicate),
    ...unsaid.map((reason): Rule => [true, `it does not say that it is partial: ${reason}`]),
  ])
  return found.map((problem) => `it contradicts itself: ${problem}`)
}

/** True if the URL has the form that a run writes: nothing in it can be taken for another host. */
function isPlainAddress(uri: string): boolean {
  if (!URL.canParse(uri)) return false
  const { protocol, username, password, search, hash, href } = new URL(uri)
  const isBare = `${username}${password}${search}${hash}` === '' && !/[?#]/.test(uri)
  return isBare && /^https?:$/.test(protocol) && href.replace(/\/+$/, '') === uri
}

function isDistinct({ coverage, failed, notApplicable, notExercised }: Predicate): boolean {
  const ids = [...failed, ...[...notApplicable, ...notExercised].map(({ id }) => id)]
  const operations = coverage.map(({ operation }) => operation)
  return [ids, operations].every((names) => new Set(names).size === names.length)
}

/** Finds where a statement that names this version's requirements does not count each of them once, as what it is. */
function setProblems({ predicate }: Statement, own: SuiteFacts): string[] {
  const { coverage, failed, notApplicable, notExercised, summary } = predicate
  if (claimedByStatement(predicate).requirementsDigest !== own.requirementsDigest) return []
  const requirements = requirementsIn(own.requirementsText) ?? []
  const known = new Set<string>(requirements.map(({ id }) => id))
  const numberOf = (isOne: (requirement: (typeof requirements)[number]) => boolean) =>
    requirements.filter(isOne).length
  const strange = [...failed, ...[...notApplicable, ...notExercised].map(({ id }) => id)].filter(
    (id) => !known.has(id),
  )
  const isWhole =
    (['must', 'should'] as const).every(
      (level) => total(summary[level]) === numberOf((requirement) => requirement.level === level),
    ) &&
    coverage.every((of) => total(of) === numberOf(({ operation }) => operation === of.operation))
  return [
    ...(isWhole ? [] : ['it does not count the requirements that its digest names']),
    ...strange.map((id) => `${id} is not one of the requirements that its digest names`),
  ]
}

/** Each operation of the interface is in one of the lists, and those judged are the ones of which something was. */
function operationRules({ operations, coverage }: Predicate): Rule[] {
  const { judged, notExercised, removed } = operations
  const unserved = operations.notServed.map(({ operation }) => operation)
  const named = [...judged, ...unserved, ...removed, ...notExercised]
  const isJudged = (id: string) =>
    coverage.some((of) => of.operation === id && of.passed + of.failed > 0)
  const wrong = [
    ...judged.filter((id) => !isJudged(id)),
    ...[...unserved, ...notExercised].filter(isJudged),
  ]
  const all = interfaceOperations.map(({ id }) => id)
  return [
    [!isDeepStrictEqual(named.sort(), all.sort()), 'it does not name each operation once'],
    ...wrong.map((id): Rule => [true, `${id} is not where its counts put it`]),
  ]
}
