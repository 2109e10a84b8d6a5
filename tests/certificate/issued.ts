import { absentReason, unreachableReason } from '../../harness/report/reason.ts'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NamedBytes } from '../../certificate/certificate-file.ts'
import { draftStatement, sealStatement } from '../../certificate/sign.ts'
import type { SuiteFacts } from '../../certificate/suite-facts.ts'
import { verifyCertificate, type VerifyOptions } from '../../certificate/verify-certificate.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { folder } from '../cli/conform.ts'
import { notApplicable, report, result } from '../gates/results.ts'

export const issuedAt = new Date('2026-03-02T08:00:00Z')
export const pair = generateKeyPairSync('ed25519')
export const other = generateKeyPairSync('ed25519')

export const conformant = report(
  [
    result('jobs.create/202-created'),
    result('files.list/2xx-accepted', { cases: 4 }),
    result('envelope/content-type', { level: 'should' }),
    notApplicable('pdf.parse/200-text', absentReason('not-served')),
    notApplicable('completion.create/500-model-overload', unreachableReason('no staging switch')),
  ],
  { notServed: [{ operation: 'pdf.parse', answered: '404' }] },
)

interface IssueOptions {
  readonly privateKey: KeyObject
  readonly now: Date
  readonly validDays: number
  readonly partial: boolean
  readonly suite: SuiteFacts
}

/** A report's file, and the certificate issued for it. */
export function issued(of: Report = conformant, change: Partial<IssueOptions> = {}) {
  const path = join(folder(), 'report.json')
  const bytes = Buffer.from(`${JSON.stringify(of, null, 2)}\n`)
  writeFileSync(path, bytes)
  const report: NamedBytes = { name: path, bytes }
  const { privateKey, ...how } = options(of, change)
  return {
    path,
    report,
    certificate: () => sealStatement(draftStatement({ report, exchanges: [] }, how), privateKey),
  }
}

export function options(of: Report, change: Partial<IssueOptions> = {}): IssueOptions {
  const suite = suiteOf(of)
  return {
    privateKey: pair.privateKey,
    now: issuedAt,
    validDays: 180,
    partial: false,
    suite,
    ...change,
  }
}

/** The suite whose requirements are those of that report. */
export function suiteOf({ suite, requirements }: Report): SuiteFacts {
  const rows = requirements.map((row) => ({ ...row, needs: [] }))
  return {
    version: suite.version,
    digest: { sha256: 'd'.repeat(64) },
    specVersion: suite.specVersion,
    specDigest: suite.specDigest,
    requirementsDigest: suite.requirementsDigest,
    requirements: requirements.length,
    requirementsText: JSON.stringify(rows),
    published: [],
  }
}

/** Verified a month after it was issued, unless said otherwise. */
export function verified(bytes: Uint8Array, change: Partial<VerifyOptions> = {}) {
  return verifyCertificate(bytes, {
    now: new Date('2026-04-01T00:00:00Z'),
    suite: suiteOf(conformant),
    ...change,
  })
}
