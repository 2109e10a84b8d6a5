import type { KeyObject } from 'node:crypto'
import { createPublicKey } from 'node:crypto'
import canonicalize from 'canonicalize'
import { parseReport } from '../harness/report/report-file.ts'
import type { Report } from '../harness/report/model.ts'
import { UserError } from '../harness/user-error.ts'
import type { NamedBytes } from './bundle.ts'
import { encode, seal } from './dsse.ts'
import { harProblems } from './har-problems.ts'
import { pemOf } from './keys.ts'
import { makeStatement, sha256 } from './make-statement.ts'
import { foreignReasons, reportProblems, requirementsOf } from './report-problems.ts'
import { PAYLOAD_TYPE } from './statement.ts'
import { formProblem } from './statement-problems.ts'
import type { SuiteFacts } from './suite-facts.ts'
import { targetProblems } from './evidence.ts'
import { daysAfterRun, MOST_VALID_DAYS } from './validity.ts'

/** More reasons than these tell a reader nothing. */
const MOST_REASONS = 5

export interface IssueOptions {
  readonly privateKey: KeyObject
  readonly now: Date
  /** Counted from the beginning of the run; at most `MOST_VALID_DAYS`. */
  readonly validDays: number
  /** Issue also for a report that is not that of a whole conformant run; the certificate then says why it is partial. */
  readonly partial: boolean
  readonly suite: SuiteFacts
}

/** What a certificate is issued for. */
export interface IssueInput {
  readonly report: NamedBytes
  readonly exchanges: readonly NamedBytes[]
  /** The target file without keys, if it is to be looked at. */
  readonly target?: NamedBytes | undefined
}

/** The bytes of a certificate for that report. Throws UserError, with the reasons, if it refuses. */
export function issueCertificate({ report: file, exchanges, target }: IssueInput, options: IssueOptions): Buffer {
  const { now, validDays, privateKey, suite } = options
  const report = parseReport(Buffer.from(file.bytes).toString('utf8'), file.name)
  const foreign = foreignReasons(report, suite)
  const requirements =
    report.suite.requirementsDigest === suite.requirementsDigest
      ? requirementsOf({ name: file.name, report }, suite)
      : (report.requirements as Parameters<typeof reportProblems>[1])
  refuse(file.name, [
    ...reportProblems(report, requirements),
    ...(exchanges.length > 0 ? harProblems(exchanges, report) : []),
    ...(target ? targetProblems(target, report) : []),
  ])
  const issuedAt = now.toISOString()
  const statement = makeStatement(report, file.bytes, {
    issuedAt,
    expiresAt: expiryOf(file.name, report, issuedAt, validDays),
    publicKey: pemOf(createPublicKey(privateKey)),
    suiteDigest: suite.digest,
    exchanges: exchanges.map(({ name, bytes }) => ({ name, digest: sha256(bytes) })),
    foreign,
  })
  const form = formProblem(statement)
  refuse(file.name, form === null ? [] : [form])
  refusePartial(file.name, statement.predicate.partial, options.partial)
  return encode(seal(PAYLOAD_TYPE, Buffer.from(canonicalize(statement) ?? ''), privateKey))
}

/** Throws UserError with the reasons, unless a partial certificate will do. */
export function refusePartial(name: string, reasons: readonly string[], partial: boolean): void {
  if (reasons.length === 0 || partial) return
  throw new UserError(`${name}: cannot be signed: ${reasons.join('; ')}; --partial issues a certificate that says so`)
}

function refuse(name: string, problems: readonly string[]): void {
  if (problems.length === 0) return
  const more = problems.length > MOST_REASONS ? `; and ${problems.length - MOST_REASONS} more` : ''
  throw new UserError(`${name}: cannot be signed: ${problems.slice(0, MOST_REASONS).join('; ')}${more}`)
}

function expiryOf(name: string, { run }: Report, issuedAt: string, validDays: number): string {
  if (validDays > MOST_VALID_DAYS) throw new UserError(`--valid-days ${validDays}: ${MOST_VALID_DAYS} at most`)
  const end = daysAfterRun({ issuedAt, run }, validDays)
  if (Number.isNaN(end)) throw new UserError(`${name}: cannot be signed: run.startedAt is not a time: ${run.startedAt}`)
  if (end <= Date.parse(issuedAt)) {
    throw new UserError(
      `${name}: cannot be signed: it would have expired already, ${validDays} days after the run began at ${run.startedAt}`,
    )
  }
  return new Date(end).toISOString()
}
