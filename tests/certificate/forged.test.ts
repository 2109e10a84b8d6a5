/** Work of somebody who changed the suite: it must not be countersigned, or accepted as if it were honest. */
import { unreachableReason } from '../../harness/report/reason.ts'
import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { ownVersion, type SuiteFacts } from '../../certificate/suite-facts.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { canonicalTarget, targetDigest } from '../../harness/target/index.ts'
import type { TargetFile } from '../../harness/target/target-file.ts'
import { failure } from '../gates/results.ts'
import {
  consistent,
  forgeBundle,
  inventedReport,
  statementIn,
  signer,
  suite,
  targetFile,
  wholeReport,
} from './signed.ts'
import { issuedAt } from './issued.ts'

/** A vendor's bundle by requirements of his own, and a certifier. */
async function invented(version?: string) {
  const vendor = signer()
  const { report, requirements } = inventedReport(version)
  await forgeBundle(vendor, { report, requirements })
  return { vendor, certifier: signer(), add: vendor.file('b.zip') }
}

test('requirements that somebody invented are not countersigned without a word, or accepted', async () => {
  const { certifier, add } = await invented()
  const out = { report: undefined, add, out: undefined, bundle: certifier.file('b.zip') }
  await expect(certifier.sign(out)).rejects.toThrow(
    /version 9\.9\.9 of the suite judged, and .* signs; its requirements are those of no version of the suite that/,
  )
  expect(certifier.shown).toEqual([])
  await certifier.sign({ ...out, partial: true })
  expect(certifier.shown.join('\n')).toMatch(
    /verdict by exact names: conformant.*\n.*target: https:\/\/example\.com/,
  )

  const asked = { keyId: [certifier.id], require: 'conformant' as const }
  const { lines, result } = certifier.verify('b.zip', asked)
  expect(result).toMatchObject({
    outcome: 'insufficient',
    accepted: false,
    valid: true,
    published: false,
    partial: [],
  })
  expect(result.unmet.join()).toMatch(
    /its requirements are those of no version of the suite.*a later version may know them/,
  )
  expect(lines.find((line) => line.startsWith('requirements: '))).toMatch(
    new RegExp(`^requirements: ${operations.length + 3}, which are those of no vers`),
  )
})

test('the version of the suite that verifies does not lend its name to other requirements', async () => {
  const { certifier, add } = await invented(suite.version)
  const countersigned = certifier.sign({ report: undefined, add, partial: true })
  await expect(countersigned).rejects.toThrow(/are not those of version/)
})

test('a version that was published is known by its requirements, its text and their number, and by nothing less', async () => {
  const { vendor } = await invented()
  const { report } = inventedReport()
  const version = { ...ownVersion(), version: '9.9.9', requirements: report.requirements.length }
  const known = { ...version, requirementsDigest: report.suite.requirementsDigest }
  const verified = (published: SuiteFacts['published']) =>
    vendor.verify('b.zip', { require: 'conformant' }, issuedAt, { ...suite, published }).result
  expect(verified([known])).toMatchObject({ accepted: true, published: true })
  for (const change of [
    { version: '9.9.8' },
    { requirements: 302 },
    { specVersion: '2.0' },
    { specDigest: `sha256:${'0'.repeat(64)}` },
    { requirementsDigest: `sha256:${'0'.repeat(64)}` },
  ])
    expect(verified([{ ...known, ...change }])).toMatchObject({ accepted: false, published: false })
})

test.each<[string, (whole: Report) => void, RegExp]>([
  [
    'another version',
    (whole) => (whole.suite.version = '0.0.9'),
    /version 0\.0\.9 of the suite judged/,
  ],
  [
    'another text',
    (whole) => (whole.suite.specDigest = `sha256:${'0'.repeat(64)}`),
    /another text of the interface/,
  ],
  [
    'another version of it',
    (whole) => (whole.suite.specVersion = '2.0'),
    /another text of the interface/,
  ],
  ['a run by --insecure', (whole) => (whole.run.insecure = true), /--insecure/],
])('a countersigner checks it as if it were his own report: %s', async (_, change, reason) => {
  const [vendor, certifier] = [signer(), signer()]
  await forgeBundle(vendor, { report: wholeReport(change) })
  const add = { report: undefined, add: vendor.file('b.zip') }
  await expect(certifier.sign(add)).rejects.toThrow(reason)
  await certifier.sign({ ...add, partial: true })
})

test('a version with a line end makes no line of its own', async () => {
  const [vendor, certifier] = [signer(), signer()]
  const version = '0.0.9\nconform: all is well'
  await forgeBundle(vendor, { report: wholeReport((whole) => (whole.suite.version = version)) })
  const add = { report: undefined, add: vendor.file('b.zip') }
  await expect(certifier.sign(add)).rejects.toThrow(/version 0\.0\.9\\nconform: all is well of/)
})

test('a countersigner goes by his own day: a run of long ago, and one that has not begun, need --partial', async () => {
  const [vendor, certifier] = [signer(), signer()]
  await vendor.bundle()
  const add = { report: undefined, add: vendor.file('b.zip') }
  const day = (days: number) => new Date(Date.parse('2026-03-01T12:00:00Z') + days * 86_400_000)
  await certifier.sign({ ...add, now: day(6.9) })
  await expect(certifier.sign({ ...add, now: day(7.1) })).rejects.toThrow(
    /began more than 7 days before it was signed/,
  )
  await expect(certifier.sign({ ...add, now: day(0.1) })).rejects.toThrow(/it is dated/)
})

test('what is signed is shown before the key is asked for', async () => {
  const own = signer()
  const { signCertificate } = await import('../../certificate/sign.ts')
  const request = {
    report: own.file('report.json'),
    har: [],
    validDays: 180,
    partial: false,
    privateKey: '',
  }
  const order: string[] = []
  const settings = {
    ...{ now: issuedAt, suite },
    show: (lines: readonly string[]) => void order.push(lines.join('\n')),
    privateKey: () => Promise.reject(new Error(`asked after ${order.length}`)),
  }
  await expect(signCertificate(request, settings)).rejects.toThrow('asked after 1')
  expect(order[0]).toMatch(
    new RegExp(
      `^what is signed:\n {2}the exchanges were not looked at\n {2}verdict by exact names: conformant, ${operations.length - 1} of ${operations.length} operations judged\n`,
    ),
  )
})

const failing = (whole: Report) => {
  const row = whole.requirements.find(({ id }) => id === 'jobs.create/202-created')!
  return { row, fail: () => Object.assign(row, { outcome: 'failed', failures: [failure()] }) }
}

test.each<[string, (whole: Report) => void, RegExp, TargetFile?]>([
  [
    'what a valid request reaches declared unreachable',
    (whole) =>
      Object.assign(failing(whole).row, { outcome: 'not-applicable', ...unreachableReason('tea') }),
    /jobs\.create\/202-created cannot be unreachable/,
    { ...targetFile, unreachable: { ...targetFile.unreachable, '*': 'tea' } },
  ],
  [
    'a reason of its own',
    (whole) =>
      Object.assign(failing(whole).row, { outcome: 'not-applicable', reason: 'the moon is full' }),
    /jobs\.create\/202-created is not applicable by the report, but .* declares nothing of the kind/,
    { ...targetFile, unreachable: { '*': 'no staging switch' } },
  ],
  [
    'judged where nothing is served',
    () => undefined,
    /was judged by the report, but .* declares it not served/,
    { ...targetFile, operations: { 'vision.analyze': 'not-served', 'chat.create': 'not-served' } },
  ],
  ['under another name', (whole) => (whole.target.name = 'Another Bank'), /is that of "Example"/],
  [
    'all wrong keys, where few were asked for',
    () => undefined,
    /asks for few credential probes, the report tells of all/,
    { ...targetFile, limits: { credentialProbes: 'few' } },
  ],
  [
    'requirements in other words',
    (whole) => (whole.requirements[0]!.statement = 'It answers.'),
    /is worded otherwise than the suite does/,
  ],
  [
    'another suite',
    (whole) => (whole.suite.name = 'Certified Testing'),
    /\/predicate\/suite\/name/,
  ],
  ['no request', (whole) => (whole.run.requests = 0), /judged without a request/],
  ...[
    'https://example.com@evil.example',
    'https://EXAMPLE.com',
    'https://example.com/',
    'https://example.com?as=other',
    'javascript:alert(1)',
    'https://exаmple.com',
    'example.com',
  ].map((url): [string, (whole: Report) => void, RegExp] => [
    `at ${url}`,
    (whole) => (whole.target.baseUrl = url),
    /the address of its target is not written as conform writes it/,
  ]),
])(
  'a bundle that was made up is not valid: %s',
  async (_, change, problem, target = targetFile) => {
    const own = signer()
    const report = wholeReport((whole) => {
      whole.target.digest = targetDigest(target)
      change(whole)
      consistent(whole)
    })
    await forgeBundle(own, { report, target: canonicalTarget(target) })
    const { result } = own.verify('b.zip')
    expect(result).toMatchObject({ valid: false, outcome: 'invalid' })
    expect(result.problems.join('\n')).toMatch(problem)
    const certifier = signer()
    await expect(
      certifier.sign({ report: undefined, add: own.file('b.zip'), partial: true }),
    ).rejects.toThrow(problem)
  },
)

test('a report or a target file that two readers read otherwise is not valid', async () => {
  const own = signer()
  const report = wholeReport()
  const text = JSON.stringify(report).replace('{"format"', '{"verdict":"non-conformant","format"')
  await forgeBundle(own, { report, text })
  expect(own.verify('b.zip').result.problems.join()).toMatch(/has "verdict" twice in one object/)

  const twice = canonicalTarget(targetFile).replace('{', '{"name":"Another",')
  const { sha256 } = await import('../../certificate/statement.ts')
  const other = wholeReport(
    (whole) => (whole.target.digest = `sha256:${sha256(Buffer.from(twice)).sha256}`),
  )
  await forgeBundle(own, { report: other, target: twice })
  expect(own.verify('b.zip').result.problems.join()).toMatch(/no target file as conform writes it/)
})

test.each<[string, (report: Report) => void, RegExp]>([
  [
    'fewer requirements than its digest names',
    (whole) => {
      whole.requirements = whole.requirements.slice(0, 40)
      consistent(whole)
    },
    /it does not count the requirements that its digest names/,
  ],
  [
    'one that is none of them',
    (whole) => {
      failing(whole).fail()
      failing(whole).row.id = 'jobs.create/202-tea'
      consistent(whole)
    },
    /jobs\.create\/202-tea is not one of the requirements that its digest names/,
  ],
  [
    'a must as a should',
    (whole) => {
      failing(whole).row.level = 'should'
      consistent(whole)
    },
    /it does not count the requirements that its digest names/,
  ],
  [
    'a failure twice in place of another',
    (whole) => {
      failing(whole).fail()
      const at = whole.requirements.findIndex(({ id }) => id === 'jobs.create/202-created')
      whole.requirements[at + 1] = whole.requirements[at]!
      consistent(whole)
    },
    /a requirement or an operation is in it twice/,
  ],
])(
  'a certificate is not valid without its report either if it has %s',
  async (_, change, problem) => {
    const own = signer()
    await forgeBundle(own, { report: wholeReport(change) })
    expect(own.verify('c.json').result.problems.join()).toMatch(problem)
    expect(statementIn(own.file('c.json')).predicate.requirements.digest.sha256).toBe(
      suite.requirementsDigest.slice(7),
    )
  },
)
