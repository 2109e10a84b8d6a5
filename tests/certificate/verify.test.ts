import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import canonicalize from 'canonicalize'
import { expect, test } from 'vitest'
import { describe } from '../../certificate/describe.ts'
import { encode, keyId, seal } from '../../certificate/dsse.ts'
import type { Statement } from '../../certificate/statement.ts'
import { verifyCertificate } from '../../certificate/verify-certificate.ts'
import { report, result } from '../gates/results.ts'
import { conformant, issued, issuedAt, pair } from './issued.ts'

const now = new Date('2026-04-01T00:00:00Z')
const { path, certificate } = issued()
const bytes = certificate()
const other = generateKeyPairSync('ed25519')
const problems = (file: Uint8Array, change = {}) => verifyCertificate(file, { now, ...change }).problems

/** The certificate with its statement changed, signed again by the holder of the key. */
function resigned(change: (statement: Statement) => void, write = (s: Statement): string => canonicalize(s)!): Buffer {
  const { payloadType, payload } = JSON.parse(bytes.toString())
  const statement = JSON.parse(Buffer.from(payload, 'base64').toString()) as Statement
  change(statement)
  return encode(seal(payloadType, Buffer.from(write(statement)), pair.privateKey))
}

test('a certificate as it was written is valid, with its key, and with its report', () => {
  expect(problems(bytes)).toEqual([])
  expect(problems(bytes, { publicKey: pair.publicKey, report: { path, bytes: readFileSync(path) } })).toEqual([])
})

test('the first line says whose key it is, the next what is claimed and what is not covered', () => {
  const lines = describe(verifyCertificate(bytes, { now }), {})
  expect(lines[0]).toBe(`signed by an unknown key ${keyId(pair.publicKey)}`)
  expect(lines[1]).toBe('claims: Example (https://example.com) is conformant with the interface in version 1.0')
  expect(lines[2]).toBe('must: 2 passed, 0 failed, 0 not exercised, 2 not applicable')
  expect(lines).toContain('  1 not applicable: declared unreachable: no staging switch')
  expect(lines[4]).toBe('not vouched for: 2 not applicable (1 declared unreachable), 0 not exercised')
  expect(lines.join('\n')).toMatch(/This proves that[^]*It does not prove:/)
  const known = describe(verifyCertificate(bytes, { now, publicKey: pair.publicKey }), { publicKey: 'k.pem' })
  expect(known[0]).toBe(`signed by the key in k.pem, ${keyId(pair.publicKey)}`)
})

test('every byte counts: flipped, dropped, doubled or replaced, none goes unseen', () => {
  const unseen: string[] = []
  const look = (what: string, changed: Uint8Array) => {
    if (problems(changed).length === 0) unseen.push(what)
  }
  for (let at = 0; at < bytes.length; at++) {
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at + 1)]
    for (const bit of [1, 32, 128])
      look(`bit ${bit} at ${at}`, Buffer.concat([before, Buffer.of(bytes[at]! ^ bit), after]))
    look(`dropped at ${at}`, Buffer.concat([before, after]))
    for (const extra of [' ', 'A'])
      look(`inserted at ${at}`, Buffer.concat([before, Buffer.from(extra), bytes.subarray(at)]))
  }
  look('a line more', Buffer.concat([bytes, Buffer.from('\n')]))
  look('a BOM', Buffer.concat([Buffer.from('\uFEFF'), bytes]))
  look('nothing', Buffer.alloc(0))
  expect(unseen).toEqual([])
})

test('another key than the signer’s is told by its id', () => {
  expect(problems(bytes, { publicKey: other.publicKey })).toEqual([
    `it is not signed by the key given, ${keyId(other.publicKey)}; the key inside it is ${keyId(pair.publicKey)}`,
  ])
})

test('one who signs with a key of his own over a foreign one inside is found out', () => {
  const { payloadType, payload } = JSON.parse(bytes.toString())
  const forged = encode(seal(payloadType, Buffer.from(payload, 'base64'), other.privateKey))
  expect(problems(forged)).toEqual(['its signature does not hold'])
  expect(problems(forged, { publicKey: other.publicKey })).toEqual([
    'another key stands in it than the one that signed it',
  ])
})

test('a keyid that names another key is refused', () => {
  const envelope = JSON.parse(bytes.toString())
  envelope.signatures[0].keyid = keyId(other.publicKey)
  expect(problems(encode(envelope))).toEqual(['its keyid is not that of the key that signed it'])
})

test('it stands from its issue to its end', () => {
  expect(problems(bytes, { now: issuedAt })).toEqual([])
  expect(problems(bytes, { now: new Date('2026-03-02T07:59:59Z') })[0]).toMatch(/^it is dated/)
  expect(problems(bytes, { now: new Date('2026-08-29T07:59:59Z') })).toEqual([])
  expect(problems(bytes, { now: new Date('2026-08-29T08:00:00Z') })).toEqual(['it expired at 2026-08-29T08:00:00.000Z'])
})

test.each<[string, (statement: Statement) => void]>([
  ['the digests of the target differ', (s) => void (s.subject[0].digest = { sha256: '0'.repeat(64) })],
  ['verdict is passing, but', (s) => void (s.predicate.verdict = 'passing')],
  ['with must requirements failed', (s) => void (s.predicate.summary.must.failed = 1)],
  ['with must requirements not exercised', (s) => void (s.predicate.summary.must.notExercised = 1)],
  ['passing, but not partial', (s) => void (s.predicate.verdict = s.predicate.verdicts.exact = 'passing')],
  ['coverage and summary differ', (s) => void (s.predicate.coverage[0]!.passed = 7)],
  ['does not count all requirements', (s) => void (s.predicate.requirements.count = 7)],
  ['the failed requirements', (s) => s.predicate.failed.push('a.b/1')],
  ['those not exercised', (s) => s.predicate.notExercised.push({ id: 'a.b/1', reason: '' })],
  ['those not applicable', (s) => s.predicate.notApplicable.pop()],
  ['ends before it begins', (s) => void (s.predicate.expiresAt = s.predicate.issuedAt)],
  ['/predicate/verdict', (s) => void (s.predicate.verdict = 'perfect' as never)],
  ['no certificate: /predicate', (s) => void Object.assign(s.predicate, { stars: 5 })],
  ['no Ed25519 public key', (s) => void (s.predicate.publicKey = 'none')],
])('a statement that its signer made untrue is refused: %s', (problem, change) => {
  expect(problems(resigned(change)).join('\n')).toContain(problem)
})

test('the statement itself stands in canonical form', () => {
  const spaced = resigned(
    () => {},
    (statement) => JSON.stringify(statement, null, 1),
  )
  expect(problems(spaced)).toEqual(['its statement is not in canonical form'])
})

test('another report, or claims that do not follow from it, are named', () => {
  const file = readFileSync(path)
  expect(problems(bytes, { report: { path: 'r.json', bytes: Buffer.concat([file, Buffer.from(' ')]) } })).toEqual([
    'r.json is not the report it was issued for',
  ])
  const changed = resigned((statement) => void (statement.predicate.run.seed = 5))
  expect(problems(changed, { report: { path: 'r.json', bytes: file } })).toEqual([
    'its run does not follow from r.json',
  ])
})

test('a partial certificate is valid, and says first why it is partial', () => {
  const partial = issued(report([result('a.b/1')], { readOnly: true }), { partial: true }).certificate()
  const found = verifyCertificate(partial, { now })
  expect(found.problems).toEqual([])
  expect(describe(found, {}).slice(1, 3)).toEqual([
    'partial: the verdict is passing',
    'partial: the run was --read-only',
  ])
})

test('no control character of the signer’s reaches the terminal', () => {
  const name = 'Ex\u001b[2Jample\nsigned by the key'
  const strange = issued({ ...conformant, target: { ...conformant.target, name } }).certificate()
  expect(describe(verifyCertificate(strange, { now }), {}).join('')).not.toMatch(/[\u001b\n]/)
})
