import type { KeyObject } from 'node:crypto'
import { createPublicKey } from 'node:crypto'
import { basename } from 'node:path'
import canonicalize from 'canonicalize'
import { readBytes, type Report } from '../harness/report/index.ts'
import type { Area } from '../catalogue/requirement.ts'
import { UserError } from '../harness/user-error.ts'
import { firstOf } from '../reporters/view/writing.ts'
import type { Evidence, NamedBytes } from './certificate-file.ts'
import {
  namedExchanges,
  packBundle,
  readCertificateFile,
  unpackBundle,
} from './certificate-file.ts'
import { countersign, encode, signEnvelope } from './certificate-file.ts'
import { claims, unseen } from './describe.ts'
import { harProblems, readWholeReport, reportProblems, targetProblems } from './evidence.ts'
import { pemOf } from './keys.ts'
import type { Statement } from './statement-schema.ts'
import {
  daysAfterRun,
  makeStatement,
  MOST_VALID_DAYS,
  partialReasons,
  sha256,
  PAYLOAD_TYPE,
} from './statement.ts'
import { contradictions, formProblem, verifyCertificate } from './verify-certificate.ts'
import type { KnownRequirement, SuiteFacts } from './suite-facts.ts'
import {
  claimedByReport,
  claimedByStatement,
  foreignReasons,
  requirementsOf,
} from './suite-facts.ts'

const MOST_REASONS = 5

export interface SignRequest {
  /** The report; a bundle that is countersigned holds its own. */
  readonly report?: string | undefined
  /** The certificate or bundle to countersign. */
  readonly add?: string | undefined
  /** Paths of the certificate and of the bundle. */
  readonly out?: string | undefined
  readonly bundle?: string | undefined
  /** Path of the key. */
  readonly privateKey: string
  readonly har: readonly string[]
  /** The target file without keys, as canonical JSON, and where it was read. */
  readonly target?: NamedBytes | undefined
  /** Counted from the beginning of the run; at most `MOST_VALID_DAYS`. */
  readonly validDays: number
  /** Sign also what is not the report of a whole conformant run; the certificate then says why it is partial. */
  readonly partial: boolean
}

/** Settings and callbacks of signing. */
export interface SignSettings {
  readonly now: Date
  readonly suite: SuiteFacts
  /** Shows what is going to be signed, in lines, before the key is asked for. */
  show(lines: readonly string[]): void
  privateKey(): Promise<KeyObject>
  /** Whether the bytes hold a key that the target file names. */
  readonly holdsKey?: ((bytes: Uint8Array) => boolean) | undefined
}

/** Issues or countersigns a certificate, and packs its bundle if one is asked for. Throws UserError, with the reasons, if it refuses. */
export async function signCertificate(request: SignRequest, settings: SignSettings) {
  return request.add === undefined
    ? issue(request, settings)
    : addTo(request.add, request, settings)
}

type IssueOptions = Pick<SignRequest, 'validDays' | 'partial'> & Pick<SignSettings, 'now' | 'suite'>

/** Statement of a certificate for that report, without the key of its signer. Throws UserError if it is refused. */
export function draftStatement(
  { report: file, exchanges = [], target }: Evidence,
  options: IssueOptions,
): Statement {
  const { now, partial, suite, validDays } = options
  const report = readWholeReport(file)
  // The requirements of another version, and what they need, are not known here.
  const requirements: readonly KnownRequirement[] =
    report.suite.requirementsDigest === suite.requirementsDigest
      ? requirementsOf(report, file.name, suite)
      : report.requirements.map((requirement) => ({
          ...requirement,
          operation: requirement.operation as Area,
          needs: ['/scenarios'],
        }))
  refuse(file.name, [
    ...reportProblems(report, requirements),
    ...(exchanges.length > 0 ? harProblems(exchanges, report, suite) : []),
    ...(target ? targetProblems(target, report, requirements) : []),
  ])
  const issuedAt = now.toISOString()
  const statement = makeStatement(report, file.bytes, {
    issuedAt,
    expiresAt: expiryOf(file.name, report, issuedAt, validDays),
    publicKey: '',
    suiteDigest: suite.digest,
    exchanges: exchanges.map(({ name, bytes }) => ({ name, digest: sha256(bytes) })),
    foreign: foreignReasons(claimedByReport(report), suite),
  })
  const form = formProblem(statement)
  refuse(file.name, form === null ? contradictions(statement) : [form])
  refusePartial(file.name, statement.predicate.partial, partial)
  return statement
}

/** The certificate that says so, signed. */
export function sealStatement(statement: Statement, key: KeyObject): Buffer {
  const publicKey = pemOf(createPublicKey(key))
  const signed: Statement = { ...statement, predicate: { ...statement.predicate, publicKey } }
  return encode(signEnvelope(PAYLOAD_TYPE, Buffer.from(canonicalize(signed) ?? ''), key))
}

async function issue(request: SignRequest, settings: SignSettings) {
  const { report: path, har, bundle, target } = request
  if (path === undefined)
    throw new UserError('sign: give the report to sign, or --add and a certificate')
  const report = { name: path, bytes: readBytes(path) }
  if (bundle !== undefined && har.length === 0)
    throw new UserError('--bundle: needs the exchanges of the run: --har, from --report har')
  const exchanges = namedExchanges(har.map((name) => readBytes(name)))
  refuseKeys(exchanges, settings)
  const whole = {
    ...{ report, exchanges },
    // A run without a target file has the digest of an empty one.
    target: target ?? { name: 'no --target', bytes: Buffer.from('{}') },
    requirements: {
      name: 'requirements.json',
      bytes: Buffer.from(settings.suite.requirementsText),
    },
  }
  const isTargetSeen = target !== undefined || bundle !== undefined
  const statement = draftStatement(isTargetSeen ? whole : { report, exchanges }, {
    ...request,
    ...settings,
  })
  settings.show(shown(statement))
  const certificate = sealStatement(statement, await settings.privateKey())
  return bundle === undefined ? { certificate, bundle } : withBundle(certificate, whole, settings)
}

/** Adds a signature to the same statement, after checking it against its report. */
async function addTo(add: string, request: SignRequest, settings: SignSettings) {
  const { now, suite } = settings
  const { bytes, evidence, bundle } = readCertificateFile(add, request)
  const found = bytes && verifyCertificate(bytes, { now, suite, evidence })
  if (!found) throw new UserError(`${add}: is not a bundle as conform sign writes it`)
  const { envelope, statement, problems } = found
  if (problems.length > 0 || !envelope || !statement) {
    throw new UserError(`${add}: cannot be countersigned: ${problems.join('; ')}`)
  }
  if (!evidence)
    throw new UserError(`${add}: cannot be countersigned without the report that it was issued for`)
  if (request.bundle !== undefined && !bundle) {
    throw new UserError(`--bundle: ${add} is not a bundle; write the certificate with --out`)
  }
  refuseKeys(evidence.exchanges ?? [], settings)
  // Why a countersigner would not have issued it himself, today and by his own suite; what it says of itself included.
  const { predicate } = statement
  const today = partialReasons({ ...predicate, issuedAt: now.toISOString() })
  const foreign = foreignReasons(claimedByStatement(predicate), suite)
  refusePartial(
    basename(add),
    [...new Set([...predicate.partial, ...today, ...foreign])],
    request.partial,
  )
  settings.show(shown(statement))
  const certificate = encode(countersign(envelope, await settings.privateKey()))
  const again = verifyCertificate(certificate, { now, suite }).problems
  if (again.length > 0) throw new UserError(`${add}: cannot be countersigned: ${again.join('; ')}`)
  if (!bundle || request.bundle === undefined) return { certificate, bundle: undefined }
  return withBundle(certificate, evidence as Required<Evidence>, settings)
}

/** Throws UserError for recorded exchanges that hold a key: whoever gets the bundle could read it. */
function refuseKeys(exchanges: readonly NamedBytes[], { holdsKey }: SignSettings): void {
  const one = exchanges.find(({ bytes }) => holdsKey?.(bytes))
  if (one)
    throw new UserError(
      `${one.name}: cannot be signed: it holds a key that the target file names; record the run anew by --report har`,
    )
}

function shown(statement: Statement): string[] {
  const lines = [...(statement.subject.length > 2 ? [] : [unseen]), ...claims(statement)]
  return ['what is signed:', ...lines.map((line) => `  ${line}`)]
}

/** Refuses to hand out what others will be unable to verify. */
function withBundle(certificate: Buffer, whole: Required<Evidence>, { now, suite }: SignSettings) {
  const bundle = packBundle(certificate, whole)
  const evidence = unpackBundle(bundle, 'the bundle')!.evidence
  const { problems } = verifyCertificate(certificate, { now, suite, evidence })
  if (problems.length > 0)
    throw new UserError(`the bundle would not verify: ${problems.join('; ')}`)
  return { certificate, bundle }
}

/** Throws UserError with the reasons, unless a partial certificate will do. */
function refusePartial(name: string, reasons: readonly string[], partial: boolean): void {
  if (reasons.length === 0 || partial) return
  throw new UserError(
    `${name}: cannot be signed: ${reasons.join('; ')}; --partial signs it nevertheless`,
  )
}

function refuse(name: string, problems: readonly string[]): void {
  if (problems.length === 0) return
  throw new UserError(`${name}: cannot be signed: ${firstOf(problems, MOST_REASONS).join('; ')}`)
}

function expiryOf(name: string, { run }: Report, issuedAt: string, validDays: number): string {
  if (validDays > MOST_VALID_DAYS)
    throw new UserError(`--valid-days ${validDays}: ${MOST_VALID_DAYS} at most`)
  const end = daysAfterRun({ issuedAt, run }, validDays)
  if (Number.isNaN(end))
    throw new UserError(`${name}: cannot be signed: run.startedAt is not a time: ${run.startedAt}`)
  if (end <= Date.parse(issuedAt)) {
    throw new UserError(
      `${name}: cannot be signed: it would have expired already, ${validDays} days after the run began at ${run.startedAt}`,
    )
  }
  return new Date(end).toISOString()
}
