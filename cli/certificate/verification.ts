import type { KeyObject } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { requirementsDigest } from '../../catalogue/catalogue.ts'
import { parseReport } from '../../harness/report/index.ts'
import { ensure } from '../../harness/user-error.ts'
import { getAt, memberPath, parsedJson } from '../../schemas/json.ts'
import { validatorOf } from '../../schemas/validators.ts'
import { decodeEnvelope, encodeEnvelope, isSignedBy } from './envelope.ts'
import { keyId, publicKeyIn } from './keys.ts'
import {
  daysAfterRun,
  makeStatement,
  MOST_VALID_DAYS,
  PAYLOAD_TYPE,
  reasonsIn,
  reportProblems,
  sha256,
} from './statement.ts'
import type { Predicate, Statement } from './statement-schema.ts'

export interface VerifyOptions {
  /** The key that must have signed; default: the one in the certificate. */
  readonly publicKey?: KeyObject | undefined
  readonly report?: { readonly path: string; readonly bytes: Buffer } | undefined
  readonly now: Date
}

export interface Verification {
  readonly problems: readonly string[]
  /** How the file differs from what `conform sign` wrote; with `envelope`, the signed payload is intact. */
  readonly differs: 'envelope' | 'payload' | null
  readonly signed?: { readonly statement: Statement; readonly keyId: string }
}

/** Checks a certificate offline. Throws UserError if this version of the suite cannot check the report. */
export function verifyCertificate(bytes: Buffer, options: VerifyOptions): Verification {
  const { now, publicKey: given, report } = options
  const refused = (problem: string, differs: 'payload' | null = null): Verification => ({
    problems: [problem],
    differs,
  })
  const envelope = decodeEnvelope(bytes)
  if (typeof envelope === 'string') return refused(`it is not a certificate: ${envelope}`)
  if (envelope.payloadType !== PAYLOAD_TYPE)
    return refused(`its payloadType is ${envelope.payloadType}, not ${PAYLOAD_TYPE}`)
  const value = parsedJson(envelope.payload.toString('utf8'))
  const named = publicKeyIn(getAt(value, '/predicate/publicKey'))
  const key = [given, named].find((one) => one && isSignedBy(envelope, one))
  if (!key) {
    const signer = given ? `the key given (${keyId(given)})` : 'the key in the certificate'
    return refused(
      `the signed payload was altered, or its signature: ${signer} did not sign this payload`,
      'payload',
    )
  }
  if (given && key !== given)
    return refused(`it is signed by ${keyId(key)}, not by the key given (${keyId(given)})`)
  const validate = validatorOf('certificate')
  if (!validate(value)) {
    const [error] = validate.errors ?? []
    const place = memberPath(error?.instancePath ?? '') || 'the payload'
    return refused(`its payload is not a statement of conform sign: ${place} ${error?.message}`)
  }
  const statement = value as Statement
  const isAsWritten = encodeEnvelope(envelope) === bytes.toString('utf8')
  return {
    problems: [
      ...timeProblems(statement.predicate, now),
      ...(report ? differences(statement, report.path, report.bytes) : []),
    ],
    differs: isAsWritten ? null : 'envelope',
    signed: { statement, keyId: keyId(key) },
  }
}

function timeProblems({ issuedAt, expiresAt, run }: Predicate, now: Date): string[] {
  const end = Date.parse(expiresAt)
  const latest = daysAfterRun(run.startedAt, issuedAt, MOST_VALID_DAYS)
  return reasonsIn([
    [now.getTime() < Date.parse(issuedAt), `it was signed in the future, at ${issuedAt}`],
    [now.getTime() >= end, `it expired at ${expiresAt}`],
    [end > latest, `it is valid for more than ${MOST_VALID_DAYS} days after its run`],
  ])
}

function differences(statement: Statement, path: string, bytes: Buffer): string[] {
  if (sha256(bytes) !== statement.subject[0].digest.sha256)
    return [`${path} is not the report it was issued for, byte for byte`]
  const report = parseReport(bytes.toString('utf8'), path)
  const { requirementsDigest: digest, version } = report.suite
  ensure(
    digest === requirementsDigest(),
    `${path}: judged by the requirements of version ${version} of the suite; verify it with that version`,
  )
  const made = makeStatement(report, bytes, statement.predicate).predicate
  const differing = (Object.keys(made) as (keyof Predicate)[]).filter((name) =>
    name === 'partial'
      ? !made.partial.every((reason) => statement.predicate.partial.includes(reason))
      : !isDeepStrictEqual(made[name], statement.predicate[name]),
  )
  return [
    ...reportProblems(report).map((problem) => `${path}: ${problem}`),
    ...differing.map((name) => `its ${name} does not follow from ${path}`),
  ]
}
