import canonicalize from 'canonicalize'
import { absentReason, unreachableReason } from '../../harness/report/reason.ts'
import { writeFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogue, requirementsDigest, specDigest, published } from '../../catalogue/catalogue.ts'
import { isRefusal, type Pairs } from '../../catalogue/expected.ts'
import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { keyId, packBundle } from '../../certificate/certificate-file.ts'
import { readPrivateKey, writeKeyPair } from '../../certificate/keys.ts'
import { type SignRequest, type SignSettings, sealStatement } from '../../certificate/sign.ts'
import { suiteFacts } from '../../certificate/suite-facts.ts'
import { type VerifyRequest, verifyFile } from '../../certificate/verify-file.ts'
import { signToFiles } from '../../cli/certificates.ts'
import { canonicalTarget, targetDigest } from '../../harness/target/index.ts'
import type { TargetFile } from '../../harness/target/target-file.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { notApplicable, report, result } from '../gates/results.ts'
import { folder } from '../cli/conform.ts'
import { issuedAt } from './issued.ts'
import { makeStatement, sha256 } from '../../certificate/statement.ts'
import type { Predicate } from '../../certificate/statement-schema.ts'
import { bothVerdicts, summarize } from '../../harness/report/verdict.ts'

export const suite = suiteFacts()

/** A target file as somebody writes it, with keys. */
export const targetFile: TargetFile = {
  name: 'Example',
  baseUrl: 'https://example.com',
  headers: { authorization: 'Bearer very-secret-word', 'x-tenant': 'tea' },
  keys: { full: 'very-secret-word' },
  operations: { 'vision.analyze': 'not-served' },
  unreachable: { 'completion.create/500-*': 'no staging switch' },
}

/** The report of a whole, conformant run against that target: every requirement of the catalogue, and as many requests sent as there are exchanges. */
export function wholeReport(change: (report: Report) => void = () => undefined): Report {
  const results = catalogue.map(({ id, operation, level, section, statement }) => {
    const row = { operation, level, section, statement }
    if (operation === 'vision.analyze')
      return { ...notApplicable(id, absentReason('not-served')), ...row }
    if (/^completion\.create\/500-/.test(id))
      return { ...notApplicable(id, unreachableReason('no staging switch')), ...row }
    return result(id, row)
  })
  const whole = report(results, {
    requests,
    notServed: [{ operation: 'vision.analyze', answered: '404' }],
  })
  whole.suite = {
    ...whole.suite,
    version: suite.version,
    specDigest,
    requirementsDigest: requirementsDigest(),
  }
  whole.target.digest = targetDigest(targetFile)
  change(whole)
  return whole
}

/** Requests with wrong keys, one for each requirement about them: so few bear out what the report counts. */
const sent = catalogue.filter(
  ({ expects, fault, operation }) =>
    fault === 'credentials' && isRefusal(expects) && operation !== 'vision.analyze',
)
export const requests = sent.length

interface Sent {
  startedDateTime: string
  time: number
  request: { method: string; url: string; headers: object[] }
  response: { status: number; headers: object[]; content: { mimeType: string; text: string } }
  _requirement: string
  _role: string
}

/** The exchanges of that run. */
export function exchanges(count = requests) {
  const entries = sent.slice(0, count).map(({ expects, id, operation }, n): Sent => {
    const { method, path } = operationOf(operation as OperationId)
    const [[status, tpe] = [0]] = expects as Pairs
    const body = JSON.stringify({ tpe, errors: [], extras: {} })
    return {
      startedDateTime: new Date(Date.parse('2026-03-01T12:00:00Z') + n).toISOString(),
      time: 1,
      request: { method, url: `https://example.com${path.replaceAll(/[{}]/g, '')}`, headers: [] },
      response: {
        status: Number(status),
        headers: [{ name: 'content-type', value: 'application/json' }],
        content: { mimeType: 'application/json', text: body },
      },
      _requirement: id,
      _role: 'probe',
    }
  })
  return {
    log: {
      version: '1.2',
      creator: { name: 'ai-content-conformance', version: suite.version },
      entries,
    },
  }
}

/** A folder with a key pair, a report and its exchanges, and what signing and verifying there gives. */
export function signer(of: Report = wholeReport(), har: unknown = exchanges()) {
  const at = folder()
  const file = (name: string) => join(at, name)
  const put = (name: string, value: unknown) => writeFileSync(file(name), JSON.stringify(value))
  const { publicKey } = writeKeyPair(file('k.pem'), file('k.pub.pem'))
  put('report.json', of)
  put('run.har', har)
  const target = { name: file('target.json'), bytes: Buffer.from(canonicalTarget(targetFile)) }
  const shown: string[] = []
  const settings = {
    now: issuedAt,
    suite,
    show: (lines: readonly string[]) => void shown.push(...lines),
    privateKey: () => readPrivateKey(file('k.pem'), async () => undefined),
  }
  const base = { report: file('report.json'), har: [], validDays: 180, partial: false }
  const signed = ({ out, bundle, holdsKey, now = issuedAt, ...change }: Signing) =>
    signToFiles(
      { ...base, privateKey: file('k.pem'), ...change, out, bundle },
      { ...settings, now, holdsKey },
    )
  return {
    file,
    put,
    id: keyId(publicKey),
    /** The summary of what `sign` is about to sign. */
    shown,
    sign: (change: Signing) => signed({ out: file('c.json'), ...change }),
    bundle: (change: Signing = {}) =>
      signed({ bundle: file('b.zip'), har: [file('run.har')], target, ...change }),
    verify: (name: string, change: Verifying = {}, now = issuedAt, by = suite) => {
      return verifyFile({ ...change, file: file(name) }, { now, suite: by })
    },
  }
}

/** Options of a signing, and its time. */
type Signing = Partial<SignRequest> & { now?: Date } & Pick<SignSettings, 'holdsKey'>
type Verifying = Omit<VerifyRequest, 'file'>

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
