import { readFileSync, writeFileSync } from 'node:fs'
import canonicalize from 'canonicalize'
import { catalogue, published } from '../../catalogue/catalogue.ts'
import { packBundle } from '../../certificate/certificate-file.ts'
import { readPrivateKey } from '../../certificate/keys.ts'
import { makeStatement, sha256 } from '../../certificate/statement.ts'
import type { Predicate } from '../../certificate/statement-schema.ts'
import { sealStatement } from '../../certificate/sign.ts'
import { canonicalTarget } from '../../harness/target-file/index.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { bothVerdicts, summarize } from '../../harness/report/verdict.ts'
import { issuedAt } from './issued.ts'
import { exchanges, type signer, suite, targetFile, wholeReport } from './signed.ts'

/** The report, consistent with itself again. */
export function consistent(whole: Report): Report {
  whole.verdicts = bothVerdicts(whole.requirements, whole.run)
  whole.verdict = whole.verdicts[whole.run.tpe]
  whole.summary = summarize(whole.requirements, whole.run.tpe)
  return whole
}

interface Forgery {
  readonly report: Report
  /** The exchanges, if they are not those that bear it out. */
  readonly har?: object
  readonly lie?: (predicate: Predicate) => void
  /** The bytes of the report, if they are not simply its JSON. */
  readonly text?: string
  readonly target?: string
  readonly requirements?: string
}

/** Writes `b.zip` and its `c.json`, which conform would not make: by a signer who changed the suite. */
export async function forgeBundle(own: ReturnType<typeof signer>, forgery: Forgery): Promise<void> {
  const { report: whole, lie = () => undefined, text = JSON.stringify(whole) } = forgery
  const report = Buffer.from(text)
  const har = {
    name: 'exchanges.har',
    bytes: Buffer.from(JSON.stringify(forgery.har ?? harOf(whole))),
  }
  const statement = makeStatement(whole, report, {
    issuedAt: issuedAt.toISOString(),
    expiresAt: '2026-08-28T12:00:00.000Z',
    publicKey: '',
    suiteDigest: suite.digest,
    exchanges: [{ name: har.name, digest: sha256(har.bytes) }],
    foreign: [],
  })
  lie(statement.predicate)
  const key = await readPrivateKey(own.file('k.pem'), async () => undefined)
  const certificate = sealStatement(statement, key)
  writeFileSync(own.file('c.json'), certificate)
  const { target = canonicalTarget(targetFile), requirements = suite.requirementsText } = forgery
  const file = (bytes: Uint8Array) => ({ name: '', bytes })
  const [declared, known] = [file(Buffer.from(target)), file(Buffer.from(requirements))]
  const evidence = { report: file(report), target: declared, requirements: known, exchanges: [har] }
  writeFileSync(own.file('b.zip'), packBundle(certificate, evidence))
}

function harOf(whole: Report) {
  const har = exchanges()
  har.log.creator.version = whole.suite.version
  const ids = new Set(whole.requirements.map(({ id }) => id))
  const [first] = ids
  for (const entry of har.log.entries) if (!ids.has(entry._requirement)) entry._requirement = first!
  return har
}

/** A report of one requirement of each operation and area, by a list and a version that its maker invented. */
export function inventedReport(version = '9.9.9') {
  const few = catalogue.filter(
    ({ operation }, at) => catalogue.findIndex((row) => row.operation === operation) === at,
  )
  const requirements = canonicalize(few.map(published))!
  const report = wholeReport((whole) => {
    const ids = new Set<string>(few.map(({ id }) => id))
    whole.requirements = whole.requirements.filter(({ id }) => ids.has(id))
    whole.suite.version = version
    whole.suite.requirementsDigest = `sha256:${sha256(Buffer.from(requirements)).sha256}`
    consistent(whole)
  })
  return { report, requirements }
}

/** The statement of a certificate. */
export function statementIn(path: string) {
  const { payload } = JSON.parse(readFileSync(path, 'utf8')) as { payload: string }
  return JSON.parse(Buffer.from(payload, 'base64').toString()) as { predicate: Predicate }
}
