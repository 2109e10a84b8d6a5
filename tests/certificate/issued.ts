import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { catalogue, requirementsDigest, specDigest } from '../../catalogue/catalogue.ts'
import { signReport } from '../../cli/certificate/sign.ts'
import { verifyCertificate } from '../../cli/certificate/verify.ts'
import { absentReason, unreachableReason } from '../../harness/report/reason.ts'
import type { Report, RequirementResult } from '../../schemas/report.ts'
import { notApplicable, report, result } from '../gates/results.ts'

/** The run of the report started the day before. */
export const issuedAt = new Date('2026-03-02T08:00:00.000Z')
export const pair = generateKeyPairSync('ed25519')
export const other = generateKeyPairSync('ed25519')

/** Of a whole, conformant run: vision.analyze is not served, and conditions of completion.create are unreachable. */
export function wholeReport(
  run: Partial<Report['run']> = {},
  change: (results: Report['requirements']) => void = () => undefined,
): Report {
  const results = catalogue.map(({ id, operation, level, section, statement }) => {
    const row = { operation, level, section, statement }
    if (operation === 'vision.analyze')
      return { ...notApplicable(id, absentReason('not-served')), ...row }
    if (/^completion\.create\/50/.test(id))
      return { ...notApplicable(id, unreachableReason('no staging switch')), ...row }
    return result(id, row)
  })
  change(results)
  const whole = report(results, {
    notServed: [{ operation: 'vision.analyze', answered: '404' }],
    ...run,
  })
  Object.assign(whole.suite, { specDigest, requirementsDigest: requirementsDigest() })
  return whole
}

export const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

interface Issue {
  readonly now?: Date
  readonly validDays?: number
  readonly partial?: boolean
  readonly key?: KeyObject
}

/** Text of the certificate for that report. */
export function issue(of: unknown, change: Issue = {}): string {
  const { key = pair.privateKey, now = issuedAt, partial = false, validDays = 180 } = change
  return signReport('r.json', bytesOf(of), { now, validDays, partial, key }).certificate
}

/** The statement that a certificate holds. */
export function statementIn(certificate: string) {
  const { payload } = JSON.parse(certificate) as { payload: string }
  return JSON.parse(Buffer.from(payload, 'base64').toString())
}

/** Verified a month after it was signed, unless said otherwise. */
export function verified(
  certificate: string | Buffer,
  change: Partial<Parameters<typeof verifyCertificate>[1]> = {},
) {
  const now = new Date('2026-04-01T00:00:00.000Z')
  return verifyCertificate(Buffer.from(certificate), { now, ...change })
}

/** Replaces the outcome of the first requirement. */
export const first =
  (outcome: (id: string) => RequirementResult) => (results: Report['requirements']) => {
    const { id, level, operation } = results[0]!
    results[0] = { ...outcome(id), level, operation }
  }
