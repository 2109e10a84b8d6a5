import canonicalize from 'canonicalize'
import { expect, test, beforeAll } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { describe } from '../../certificate/describe.ts'
import { encode, keyId, signEnvelope } from '../../certificate/certificate-file.ts'
import type { Statement } from '../../certificate/statement-schema.ts'
import { report as reportOf, result } from '../gates/results.ts'
import { conformant, issued, issuedAt, other, pair, suiteOf, verified } from './issued.ts'
import { verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { bundleFromJSON } from '@sigstore/bundle'
import { dsse } from '@sigstore/core'
import { toSignedEntity, Verifier } from '@sigstore/verify'
import { readPublicKey } from '../../certificate/keys.ts'
import { signer } from './signed.ts'

const { report, certificate } = issued()
const bytes = certificate()
const problems = (file: Uint8Array, change = {}) => verified(file, change).problems

/** The certificate with its statement changed, signed again by the holder of the key. */
function resigned(
  change: (statement: Statement) => void,
  write = (s: Statement): string => canonicalize(s)!,
): Buffer {
  const { payloadType, payload } = JSON.parse(bytes.toString())
  const statement = JSON.parse(Buffer.from(payload, 'base64').toString()) as Statement
  change(statement)
  return encode(signEnvelope(payloadType, Buffer.from(write(statement)), pair.privateKey))
}

test('a certificate as it was written is valid, with its key, and with its report', () => {
  expect(problems(bytes)).toEqual([])
  expect(problems(bytes, { publicKey: pair.publicKey, evidence: { report } })).toEqual([])
})

test('the first line says that nothing but the report was looked at, the next whose key it is, the verdict, the operations, and what is not covered', () => {
  const lines = describe(verified(bytes), [], {}).lines
  expect(lines.slice(0, 10)).toEqual([
    'the exchanges were not looked at',
    `Valid: conformant, 2 of ${operations.length} operations judged, signed by an unknown key ${keyId(pair.publicKey)}`,
    `verdict by exact names: conformant, 2 of ${operations.length} operations judged`,
    'target: https://example.com, named "Example", held to the interface in version 1.0',
    'operations judged: 2 (jobs.create, files.list)',
    'operations declared not served, so not judged: 1 (pdf.parse (answered 404))',
    expect.stringContaining(
      `operations not tested at all: ${operations.length - 3} (jobs.retrieve, completion.create, `,
    ),
    'not tested: 0 of 5 requirements',
    'not applicable: 2 of 5 requirements, 1 of them declared unreachable',
    '  1: declared not served (pdf.parse/200-text)',
  ])
  expect(lines).toContain(
    'mode: exact names; runs: 25 for each generated refusal; seed 421; 40 requests',
  )
  expect(lines.join('\n')).toMatch(/This proves that[^]*It does not prove:/)
  const id = keyId(pair.publicKey)
  const known = describe(verified(bytes, { publicKey: pair.publicKey }), [], {
    publicKey: { path: 'k.pem', id },
  }).lines
  expect(known[1]).toMatch(`, signed by the key in k.pem, ${id}`)
  expect(describe(verified(bytes), ['it is late'], { keyIds: [id] }).lines.slice(1, 3)).toEqual([
    `Valid, but not accepted: conformant, 2 of ${operations.length} operations judged, signed by the key of --key-id ${id}`,
    'not accepted: it is late',
  ])
})

test('every byte counts: flipped, dropped or given company, none goes unseen', () => {
  const unseen: string[] = []
  const look = (what: string, changed: Uint8Array) => {
    if (problems(changed).length === 0) unseen.push(what)
  }
  // Every fifth byte, for each takes a verification: at all places of a line of base64, and of each member.
  for (let at = 0; at < bytes.length; at += 5) {
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at + 1)]
    // The kinds of change in turn.
    const changes = [1, 32, 128].map((bit) => Buffer.of(bytes[at]! ^ bit))
    changes.push(
      Buffer.alloc(0),
      ...[' ', 'A'].map((extra) => Buffer.from([extra.charCodeAt(0), bytes[at]!])),
    )
    const change = changes[at % changes.length]!
    look(`${change.toString('hex')} at ${at}`, Buffer.concat([before, change, after]))
  }
  look('a line more', Buffer.concat([bytes, Buffer.from('\n')]))
  look('a BOM', Buffer.concat([Buffer.from('\uFEFF'), bytes]))
  look('nothing', Buffer.alloc(0))
  expect(unseen).toEqual([])
})

test('another key than the signer’s is told by its id', () => {
  expect(problems(bytes, { publicKey: other.publicKey })).toEqual([
    `it is not signed by the key given, ${keyId(other.publicKey)}, but by ${keyId(pair.publicKey)}`,
  ])
})

test('one who signs with a key of his own over a foreign one inside is found out', () => {
  const { payloadType, payload } = JSON.parse(bytes.toString())
  const forged = encode(signEnvelope(payloadType, Buffer.from(payload, 'base64'), other.privateKey))
  const named = `its signature 1 does not hold: it names ${keyId(other.publicKey)}, but the key there is`
  expect(problems(forged)[0]).toContain(named)
  expect(problems(forged, { publicKey: other.publicKey })[0]).toContain(named)
  const envelope = JSON.parse(forged.toString())
  envelope.signatures[0].keyid = keyId(pair.publicKey)
  expect(problems(encode(envelope))).toEqual([
    `its signature 1 does not hold: it is not one by ${keyId(pair.publicKey)}`,
  ])
})

test('a keyid that names another key is refused', () => {
  const envelope = JSON.parse(bytes.toString())
  envelope.signatures[0].keyid = keyId(other.publicKey)
  expect(problems(encode(envelope))[0]).toContain(`it names ${keyId(other.publicKey)}`)
})

test('it stands from its issue to its end', () => {
  expect(problems(bytes, { now: issuedAt })).toEqual([])
  expect(problems(bytes, { now: new Date('2026-03-02T07:59:59Z') })[0]).toMatch(/^it is dated/)
  expect(problems(bytes, { now: new Date('2026-08-28T11:59:59Z') })).toEqual([])
  expect(problems(bytes, { now: new Date('2026-08-28T12:00:00Z') })).toEqual([
    'it expired at 2026-08-28T12:00:00.000Z',
  ])
})

/** What its signer wrote at a place, added to a list with `+`, and what is wrong then. */
test.each<[at: string, value: unknown, problem: string]>([
  ['subject.0.digest.sha256', '0'.repeat(64), 'the digests of the target differ'],
  ['predicate.verdict', 'passing', 'verdict is passing, but'],
  ['predicate.verdict', 'perfect', '/predicate/verdict'],
  [
    'predicate.verdict,predicate.verdicts.exact',
    'passing',
    'not say that it is partial: the verdict',
  ],
  ['predicate.verdicts.family', 'passing', 'conformant by exact names only'],
  ['predicate.summary.must.failed', 1, 'with must requirements failed'],
  ['predicate.summary.must.notExercised', 1, 'with must requirements not exercised'],
  ['predicate.run.runs', 24, 'not say that it is partial: --runs was 24'],
  ['predicate.run.credentialProbes', 'few', 'not say that it is partial: few wrong keys'],
  [
    'predicate.run.startedAt',
    '2026-02-20T00:00:00.000Z',
    'not say that it is partial: the run began more',
  ],
  ['predicate.operations.notServed.0.answered', '200', 'but answered: 200'],
  ['predicate.operations.judged.+', 'vision.analyze', 'not name each operation once'],
  ['predicate.operations.judged.0', 'chat.create', 'chat.create is not where'],
  ['predicate.expiresAt', '2027-05-01T00:00:00.000Z', 'longer than a certificate may be'],
  ['predicate.expiresAt', '2026-03-02T08:00:00.000Z', 'ends before it begins'],
  ['predicate.issuedAt', '2026-03-02T07:59:60.000Z', '/predicate/issuedAt'],
  ['predicate.coverage.0.passed', 7, 'coverage and summary differ'],
  ['predicate.requirements.count', 7, 'does not count all requirements'],
  ['predicate.failed.+', 'a.b/1', 'the failed requirements'],
  ['predicate.notExercised.+', { id: 'a.b/1', reason: '' }, 'those not exercised'],
  ['predicate.notApplicable.+', { id: 'a.b/1', reason: '' }, 'those not applicable'],
  ['predicate.stars', 5, 'not a certificate: /predicate'],
  ['predicate.publicKey', 'none', 'no Ed25519 public key'],
])('a statement that its signer made untrue is refused: %s %j', (at, value, problem) => {
  const untrue = resigned((statement) => {
    for (const place of at.split(',')) {
      const names = place.split('.')
      const holder = names.slice(0, -1).reduce((of: any, name) => of[name], statement)
      holder[names.at(-1) === '+' ? holder.length : names.at(-1)!] = value
    }
  })
  expect(problems(untrue).join('\n')).toContain(problem)
})

test('the statement itself stands in canonical form', () => {
  const spaced = resigned(
    () => {},
    (statement) => JSON.stringify(statement, null, 1),
  )
  expect(problems(spaced)).toEqual(['its statement is not in canonical form'])
})

test('another report, or claims that do not follow from it, are named', () => {
  const longer = { name: 'r.json', bytes: Buffer.concat([report.bytes, Buffer.from(' ')]) }
  expect(problems(bytes, { evidence: { report: longer } })).toEqual([
    'r.json is not the report it was issued for',
  ])
  const changed = resigned((statement) => void (statement.predicate.run.seed = 5))
  const held = { evidence: { report: { ...report, name: 'r.json' } } }
  expect(problems(changed, held)).toEqual(['its run does not follow from r.json'])
})

test('a partial certificate is valid, and says so beside the verdict', () => {
  const of = reportOf([result('a.b/1')], { readOnly: true })
  const found = verified(issued(of, { partial: true }).certificate(), { suite: suiteOf(of) })
  expect(found.problems).toEqual([])
  expect(describe(found, [], {}).lines.slice(2, 5)).toEqual([
    `verdict by exact names: passing, partial, 0 of ${operations.length} operations judged`,
    'partial: the verdict is passing',
    'partial: the run was --read-only',
  ])
})

test('no control character of the signer’s reaches the terminal', () => {
  const name = 'Ex\u001b[2Jample\nsigned by the key'
  const strange = issued({ ...conformant, target: { ...conformant.target, name } }).certificate()
  expect(describe(verified(strange), [], {}).lines.join('')).not.toMatch(/[\u001b\n]/)
})

test.each<[object, string[]]>([
  [{}, []],
  [{ proxy: 'proxy.example:3128' }, ['between: the proxy proxy.example:3128']],
  [
    { retried: 2 },
    [
      'between: what cut off or reset 2 answers, or gave a 502 or 504 in their place; each was asked for again',
    ],
  ],
  [{ ca: true }, ['between: an authority of the target file, which was trusted (tls.ca)']],
  [
    { insecure: true },
    ['between: whoever answered: TLS certificates were not verified (--insecure)'],
  ],
])('what stood between is told, and cannot be left out: %j', (run, lines) => {
  const of = { ...conformant, run: { ...conformant.run, ...run } }
  const { report, certificate } = issued(of, { partial: true })
  const signed = certificate()
  expect(
    describe(verified(signed), [], {}).lines.filter((line) => line.startsWith('between: ')),
  ).toEqual(lines)
  const { payloadType, payload } = JSON.parse(signed.toString())
  const statement = JSON.parse(Buffer.from(payload, 'base64').toString()) as Statement
  Object.assign(statement.predicate.run, { proxy: null, ca: false, insecure: false, retried: 0 })
  statement.predicate.partial = []
  const lie = encode(
    signEnvelope(payloadType, Buffer.from(canonicalize(statement)!), pair.privateKey),
  )
  expect(verified(lie, { evidence: { report } }).problems.length > 0).toBe(lines.length > 0)
})

/** Certificates as others read them: Sigstore's implementation of DSSE, and its verifier of in-toto attestations. */

const vendor = signer()
const certifier = signer()
let envelope: any

beforeAll(async () => {
  await vendor.sign({})
  await certifier.sign({ add: vendor.file('c.json'), report: vendor.file('report.json') })
  envelope = JSON.parse(readFileSync(certifier.file('c.json'), 'utf8'))
})

/** Sigstore's verifier, which trusts these two keys, asks no log and no clock, and finds a key by the id in the bundle. */
function verifier() {
  const keys = Object.fromEntries(
    [vendor, certifier].map(({ id, file }) => [
      id,
      { publicKey: readPublicKey(file('k.pub.pem')), validFor: () => true },
    ]),
  )
  const material = {
    certificateAuthorities: [],
    timestampAuthorities: [],
    tlogs: [],
    ctlogs: [],
    publicKey: (hint: string) => keys[hint] as never,
  }
  return new Verifier(material, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 })
}

/** The envelope with one of its signatures, as Sigstore's bundle carries it. */
function attestation(index: number, change: (envelope: any) => void = () => undefined) {
  const { keyid, sig } = envelope.signatures[index]
  const dsseEnvelope = { ...envelope, signatures: [{ keyid, sig }] }
  change(dsseEnvelope)
  return toSignedEntity(
    bundleFromJSON({
      mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
      verificationMaterial: {
        publicKey: { hint: keyid },
        tlogEntries: [],
        timestampVerificationData: null,
      },
      dsseEnvelope,
    }),
  )
}

test('an independent DSSE implementation signs the same bytes', () => {
  expect(Object.keys(envelope)).toEqual(['payloadType', 'payload', 'signatures'])
  const signed = dsse.preAuthEncoding(envelope.payloadType, Buffer.from(envelope.payload, 'base64'))
  for (const [index, { file }] of [vendor, certifier].entries()) {
    const sig = Buffer.from(envelope.signatures[index].sig, 'base64')
    expect(verify(null, signed, readPublicKey(file('k.pub.pem')), sig)).toBe(true)
  }
})

test('an independent verifier of attestations accepts each signature, and none over anything else', () => {
  for (const index of [0, 1]) {
    expect(() => verifier().verify(attestation(index))).not.toThrow()
    const refused = (change: (envelope: any) => void) =>
      expect(() => verifier().verify(attestation(index, change))).toThrow(
        /signature verification failed/,
      )
    refused((changed) => (changed.payloadType = 'application/json'))
    refused((changed) => (changed.payload = Buffer.from('{}').toString('base64')))
    refused((changed) => (changed.signatures[0].sig = envelope.signatures[1 - index].sig))
  }
})

test('the statement keeps what in-toto asks of a Statement v1', () => {
  expect(envelope.payloadType).toBe('application/vnd.in-toto+json')
  const statement = JSON.parse(Buffer.from(envelope.payload, 'base64').toString())
  expect(Object.keys(statement).sort()).toEqual(['_type', 'predicate', 'predicateType', 'subject'])
  expect(statement._type).toBe('https://in-toto.io/Statement/v1')
  expect(new URL(statement.predicateType).protocol).toBe('https:')
  for (const { name, digest } of statement.subject) {
    expect(name).not.toBe('')
    expect(digest).toEqual({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
  }
})
