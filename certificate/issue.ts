import type { KeyObject } from 'node:crypto'
import { createPublicKey } from 'node:crypto'
import canonicalize from 'canonicalize'
import { inconsistencies } from '../harness/report/consistency.ts'
import { readBytes } from '../harness/report/json-file.ts'
import { parseReport } from '../harness/report/report-file.ts'
import { UserError } from '../harness/user-error.ts'
import { encode, seal } from './dsse.ts'
import { pemOf } from './keys.ts'
import { makeStatement } from './make-statement.ts'
import { partialReasons } from './partial.ts'
import type { Report } from '../harness/report/model.ts'
import type { Requirement } from '../catalogue/requirement.ts'
import type { Digest } from './statement.ts'
import { PAYLOAD_TYPE } from './statement.ts'

/** More reasons than these tell a reader nothing. */
const MOST_REASONS = 5

/** Days for which a certificate stands where nothing else is asked for. */
export const VALID_DAYS = 180

export interface IssueOptions {
  readonly privateKey: KeyObject
  readonly now: Date
  readonly validDays: number
  /** Issue also for a report that is not that of a whole conformant run; the certificate then says why it is partial. */
  readonly partial: boolean
  readonly suite: SuiteFacts
}

/** The suite that signs: a report that another version wrote, or with other requirements, is not its to vouch for. */
export interface SuiteFacts {
  readonly version: string
  readonly digest: Digest
  readonly requirements: readonly Pick<Requirement, 'id' | 'operation' | 'level'>[]
}

/** The bytes of a certificate for the report in that file. Throws UserError, with the reasons, where it refuses. */
export function issueCertificate(reportFile: string, options: IssueOptions): Buffer {
  const bytes = readBytes(reportFile)
  const report = parseReport(bytes.toString('utf8'), reportFile)
  const refusals = [...inconsistencies(report), ...foreign(report, options.suite)].slice(0, MOST_REASONS)
  if (refusals.length > 0) throw new UserError(`${reportFile}: cannot be signed: ${refusals.join('; ')}`)
  const partial = partialReasons(report)
  if (partial.length > 0 && !options.partial) {
    throw new UserError(
      `${reportFile}: cannot be signed: ${partial.join('; ')}; --partial issues a certificate that says so`,
    )
  }
  const statement = makeStatement(report, bytes, {
    issuedAt: options.now.toISOString(),
    expiresAt: new Date(options.now.getTime() + options.validDays * 86_400_000).toISOString(),
    publicKey: pemOf(createPublicKey(options.privateKey)),
    suiteDigest: options.suite.digest,
  })
  return encode(seal(PAYLOAD_TYPE, Buffer.from(canonicalize(statement)!), options.privateKey))
}

function foreign(report: Report, suite: SuiteFacts): string[] {
  if (report.suite.version !== suite.version) {
    return [
      `version ${report.suite.version} of the suite wrote it, this is ${suite.version}; sign with the one that judged`,
    ]
  }
  const judged = new Map(report.requirements.map((result) => [result.id, result]))
  const known = new Set(suite.requirements.map(({ id }) => id))
  const changed = suite.requirements.flatMap(({ id, operation, level }) => {
    const result = judged.get(id)
    if (!result) return [`${id} is missing`]
    return result.level === level && result.operation === operation ? [] : [`${id} is a ${level} of ${operation}`]
  })
  return [...changed, ...[...judged.keys()].filter((id) => !known.has(id)).map((id) => `${id} is no requirement`)]
}
