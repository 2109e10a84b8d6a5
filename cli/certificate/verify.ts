import { Command, Option } from '@commander-js/extra-typings'
import { requirementsDigest } from '../../catalogue/catalogue.ts'
import { readBytes, parseReport } from '../../harness/report/index.ts'
import { normalBaseUrl } from '../../harness/target/index.ts'
import { tell } from '../../library/output.ts'
import { json, terminalText } from '../../reporters/text.ts'
import { type OptionsOf, repeatable, whole } from '../run/arguments.ts'
import {
  claimLines,
  DAY_MS,
  operationsIn,
  partialReasons,
  reasonsIn,
  daysAfterRun,
  makeStatement,
  MOST_VALID_DAYS,
  PAYLOAD_TYPE,
  reportProblems,
  sha256,
} from './sign.ts'
import { readPublicKey, keyId, publicKeyIn } from './keys.ts'
import type { KeyObject } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { ensure } from '../../harness/user-error.ts'
import { getAt, memberPath, parsedJson } from '../../schemas/json.ts'
import { validatorOf } from '../../schemas/validate.ts'
import { decodeEnvelope, encodeEnvelope, isSignedBy } from './envelope.ts'
import type { Predicate, Statement } from './statement-schema.ts'

export function command() {
  return new Command('verify')
    .description('verify a certificate offline; exit 1: not valid, or less than you require')
    .argument('<certificate>', 'certificate file')
    .option('--report <report.json>', 'the report that the certificate is for')
    .option('--public-key <pem>', 'require a signature by this public key')
    .addOption(
      repeatable(
        '--key-id <id>',
        'require a signature by the key with this id; repeatable: any one suffices',
      ),
    )
    .addOption(
      new Option('--require <verdict>', 'require this verdict, and a complete run').choices([
        'conformant',
      ] as const),
    )
    .option(
      '--require-operations <ids or n>',
      'required operations: comma-separated ids, or a minimum number',
      (text) => (/^\d+$/.test(text) ? Number(text) : text.split(/,\s*/)),
    )
    .option('--base-url <url>', 'require that this address was judged', (text) =>
      URL.canParse(text) ? normalBaseUrl(text) : text,
    )
    .option(
      '--max-age <days>',
      'require that the run started at most this many days ago',
      whole(0, 9999),
    )
    .option('--json', 'print the findings as JSON')
    .action((file, options) => {
      const { lines, result } = verifyFile(file, { ...options, now: new Date() })
      if (options.json) process.stdout.write(`${json(result, 2)}\n`)
      else tell(process.stdout, lines)
      if (!result.accepted) process.exitCode = 1
    })
}

export type Demands = Partial<OptionsOf<typeof command>> & { readonly now: Date }

/** Returns lines for people and the result for `--json`. Throws UserError if the certificate cannot be checked. */
export function verifyFile(file: string, demands: Demands) {
  const { now, publicKey, report } = demands
  const found = verifyCertificate(readBytes(file), {
    publicKey: publicKey === undefined ? undefined : readPublicKey(publicKey),
    report: report === undefined ? undefined : { path: report, bytes: readBytes(report) },
    now,
  })
  const { differs, problems, signed } = found
  const isKnown =
    signed !== undefined &&
    (publicKey !== undefined || demands.keyId?.includes(signed.keyId) === true)
  const unmet = unmetDemands(found, demands)
  const accepted = problems.length + unmet.length === 0
  const outcome = problems.length > 0 ? 'invalid' : accepted ? 'accepted' : 'insufficient'
  const signer = isKnown ? 'the key' : 'an unknown key'
  const lines = [
    ...(signed
      ? [
          `signed by ${signer} ${signed.keyId}${isKnown ? '' : ': intact, signer unknown'}`,
          ...claimLines(signed.statement.predicate),
          ...remarks(found, report),
        ]
      : []),
    accepted
      ? `exit 0: valid${isKnown ? '' : '; ask the signer for the key id (--key-id)'}`
      : `exit 1: ${outcome === 'invalid' ? 'not valid' : 'valid, but not accepted'}: ${[...problems, ...unmet].join('; ')}`,
  ]
  return {
    lines: lines.map((line) => terminalText(line, Infinity)),
    result: {
      accepted,
      /** `insufficient`: valid, but does not meet the demands. */
      outcome,
      problems,
      unmet,
      differs,
      signedBy: signed ? { keyId: signed.keyId, isKnown } : null,
      statement: signed?.statement ?? null,
    },
  }
}

function remarks(verification: Verification, report: string | undefined): string[] {
  const { requirementsDigest: digest, version } = verification.signed!.statement.predicate.suite
  return [
    ...reasonsIn([
      [
        verification.differs === 'envelope',
        'envelope: its bytes differ from those of conform sign (white space, order, base64 alphabet); the signed payload is intact',
      ],
      [
        digest !== requirementsDigest(),
        `requirements: other than those of this version; the certificate names version ${version}`,
      ],
      [report === undefined, 'report: not checked (--report)'],
    ]),
    'not proven: that the run took place, or that the server is still the same. The owner of the key can sign anything; if you need proof, run the suite, or have a certifier run it and sign',
  ]
}

function unmetDemands(verification: Verification, demands: Demands): string[] {
  if (!verification.signed) return []
  const claims = verification.signed.statement.predicate
  const {
    baseUrl,
    keyId: ids = [],
    maxAge = Infinity,
    now,
    requireOperations: required = 0,
  } = demands
  const judged = operationsIn(claims, 'judged')
  const unjudged = typeof required === 'number' ? [] : required.filter((id) => !judged.includes(id))
  const fewest = typeof required === 'number' ? required : 0
  const isStrict = demands.require === 'conformant'
  const isPartial = claims.partial.length + partialReasons(claims).length > 0
  const { startedAt } = claims.run
  return reasonsIn([
    [
      ids.length > 0 && !ids.includes(verification.signed.keyId),
      `${verification.signed.keyId} signed it (--key-id)`,
    ],
    [isStrict && claims.verdict !== 'conformant', `it is ${claims.verdict} (--require)`],
    [isStrict && isPartial, 'it is partial (--require)'],
    [
      baseUrl !== undefined && claims.target.baseUrl !== baseUrl,
      `it is for ${claims.target.baseUrl} (--base-url)`,
    ],
    [judged.length < fewest, `${judged.length} operations were judged (--require-operations)`],
    [unjudged.length > 0, `${unjudged.join(', ')} not judged (--require-operations)`],
    [
      now.getTime() - Date.parse(startedAt) > maxAge * DAY_MS,
      `the run started at ${startedAt} (--max-age)`,
    ],
  ])
}

interface VerifyOptions {
  /** The key that must have signed; default: the one in the certificate. */
  readonly publicKey?: KeyObject | undefined
  readonly report?: { readonly path: string; readonly bytes: Buffer } | undefined
  readonly now: Date
}

interface Verification {
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

function timeProblems(claims: Predicate, now: Date): string[] {
  const { issuedAt, expiresAt, run } = claims
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
