import { absentReason, unreachableReason } from '../../harness/report/reason.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { strFromU8, unzipSync, zipSync } from 'fflate'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { unpackBundle } from '../../certificate/certificate-file.ts'
import { targetProblems } from '../../certificate/evidence.ts'
import { ownVersion } from '../../certificate/suite-facts.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { canonicalTarget, targetDigest } from '../../harness/target/index.ts'
import type { TargetFile } from '../../harness/target/target-file.ts'
import { notApplicable, report } from '../gates/results.ts'
import { conform } from '../cli/in-process.ts'
import { issuedAt } from './issued.ts'
import { exchanges, signer, suite, targetFile, wholeReport } from './signed.ts'

afterEach(() => void vi.useRealTimers())

const own = signer()
await own.bundle()
const bytes = readFileSync(own.file('b.zip'))

test('a bundle holds report, exchanges, target file without keys, requirements and certificate, and is enough', () => {
  const files = unzipSync(bytes)
  expect(Object.keys(files)).toEqual([
    'certificate.json',
    'report.json',
    'target.json',
    'requirements.json',
    'exchanges.har',
  ])
  const { keys: _, headers: __, ...open } = targetFile
  expect(JSON.parse(strFromU8(files['target.json']!))).toEqual({
    ...open,
    headers: { 'x-tenant': 'tea' },
  })
  expect(bytes.includes('very-secret-word')).toBe(false)
  const { result, lines } = own.verify('b.zip', { keyId: [own.id], require: 'conformant' })
  expect(result).toMatchObject({ accepted: true, heldAgainst: ['report', 'exchanges', 'target'] })
  expect(lines.slice(0, 2)).toEqual([
    `Valid: conformant, ${operations.length - 1} of ${operations.length} operations judged, signed by the key of --key-id ${own.id}`,
    `verdict by exact names: conformant, ${operations.length - 1} of ${operations.length} operations judged`,
  ])
  expect(lines).toContain(
    'operations declared not served, so not judged: 1 (vision.analyze (answered 404))',
  )
  expect(lines.join()).toContain('that these claims follow from the report in b.zip')
})

test('the same files make the same bundle', async () => {
  await own.bundle({ bundle: own.file('again.zip') })
  expect(readFileSync(own.file('again.zip')).equals(bytes)).toBe(true)
})

test('no byte of a bundle is free, of its records or of its files', () => {
  const files = Object.values(unzipSync(bytes)).map((file) => ({
    start: bytes.indexOf(file),
    length: file.length,
  }))
  const isRecord = (at: number) =>
    files.every(({ start, length }) => at < start || at >= start + length)
  const records = [...bytes.keys()].filter(isRecord)
  expect(records.length).toBeGreaterThan(400)
  const sample = [...bytes.keys()].filter((at) => at % 4001 === 0 && !isRecord(at))
  // Of the records every third byte, which meets most of their fields: each takes an unpacking.
  const looked = records.filter((_, at) => at % 3 === 0)
  const unseen = [...looked, ...sample].filter((at) => {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    if (isRecord(at)) return unpackBundle(changed, '') !== null
    writeFileSync(own.file('changed.zip'), changed)
    return own.verify('changed.zip').result.valid
  })
  expect(unseen).toEqual([])
})

test('an archive that another program would read otherwise is no bundle', () => {
  const files = unzipSync(bytes)
  const repacked = (change: Record<string, Uint8Array>, options = {}) =>
    unpackBundle(
      zipSync({ ...files, ...change }, { level: 0, mtime: '1980-01-01T00:00:00', ...options }),
      '',
    )
  expect(repacked({})).not.toBeNull()
  expect(repacked({ 'extra.txt': Buffer.from('x') })).toBeNull()
  expect(repacked({}, { level: 6 })).toBeNull()
  expect(repacked({}, { comment: 'see report2.json' })).toBeNull()
  expect(unpackBundle(Buffer.concat([bytes, Buffer.from('x')]), '')).toBeNull()
  expect(unpackBundle(Buffer.concat([Buffer.from('x'), bytes]), '')).toBeNull()
  expect(unpackBundle(bytes.subarray(0, 400), '')).toBeNull()
  writeFileSync(own.file('empty.zip'), Buffer.from('PK\u0003\u0004'))
  expect(own.verify('empty.zip').result.problems).toEqual([
    expect.stringMatching(/^it is not a bundle/),
  ])
})

describe('what is packed together has to belong together', () => {
  const refused = async (of: Report, har: unknown, reason: RegExp) =>
    expect(signer(of, har).bundle({ partial: true })).rejects.toThrow(reason)

  test.each<[string, unknown, RegExp]>([
    ['fewer exchanges than requests', exchanges(2), /they are 2 of the \d+ that the run sent/],
    ['no HAR', { log: {} }, /exchanges\.har is not a HAR/],
    ['another suite', changed((log) => (log.creator.version = '9')), /another suite recorded them/],
    [
      'another target',
      changed((log) => (log.entries[1].request.url = 'https://example.com.evil/')),
      /did not go to/,
    ],
    [
      'another time',
      changed((log) => (log.entries[0].startedDateTime = '2026-02-01T00:00:00Z')),
      /before the run began/,
    ],
    [
      'other requirements',
      changed((log) => (log.entries[0]._requirement = 'x.y/1')),
      /that the report does not hold/,
    ],
  ])('exchanges: %s', async (_, har, reason) => refused(wholeReport(), har, reason))

  test('the target file: its digest, and what it declares', async () => {
    await refused(
      wholeReport((whole) => (whole.target.digest = `sha256:${'0'.repeat(64)}`)),
      exchanges(),
      /not the target file/,
    )
    const shy = wholeReport((whole) => {
      const row = whole.requirements.find(({ id }) => id === 'chat.create/200-completion')!
      Object.assign(row, { outcome: 'not-applicable', ...unreachableReason('I say so') })
      whole.summary.must.passed -= 1
      whole.summary.must.notApplicable += 1
    })
    await refused(
      shy,
      exchanges(),
      /chat\.create\/\S+ is not applicable by the report, but .* declares nothing/,
    )
  })

  test('what is seen by operations alone that the target file declares away is not applicable', () => {
    const id = 'files.upload/2xx-attached-to-graph'
    const seenBy = ['graphs.create', 'graphs.add-file', 'graphs.query']
    const problems = (away: readonly string[]) => {
      const operations = Object.fromEntries(away.map((name) => [name, 'not-served']))
      const file: TargetFile = { baseUrl: 'https://example.com', operations }
      const of = report([notApplicable(id, absentReason('not-served', seenBy))])
      of.target.digest = targetDigest(file)
      return targetProblems(
        { name: 't.json', bytes: Buffer.from(canonicalTarget(file)) },
        of,
        catalogue,
      )
    }
    expect(problems(seenBy)).toEqual([])
    expect(problems(seenBy.slice(1))).toEqual([
      expect.stringMatching(/not applicable by the report, but t\.json declares nothing/),
    ])
  })

  test('a bundle without exchanges, or of another version’s requirements, is not made', async () => {
    await expect(own.bundle({ har: [] })).rejects.toThrow(/needs the exchanges of the run: --har/)
    const later = wholeReport(
      (whole) => (whole.suite.requirementsDigest = `sha256:${'0'.repeat(64)}`),
    )
    await refused(later, exchanges(), /are not those of version/)
  })
})

test('a later version verifies a bundle by the requirements in it, and a certificate alone it cannot hold to its report', async () => {
  const { verifyFile } = await import('../../certificate/verify-file.ts')
  const now = new Date('2026-03-03T00:00:00Z')
  const later = {
    ...{
      ...suite,
      version: '9.0.0',
      requirementsDigest: `sha256:${'1'.repeat(64)}`,
      requirementsText: '[]',
    },
    published: [ownVersion()],
  }
  const { lines, result } = verifyFile({ file: own.file('b.zip') }, { now, suite: later })
  expect(result).toMatchObject({ problems: [], published: true })
  expect(lines.join('\n')).toMatch(
    /^requirements: \d+, those of version \S+, which differ from this version's$/m,
  )
  const beside = { file: own.file('c.json'), report: own.file('report.json') }
  await own.sign({})
  expect(() => verifyFile(beside, { now, suite: later })).toThrow(
    /can be told by version .* only, or from a bundle/,
  )
  // One that claims to be this version's, with other requirements than this version has, is no other version's.
  const same = { ...later, version: suite.version }
  expect(() => verifyFile({ file: own.file('b.zip') }, { now, suite: same })).toThrow(
    /are not those of version/,
  )
})

function changed(change: (log: any) => void) {
  const har = exchanges()
  change(har.log)
  return har
}

test.each([
  ['an unknown key', [], 33],
  ['a key that is named', ['--key-id', own.id], 32],
  ['another key than the one that is asked for', ['--key-id', `sha256:${'0'.repeat(64)}`], 33],
])(
  'on a terminal the first line has the colour of what it says: signed by %s',
  async (_, options, color) => {
    vi.useFakeTimers({ toFake: ['Date'], now: issuedAt })
    const env = { NO_COLOR: '', FORCE_COLOR: '1' }
    const { stdout } = await conform(['verify', own.file('b.zip'), ...options], { env })
    expect(stdout).toMatch(new RegExp(`^\\u001b\\[1m\\u001b\\[${color}mValid`))
  },
)

/** A vendor's bundle and certificate, and a certifier who has a key of his own. */
async function both(of = wholeReport(), partial = false) {
  const vendor = signer(of)
  await vendor.bundle({ out: vendor.file('c.json'), partial })
  return { vendor, certifier: signer() }
}

test('sign --add countersigns a bundle, and each of the two keys is enough to whoever knows it', async () => {
  const { vendor, certifier } = await both()
  const add = vendor.file('b.zip')
  await certifier.sign({ report: undefined, add, out: undefined, bundle: certifier.file('b.zip') })
  const { result, lines } = certifier.verify('b.zip', {
    keyId: [certifier.id],
    require: 'conformant',
  })
  expect(result).toMatchObject({
    accepted: true,
    signedBy: [
      { keyId: vendor.id, known: null },
      { keyId: certifier.id, known: '--key-id' },
    ],
  })
  expect(lines.slice(0, 2)).toEqual([
    expect.stringMatching(`^Valid: conformant.*, signed by an unknown key ${vendor.id}$`),
    `also signed by the key of --key-id ${certifier.id}`,
  ])
  for (const of of [vendor, certifier])
    expect(certifier.verify('b.zip', { publicKey: of.file('k.pub.pem') }).result.accepted).toBe(
      true,
    )
  expect(certifier.verify('b.zip', { keyId: [signer().id] }).result.unmet[0]).toMatch(
    /^it is not signed by sha256:/,
  )
  expect(certifier.verify('b.zip').result.certificate).toBe(
    vendor.verify('b.zip').result.certificate,
  )
})

test('a certificate is countersigned beside its report, and not without', async () => {
  const { vendor, certifier } = await both()
  const add = vendor.file('c.json')
  await expect(certifier.sign({ add, report: undefined })).rejects.toThrow(
    /without the report that it was issued for/,
  )
  await expect(
    certifier.sign({ add, bundle: certifier.file('b.zip'), report: vendor.file('report.json') }),
  ).rejects.toThrow(/is not a bundle/)
  vendor.put(
    'other.json',
    wholeReport((whole) => (whole.run.seed = 5)),
  )
  await expect(certifier.sign({ add, report: vendor.file('other.json') })).rejects.toThrow(
    /is not the report it was issued/,
  )
  await certifier.sign({ add, report: vendor.file('report.json') })
  expect(certifier.verify('c.json').result.signedBy.map(({ keyId }) => keyId)).toEqual([
    vendor.id,
    certifier.id,
  ])
  await expect(
    certifier.sign({
      add: certifier.file('c.json'),
      report: vendor.file('report.json'),
      out: certifier.file('d.json'),
    }),
  ).rejects.toThrow(/signed it twice/)
  await expect(
    certifier.sign({ add, report: vendor.file('report.json'), out: add }),
  ).rejects.toThrow(/would overwrite/)
})

test('a partial certificate is countersigned with --partial only, one that is over not at all', async () => {
  const { vendor, certifier } = await both(
    wholeReport((whole) => (whole.run.insecure = true)),
    true,
  )
  const request = { add: vendor.file('c.json'), report: vendor.file('report.json') }
  await expect(certifier.sign(request)).rejects.toThrow(
    /TLS certificates were not verified \(--insecure\); --partial/,
  )
  await certifier.sign({ ...request, partial: true })
  expect(
    certifier.verify('c.json', { keyId: [certifier.id], require: 'conformant' }).result.unmet,
  ).toEqual(['it is partial (--require conformant)'])
})

test('every signature is verified: one that does not hold, or names another key, spoils all', async () => {
  const { vendor, certifier } = await both()
  await certifier.sign({ add: vendor.file('c.json'), report: vendor.file('report.json') })
  const envelope = JSON.parse(readFileSync(certifier.file('c.json'), 'utf8'))
  const [first, second] = envelope.signatures
  const stranger = readFileSync(signer().file('k.pub.pem'), 'utf8')
  const problems = (...signatures: unknown[]) => {
    writeFileSync(
      certifier.file('x.json'),
      `${JSON.stringify({ ...envelope, signatures }, null, 2)}\n`,
    )
    const { valid, problems: found } = certifier.verify('x.json').result
    expect(valid).toBe(found.length === 0)
    return found.join()
  }
  expect(problems(first, second)).toBe('')
  expect(problems(first, { ...second, sig: first.sig })).toMatch(
    /its signature 2 does not hold: it is not one by/,
  )
  expect(problems(first, { ...second, publicKey: stranger })).toMatch(
    /signature 2 does not hold: it names sha256:/,
  )
  expect(problems(first, { keyid: second.keyid, sig: second.sig })).toMatch(
    /there is no Ed25519 public key beside it/,
  )
  expect(problems(second)).toMatch(/signature 1 does not hold: it names/)
  expect(problems(first, second, second)).toMatch(/signed it twice/)
  expect(problems()).toMatch(/^it is not a certificate/)
})
