import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { encodeEnvelope, signEnvelope } from '../../cli/certificate/envelope.ts'
import { keyId, pemOf } from '../../cli/certificate/keys.ts'
import { sha256 } from '../../cli/certificate/sign.ts'
import { type Demands, verifyFile } from '../../cli/certificate/verify.ts'
import { folder } from '../cli/conform.ts'
import { failed } from '../gates/results.ts'
import { bytesOf, first, issue, other, pair, statementIn, verified, wholeReport } from './issued.ts'

const report = wholeReport()
/** All but vision.analyze. */
const judged = operations.length - 1
const certificate = issue(report)
const envelope = () => JSON.parse(certificate)
const write = (value: unknown) => JSON.stringify(value, null, 2)
const urlSafe = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/** The certificate with a changed statement, signed by the holder of the key. */
function resigned(change: (predicate: any) => void): string {
  const statement = statementIn(certificate)
  change(statement.predicate)
  return sealed(statement)
}

const [signature] = envelope().signatures
const changed = (members: object) => write({ ...envelope(), ...members })

test('of a certificate as it was written nothing differs', () => {
  expect(verified(certificate)).toMatchObject({ problems: [], differs: null })
})

test.each<[string, string]>([
  ['CRLF', certificate.replaceAll('\n', '\r\n')],
  ['a byte order mark', `\uFEFF${certificate}`],
  ['no white space', JSON.stringify(envelope())],
  ['members in another order', write(Object.fromEntries(Object.entries(envelope()).reverse()))],
  [
    'URL-safe base64 without padding',
    changed({
      payload: urlSafe(envelope().payload),
      signatures: [{ ...signature, sig: urlSafe(signature.sig) }],
    }),
  ],
  ['base64 in lines', changed({ payload: envelope().payload.replaceAll(/.{76}/g, '$&\n') })],
  ['no keyid', changed({ signatures: [{ sig: signature.sig }] })],
  ['a wrong keyid', changed({ signatures: [{ keyid: 'x', sig: signature.sig }] })],
  ['a foreign signature before it', changed({ signatures: [{ sig: 'AAAA' }, signature] })],
  ['members that DSSE does not know', changed({ more: 1 })],
])('the same certificate with %s is valid, and only its envelope differs', (_, text) => {
  const found = verified(text, { publicKey: pair.publicKey, report: reportFile(report) })
  expect(found).toMatchObject({ problems: [], signed: { keyId: own }, differs: 'envelope' })
})

const own = keyId(pair.publicKey)
const reportFile = (of: unknown) => ({ path: 'r.json', bytes: bytesOf(of) })

const flipped = (base64: string) => {
  const bytes = Buffer.from(base64, 'base64')
  bytes[40]! ^= 1
  return bytes.toString('base64')
}

/** The statement, signed with that key. */
const sealed = (statement: unknown, { privateKey } = pair) =>
  encodeEnvelope(signEnvelope(envelope().payloadType, bytesOf(statement), privateKey))

const altered = 'the signed payload was altered'
test.each<[string, string, string]>([
  ['the payload', changed({ payload: flipped(envelope().payload) }), altered],
  [
    'the payload, and the signature of somebody else',
    sealed(statementIn(certificate), other),
    altered,
  ],
  [
    'the signature',
    changed({ signatures: [{ sig: flipped(signature.sig) }] }),
    `${altered}, or its signature`,
  ],
  ['the payload type', changed({ payloadType: 'text/plain' }), 'its payloadType is text/plain'],
  ['base64', changed({ payload: '%' }), 'its payload is not base64'],
  ['the signatures', changed({ signatures: [] }), 'it has no signature'],
  ['everything', 'PK', 'the file is not a JSON object'],
])('a certificate is refused if this was altered: %s', (_, text, problem) => {
  const { problems, signed } = verified(text)
  expect(problems).toEqual([expect.stringContaining(problem)])
  expect(signed).toBeUndefined()
})

test('a certificate that another key signed than the one given is refused', () => {
  expect(verified(certificate, { publicKey: other.publicKey }).problems).toEqual([
    `it is signed by ${own}, not by the key given (${keyId(other.publicKey)})`,
  ])
})

test('a second signer of the same payload is accepted by its key', () => {
  const signatures = [pair, other].map(
    (by) => JSON.parse(sealed(statementIn(certificate), by)).signatures[0],
  )
  const found = verified(changed({ signatures }), { publicKey: other.publicKey })
  expect(found).toMatchObject({ problems: [], signed: { keyId: keyId(other.publicKey) } })
})

test.each([
  ['2026-03-02T08:00:00.000Z', ''],
  ['2026-03-02T07:59:59.999Z', 'it was signed in the future'],
  ['2026-08-28T11:59:59.999Z', ''],
  ['2026-08-28T12:00:00.000Z', 'it expired at 2026-08-28'],
])('at %s a certificate has the problem "%s"', (now, problem) => {
  const { problems } = verified(certificate, { now: new Date(now) })
  expect(problems).toEqual(problem === '' ? [] : [expect.stringContaining(problem)])
})

test('a certificate cannot claim to be valid for more than 400 days', () => {
  const forEver = resigned((claims) => (claims.expiresAt = '2027-04-05T12:00:00.001Z'))
  expect(verified(forEver).problems.join()).toContain(
    'it is valid for more than 400 days after its run',
  )
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
    (claims) => (claims.operations.find(({ state }: any) => state !== 'judged').state = 'judged'),
    report,
    /^its operations/,
  ],
  ['a condition', (claims) => (claims.run.runs = 100), report, /^its run does not follow/],
  ['an address', (claims) => (claims.target.baseUrl = 'https://x.example'), report, /^its target/],
])('verify --report finds a certificate with a false %s', (_, lie, of, problem) => {
  const { problems } = verified(resigned(lie), { report: reportFile(of) })
  expect(problems).toEqual([expect.stringMatching(problem)])
})

test('a reason for being partial cannot be left out, nor a requirement of the report', () => {
  const quick = wholeReport({ depth: 'quick' })
  const statement = statementIn(issue(quick, { partial: true }))
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

test('verify prints who signed it, the verdict, what was judged, what was not, how and when, before all else', () => {
  const { lines, result } = look(certificate)
  const excused = statementIn(certificate).predicate.excused.length
  expect(lines.slice(0, 4)).toEqual([
    `signed by an unknown key ${own}: intact, signer unknown`,
    expect.stringMatching(
      new RegExp(
        `^Conformant: \\d+ required checks passed, ${excused} excused \\(unreachable\\), 1 operation not served$`,
      ),
    ),
    expect.stringContaining(
      `operations judged: ${judged} of ${judged + 1} (pdf.parse, jobs.create, `,
    ),
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

test('verify names the mode beside the verdict', () => {
  const { lines } = look(issue(wholeReport({ depth: 'quick' }), { partial: true }))
  expect(lines[1]).toContain('Conformant (quick, partial): ')
  expect(lines[2]).toMatch(/^partial: /)
})

test('verify prints no control character of the signer', () => {
  const name = 'Ex\u001b[2Jample\nsigned by the key'
  const lines = look(resigned((claims) => (claims.target.name = name))).lines.join('')
  expect(lines).not.toMatch(/[\u001b\n]/)
})

const failing = issue(wholeReport({}, first(failed)), { partial: true })
const partial = issue(wholeReport({ insecure: true }), { partial: true })
const silent = resigned((claims) => (claims.run.insecure = true))

const url = 'https://example.com'
test.each<[Partial<Demands>, string, of?: string]>([
  [{ publicKey: 'k.pem' }, ''],
  [{ report: 'r.json' }, ''],
  [{ keyId: [keyId(other.publicKey), own] }, ''],
  [{ keyId: [keyId(other.publicKey)] }, `${own} signed it (--key-id)`],
  [{ require: 'conformant' }, ''],
  [{ require: 'conformant' }, 'it is non-conformant (--require)', failing],
  [{ require: 'conformant' }, 'it is partial (--require)', partial],
  [{ require: 'conformant' }, 'it is partial (--require)', silent],
  [{ requireOperations: judged }, ''],
  [{ requireOperations: judged + 1 }, `${judged} operations were judged (--require-operations)`],
  [{ requireOperations: ['jobs.create'] }, ''],
  [
    { requireOperations: ['jobs.create', 'vision.analyze'] },
    'vision.analyze not judged (--require-operations)',
  ],
  [{ baseUrl: url }, ''],
  [{ baseUrl: `${url}/v2` }, `it is for ${url} (--base-url)`],
  [{ maxAge: 31 }, ''],
  [{ maxAge: 30 }, 'the run started at 2026-03-01T12:00:00.000Z (--max-age)'],
])('of the demands %j this is not met: "%s"', (demands, unmet, of = certificate) => {
  const { lines, result } = look(of, demands)
  const isMet = unmet === ''
  const outcome = isMet ? 'accepted' : 'insufficient'
  expect(result).toMatchObject({ problems: [], outcome, accepted: isMet })
  if (isMet) return expect(result.unmet).toEqual([])
  expect(result.unmet).toContain(unmet)
  expect(lines.at(-1)).toMatch(/^exit 1: valid, but not accepted: /)
})

test('verify says of an invalid certificate last why, with what differs', () => {
  const { lines, result } = look(certificate.replace('"payload": "', '"payload": "A'))
  expect(lines).toEqual([
    expect.stringMatching(/^exit 1: not valid: the signed payload was altered/),
  ])
  expect(result).toMatchObject({ outcome: 'invalid', differs: 'payload', statement: null })
  expect(look(`\uFEFF${certificate}`).lines).toContainEqual(
    expect.stringMatching(/^envelope: its bytes differ .*the signed payload is intact$/),
  )
})
