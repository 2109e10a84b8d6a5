import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { encodeEnvelope, signEnvelope } from '../../cli/certificate/envelope.ts'
import { keyId, pemOf } from '../../cli/certificate/keys.ts'
import { sha256 } from '../../cli/certificate/statement.ts'
import { type Demands, verifyFile } from '../../cli/certificate/verify.ts'
import { folder } from '../cli/conform.ts'
import { failed } from '../gates/results.ts'
import {
  bytesOf,
  issue,
  issuedAt,
  other,
  pair,
  statementIn,
  verified,
  wholeReport,
} from './issued.ts'

const report = wholeReport()
const certificate = issue(report)
const envelope = () => JSON.parse(certificate)
const write = (value: unknown) => JSON.stringify(value, null, 2)
const urlSafe = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/** The certificate with a changed statement, signed by the holder of the key. */
function resigned(change: (predicate: any) => void): string {
  const statement = statementIn(certificate)
  change(statement.predicate)
  return encodeEnvelope(signEnvelope(envelope().payloadType, bytesOf(statement), pair.privateKey))
}

test.each<[string, string]>([
  ['CRLF', certificate.replaceAll('\n', '\r\n')],
  ['a byte order mark', `\uFEFF${certificate}`],
  ['no white space', JSON.stringify(envelope())],
  ['members in another order', write(Object.fromEntries(Object.entries(envelope()).reverse()))],
  [
    'URL-safe base64 without padding',
    write({
      ...envelope(),
      payload: urlSafe(envelope().payload),
      signatures: envelope().signatures.map((one: any) => ({ ...one, sig: urlSafe(one.sig) })),
    }),
  ],
  [
    'base64 in lines',
    write({ ...envelope(), payload: envelope().payload.replaceAll(/.{76}/g, '$&\n') }),
  ],
  ['no keyid', write({ ...envelope(), signatures: [{ sig: envelope().signatures[0].sig }] })],
  [
    'a wrong keyid',
    write({ ...envelope(), signatures: [{ keyid: 'x', sig: envelope().signatures[0].sig }] }),
  ],
  [
    'a foreign signature before it',
    write({ ...envelope(), signatures: [{ sig: 'AAAA' }, ...envelope().signatures] }),
  ],
  ['members that DSSE does not know', write({ ...envelope(), more: 1 })],
])('the same certificate with %s is valid, and only its envelope differs', (_, text) => {
  const found = verified(text, { publicKey: pair.publicKey, report: reportFile(report) })
  expect(found).toMatchObject({ problems: [], signed: { keyId: keyId(pair.publicKey) } })
  expect(found.differs).toBe('envelope')
})

const reportFile = (of: unknown) => ({ path: 'r.json', bytes: bytesOf(of) })

test('as it was written, nothing differs', () => {
  expect(verified(certificate)).toMatchObject({ problems: [], differs: null })
})

const flipped = (base64: string) => {
  const bytes = Buffer.from(base64, 'base64')
  bytes[40]! ^= 1
  return bytes.toString('base64')
}

test.each<[string, string, RegExp]>([
  [
    'the payload',
    write({ ...envelope(), payload: flipped(envelope().payload) }),
    /^the signed payload was altered/,
  ],
  [
    'the payload, and the signature of somebody else',
    encodeEnvelope(
      signEnvelope(envelope().payloadType, bytesOf(statementIn(certificate)), other.privateKey),
    ),
    /^the signed payload was altered, or its signature: the key in the certificate did not/,
  ],
  [
    'the signature',
    write({ ...envelope(), signatures: [{ sig: flipped(envelope().signatures[0].sig) }] }),
    /^the signed payload was altered, or its signature/,
  ],
  [
    'the payload type',
    write({ ...envelope(), payloadType: 'text/plain' }),
    /^its payloadType is text\/plain/,
  ],
  ['base64', write({ ...envelope(), payload: '%' }), /its payload is not base64/],
  ['the signatures', write({ ...envelope(), signatures: [] }), /it has no signature/],
  ['everything', 'PK', /the file is not a JSON object/],
])('refused if altered: %s', (_, text, problem) => {
  const found = verified(text)
  expect(found.problems).toEqual([expect.stringMatching(problem)])
  expect(found.signed).toBeUndefined()
})

test('another key than the one given is named', () => {
  const [own, foreign] = [keyId(pair.publicKey), keyId(other.publicKey)]
  expect(verified(certificate, { publicKey: other.publicKey }).problems).toEqual([
    `it is signed by ${own}, not by the key given (${foreign})`,
  ])
})

test('a second signer of the same payload is accepted by its key', () => {
  const signatures = [pair, other].map(({ privateKey }) => {
    const text = encodeEnvelope(
      signEnvelope(envelope().payloadType, bytesOf(statementIn(certificate)), privateKey),
    )
    return JSON.parse(text).signatures[0]
  })
  const both = write({ ...envelope(), signatures })
  expect(verified(both, { publicKey: other.publicKey })).toMatchObject({
    problems: [],
    signed: { keyId: keyId(other.publicKey) },
  })
})

test.each<[string, Date | string, string, RegExp | null]>([
  ['when it was signed', issuedAt, certificate, null],
  ['before', '2026-03-02T07:59:59.999Z', certificate, /^it was signed in the future/],
  ['in its last moment', '2026-08-28T11:59:59.999Z', certificate, null],
  ['at its end', '2026-08-28T12:00:00.000Z', certificate, /^it expired at 2026-08-28/],
  [
    'if it claims too much',
    issuedAt,
    resigned((claims) => (claims.expiresAt = '2027-04-05T12:00:00.001Z')),
    /^it is valid for more than 400 days after its run/,
  ],
])('its time: %s', (_, now, text, problem) => {
  const { problems } = verified(text, { now: new Date(now) })
  expect(problems).toEqual(problem === null ? [] : [expect.stringMatching(problem)])
})

test('a payload of another form is refused with the place', () => {
  const strange = resigned((claims) => (claims.verdict = 'perfect'))
  expect(verified(strange).problems.join()).toMatch(
    /not a statement of conform sign: predicate\.verdict/,
  )
})

test.each<[string, (claims: any) => void, unknown, RegExp]>([
  ['another report', () => undefined, { ...report, x: 1 }, /^r\.json is not the report/],
  ['a verdict', (claims) => (claims.verdict = 'passing'), report, /^its verdict does not follow/],
  ['counts', (claims) => (claims.summary.must.passed = 1), report, /^its summary does not/],
  ['an excuse less', (claims) => claims.excused.pop(), report, /^its excused does not follow/],
  [
    'an operation',
    (claims) => (claims.operations.at(-1).state = 'judged'),
    report,
    /^its operations/,
  ],
  ['a condition', (claims) => (claims.run.runs = 100), report, /^its run does not follow/],
  ['an address', (claims) => (claims.target.baseUrl = 'https://x.example'), report, /^its target/],
])('held against the report: %s', (_, lie, of, problem) => {
  const { problems } = verified(resigned(lie), { report: reportFile(of) })
  expect(problems).toEqual([expect.stringMatching(problem)])
})

test('a reason for being partial cannot be left out, nor a requirement of the report', () => {
  const quick = wholeReport({ depth: 'quick' })
  const statement = statementIn(issue(quick, { partial: true }))
  const sealed = (value: unknown) =>
    encodeEnvelope(signEnvelope(envelope().payloadType, bytesOf(value), pair.privateKey))
  statement.predicate.partial = []
  expect(verified(sealed(statement), { report: reportFile(quick) }).problems).toEqual([
    'its partial does not follow from r.json',
  ])
  const short = wholeReport({}, (results) => results.pop())
  const forged = statementIn(certificate)
  forged.subject[0].digest.sha256 = sha256(bytesOf(short))
  expect(verified(sealed(forged), { report: reportFile(short) }).problems.join()).toMatch(
    /r\.json: .* is missing/,
  )
})

test('the requirements of another version cannot be checked', () => {
  const foreign = wholeReport()
  Object.assign(foreign.suite, { version: '9.9.9', requirementsDigest: `sha256:${'e'.repeat(64)}` })
  const text = issue(foreign, { partial: true })
  expect(() => verified(text, { report: reportFile(foreign) })).toThrow(
    /r\.json: judged by the requirements of version 9\.9\.9 of the suite; verify it with that version/,
  )
})

/** What `verify` prints and finds. */
function look(text: string, demands: Partial<Demands> = {}) {
  const at = folder()
  const file = join(at, 'c.json')
  writeFileSync(file, text)
  writeFileSync(join(at, 'k.pem'), pemOf(pair.publicKey))
  writeFileSync(join(at, 'r.json'), bytesOf(report))
  const inFolder = (name: string | undefined) => (name === undefined ? name : join(at, name))
  return verifyFile(file, {
    now: new Date('2026-04-01T00:00:00.000Z'),
    ...demands,
    publicKey: inFolder(demands.publicKey),
    report: inFolder(demands.report),
  })
}

const own = keyId(pair.publicKey)

test('prints who signed it, the verdict, what was judged, what was not, how and when, before all else', () => {
  const { lines, result } = look(certificate)
  const excused = statementIn(certificate).predicate.excused.length
  expect(lines.slice(0, 4)).toEqual([
    `signed by an unknown key ${own}: intact, signer unknown`,
    expect.stringMatching(
      new RegExp(
        `^Conformant: \\d+ required checks passed, ${excused} excused \\(unreachable\\), 1 operation not served$`,
      ),
    ),
    expect.stringMatching(/^operations judged: 16 of 17 \(pdf\.parse, jobs\.create, /),
    'operations not served: 1 (vision.analyze (answered 404))',
  ])
  expect(lines.slice(4, 7)).toEqual([
    'requirements not tested: 0',
    `requirements excused (unreachable): ${excused}`,
    expect.stringMatching(/^ {2}\d+: no staging switch \(.*completion\.create\/500-model-overload/),
  ])
  expect(lines.slice(7)).toEqual([
    'mode: exact names, full; runs: 25; seed: 421',
    expect.stringMatching(/^run: 2026-03-01T12:00:00.000Z, version 0\.1\.0 of the suite/),
    'target: https://example.com, named "Example"',
    'valid: 2026-03-02T08:00:00.000Z to 2026-08-28T12:00:00.000Z',
    'report: not checked (--report)',
    expect.stringMatching(/^not proven: that the run took place.*The owner of the key can sign/),
    'exit 0: valid; ask the signer for the key id (--key-id)',
  ])
  expect(result).toMatchObject({ accepted: true, signedBy: { keyId: own, isKnown: false } })
})

test.each<[string, Partial<Parameters<typeof wholeReport>[0]>, string]>([
  ['quick', { depth: 'quick' }, 'Conformant (quick, partial): '],
  ['by families of names', { tpe: 'family' }, 'Conformant (family names, partial): '],
])('the verdict names its mode: %s', (_, run, line) => {
  const { lines } = look(issue(wholeReport(run), { partial: true }))
  expect(lines[1]).toContain(line)
  expect(lines[2]).toMatch(/^partial: /)
})

test('no control character of the signer is printed', () => {
  const name = 'Ex\u001b[2Jample\nsigned by the key'
  const lines = look(resigned((claims) => (claims.target.name = name))).lines.join('')
  expect(lines).not.toMatch(/[\u001b\n]/)
})

const failing = issue(
  wholeReport({}, (results) => {
    const { id, level, operation } = results[0]!
    results[0] = { ...failed(id), level, operation }
  }),
  { partial: true },
)
const partial = issue(wholeReport({ insecure: true }), { partial: true })
const silent = resigned((claims) => (claims.run.insecure = true))

test.each<[string, Partial<Demands>, string | null, of?: string]>([
  ['--public-key', { publicKey: 'k.pem' }, null],
  ['--report', { report: 'r.json' }, null],
  ['--key-id', { keyId: [keyId(other.publicKey), own] }, null],
  ['another --key-id', { keyId: [keyId(other.publicKey)] }, `${own} signed it (--key-id)`],
  ['--require', { require: 'conformant' }, null],
  [
    '--require, but it failed',
    { require: 'conformant' },
    'it is non-conformant (--require)',
    failing,
  ],
  ['--require, but it is partial', { require: 'conformant' }, 'it is partial (--require)', partial],
  [
    '--require, and it is silent on that',
    { require: 'conformant' },
    'it is partial (--require)',
    silent,
  ],
  ['16 operations', { requireOperations: 16 }, null],
  ['17 operations', { requireOperations: 17 }, '16 operations were judged (--require-operations)'],
  ['operations by name', { requireOperations: ['jobs.create'] }, null],
  [
    'one that is not served',
    { requireOperations: ['jobs.create', 'vision.analyze'] },
    'vision.analyze not judged (--require-operations)',
  ],
  ['--base-url', { baseUrl: 'https://example.com' }, null],
  [
    'another --base-url',
    { baseUrl: 'https://example.com/v2' },
    'it is for https://example.com (--base-url)',
  ],
  ['--max-age', { maxAge: 31 }, null],
  [
    'a --max-age that is over',
    { maxAge: 30 },
    'the run started at 2026-03-01T12:00:00.000Z (--max-age)',
  ],
])('demands: %s', (_, demands, unmet, of = certificate) => {
  const { lines, result } = look(of, demands)
  expect(result.problems).toEqual([])
  if (unmet === null)
    expect(result).toMatchObject({ outcome: 'accepted', accepted: true, unmet: [] })
  else {
    expect(result).toMatchObject({ outcome: 'insufficient', accepted: false })
    expect(result.unmet).toContain(unmet)
    expect(lines.at(-1)).toMatch(/^exit 1: valid, but not accepted: /)
  }
})

test('what is not valid says so last, with what differs', () => {
  const { lines, result } = look(certificate.replace('"payload": "', '"payload": "A'))
  expect(lines).toEqual([
    expect.stringMatching(/^exit 1: not valid: the signed payload was altered/),
  ])
  expect(result).toMatchObject({ outcome: 'invalid', differs: 'payload', statement: null })
  expect(look(`\uFEFF${certificate}`).lines).toContainEqual(
    expect.stringMatching(/^envelope: its bytes differ .*the signed payload is intact$/),
  )
})
