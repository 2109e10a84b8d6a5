import { basename } from 'node:path'
import { readBytes } from '../harness/report/json-file.ts'
import type { Bundle } from './bundle.ts'
import { exchangesNames, isZip, unpackBundle } from './bundle.ts'
import type { Evidence } from './evidence.ts'

/** Files that a certificate is to be held against. */
export interface EvidenceFiles {
  readonly report?: string | undefined
  readonly har?: readonly string[] | undefined
}

/** A certificate as it was found in a file, alone or in a bundle; null bytes if the bundle is not one. */
export interface CertificateFile {
  readonly path: string
  readonly bytes: Uint8Array | null
  readonly evidence?: Evidence
  readonly bundle?: Bundle
}

/** Reads a certificate or a bundle; throws UserError if a file cannot be read. */
export function readCertificateFile(path: string, given: EvidenceFiles = {}): CertificateFile {
  const read = readBytes(path)
  const report = given.report === undefined ? undefined : { name: given.report, bytes: readBytes(given.report) }
  if (isZip(read)) {
    const bundle = unpackBundle(read)
    if (!bundle) return { path, bytes: null }
    return { path, bytes: bundle.certificate, evidence: evidenceOf(path, bundle, report), bundle }
  }
  if (!report) return { path, bytes: read }
  const har = given.har ?? []
  const names = exchangesNames(har.length)
  const exchanges = har.map((file, index) => ({ name: names[index] ?? file, bytes: readBytes(file) }))
  return { path, bytes: read, evidence: { report, ...(har.length > 0 && { exchanges }) } }
}

/** All that a bundle holds. A report that is given beside it is used in place of its own: then it has to be the same. */
export function evidenceOf(path: string, bundle: Bundle, report?: Evidence['report']): Evidence {
  const inside = (name: string) => `${name} of ${basename(path)}`
  return {
    report: report ?? { name: inside('report.json'), bytes: bundle.report },
    exchanges: bundle.exchanges,
    target: { name: inside('target.json'), bytes: bundle.target },
    requirements: Buffer.from(bundle.requirements).toString('utf8'),
  }
}
