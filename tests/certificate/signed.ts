import { absentReason, unreachableReason } from '../../harness/report/reason.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogue, requirementsDigest, specDigest } from '../../catalogue/catalogue.ts'
import { isRefusal, type Pairs } from '../../catalogue/expected.ts'
import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { keyId } from '../../certificate/certificate-file.ts'
import { readPrivateKey, writeKeyPair } from '../../certificate/keys.ts'
import type { SignRequest, SignSettings } from '../../certificate/sign.ts'
import { suiteFacts } from '../../certificate/suite-facts.ts'
import { type VerifyRequest, verifyFile } from '../../certificate/verify-file.ts'
import { signToFiles } from '../../cli/certificates.ts'
import { canonicalTarget, targetDigest } from '../../harness/target-file/index.ts'
import type { TargetFile } from '../../harness/target-file/target-file.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { notApplicable, report, result } from '../gates/results.ts'
import { folder } from '../cli/conform.ts'
import { issuedAt } from './issued.ts'

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
