import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IssueOptions } from '../../certificate/issue.ts'
import { issueCertificate } from '../../certificate/issue.ts'
import type { Report } from '../../harness/report/model.ts'
import type { Requirement } from '../../catalogue/requirement.ts'
import { notApplicable, report, result } from '../gates/results.ts'

export const issuedAt = new Date('2026-03-02T08:00:00Z')
export const pair = generateKeyPairSync('ed25519')

export const folder = () => mkdtempSync(join(tmpdir(), 'conform-certificate-'))

export const conformant = report([
  result('jobs.create/202-created'),
  result('files.list/2xx-accepted', { cases: 4 }),
  result('envelope/content-type', { level: 'should' }),
  notApplicable('pdf.parse/200-text', 'declared not served'),
  notApplicable('completion.create/500-model-overload', 'declared unreachable: no staging switch'),
])

/** A report's file, and the certificate issued for it. */
export function issued(of: Report = conformant, change: Partial<IssueOptions> = {}) {
  const path = join(folder(), 'report.json')
  writeFileSync(path, `${JSON.stringify(of, null, 2)}\n`)
  return { path, certificate: () => issueCertificate(path, options(of, change)) }
}

export function options(of: Report, change: Partial<IssueOptions>): IssueOptions {
  const suite = {
    version: '0.1.0',
    digest: { sha256: 'd'.repeat(64) },
    requirements: of.requirements as Pick<Requirement, 'id' | 'operation' | 'level'>[],
  }
  return { privateKey: pair.privateKey, now: issuedAt, validDays: 180, partial: false, suite, ...change }
}
