import { verify } from 'node:crypto'
import { dsse } from '@sigstore/core'
import { expect, test } from 'vitest'
import { keyId } from '../../certificate/certificate-file.ts'
import type { Statement } from '../../certificate/statement-schema.ts'
import {
  suiteDigest,
  isPublished,
  ownVersion,
  suiteFacts,
  type SuiteVersion,
} from '../../certificate/suite-facts.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { absentReason } from '../../harness/report/reason.ts'
import { failed, notApplicable, report, result } from '../gates/results.ts'
import { conformant, issued, pair, suiteOf } from './issued.ts'
import {
  readFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { catalogue } from '../../catalogue/catalogue.ts'
import { signer, wholeReport } from './signed.ts'

const statementIn = (bytes: Buffer) => {
  const { payload } = JSON.parse(bytes.toString()) as { payload: string }
  return JSON.parse(Buffer.from(payload, 'base64').toString()) as Statement
}

const partialOf = (...of: Parameters<typeof issued>) =>
  statementIn(issued(...of).certificate()).predicate.partial

test('an independent DSSE implementation accepts the signature', () => {
  const envelope = JSON.parse(issued().certificate().toString())
  expect(envelope.payloadType).toBe('application/vnd.in-toto+json')
  expect(Object.keys(envelope)).toEqual(['payloadType', 'payload', 'signatures'])
  const signed = dsse.preAuthEncoding(envelope.payloadType, Buffer.from(envelope.payload, 'base64'))
  const [{ sig, keyid }] = envelope.signatures
  expect(verify(null, signed, pair.publicKey, Buffer.from(sig, 'base64'))).toBe(true)
  expect(keyid).toBe(keyId(pair.publicKey))
})

test('the statement is in-toto v1 and says all that the report says', () => {
  const { subject, predicate, _type } = statementIn(issued().certificate())
  expect(_type).toBe('https://in-toto.io/Statement/v1')
  expect(subject[0]).toEqual({
    name: 'Example',
    uri: 'https://example.com',
    digest: { sha256: 'c'.repeat(64) },
  })
  expect(predicate).toMatchObject({
    verdict: 'conformant',
    summary: { must: { passed: 2, failed: 0, notExercised: 0, notApplicable: 2 } },
    spec: { version: '1.0', digest: { sha256: 'a'.repeat(64) } },
    requirements: { count: 5, digest: { sha256: 'b'.repeat(64) } },
    notApplicable: [
      { id: 'pdf.parse/200-text', reason: 'declared not served' },
      {
        id: 'completion.create/500-model-overload',
        reason: 'declared unreachable: no staging switch',
        unreachable: true,
      },
    ],
    partial: [],
    issuedAt: '2026-03-02T08:00:00.000Z',
    expiresAt: '2026-08-28T12:00:00.000Z',
  })
  expect(predicate.coverage[1]).toMatchObject({ operation: 'files.list', passed: 1, cases: 4 })
})

const whole = result('a.b/1')
const familyOnly = failed('a.b/1', { familyOnly: true })
familyOnly.outcome = 'passed'
const unserved = notApplicable('chat.create/2xx-accepted', absentReason('not-served'))
const answered = (word: string) =>
  report([whole, unserved], { notServed: [{ operation: 'chat.create', answered: word }] })

type Run = Parameters<typeof report>[1]

const partials: [string, of: Report | Run][] = [
  ['the verdict is non-conformant', report([failed('a.b/1')])],
  ['the run was interrupted', { interrupted: true }],
  ['--only chose', { only: ['a.*'] }],
  ['--skip left out', { skip: ['c.*'] }],
  ['--read-only', { readOnly: true }],
  ['--baseline', { baseline: { file: 'b', expected: [], stale: [], notExercised: [] } }],
  ['--insecure', { insecure: true }],
  ['--runs was 24, fewer than 25', { runs: 24 }],
  ['credentialProbes: few', { credentialProbes: 'few' }],
  ['only --tpe family makes it conformant', report([familyOnly], { tpe: 'family' })],
  ['the verdict is non-conformant by exact names', report([familyOnly], { tpe: 'family' })],
  ['chat.create is declared not served, and no request was sent', report([whole, unserved])],
  ['chat.create is declared not served, but answered: 401', answered('401')],
  ['but answered: no answer', answered('no answer')],
  ['began after it was signed', { startedAt: '2026-03-02T08:00:00.001Z' }],
  ['more than 7 days before', { startedAt: '2026-02-23T07:59:59.999Z' }],
]

test.each(partials)('refused unless --partial, and then stated: %s', (reason, of = {}) => {
  const made = 'requirements' in of ? of : report([whole], of)
  expect(() => issued(made).certificate()).toThrow(reason)
  expect(partialOf(made, { partial: true }).join()).toContain(reason)
})

test('what contradicts itself is refused even with --partial', () => {
  const changed = { ...structuredClone(report([failed('a.b/1')])), verdict: 'conformant' as const }
  expect(() => issued(changed, { partial: true }).certificate()).toThrow(
    /verdict is conformant, but/,
  )
})

test('what is no valid report is refused with the place', () => {
  const strange = { ...conformant, stars: 5 } as Report
  expect(() => issued(strange).certificate()).toThrow(
    /report\.json: is not a valid report: stars is not a known member/,
  )
  expect(() =>
    issued({ some: 'json', suite: {}, requirements: [] } as never).certificate(),
  ).toThrow(/is not a report/)
})

test.each(['404', '405', '410', '501'])(
  'an operation declared not served may answer %s',
  (status) => {
    expect(partialOf(answered(status))).toEqual([])
  },
)

test('what was judged on the last day, and in family mode with exact names, is whole', () => {
  for (const run of [{ startedAt: '2026-02-23T08:00:00.000Z' }, { tpe: 'family' as const }])
    expect(partialOf(report([whole], run))).toEqual([])
})

test('the report of another version, of other requirements or another text, makes a partial certificate', () => {
  const suite = suiteOf(conformant)
  const digest = `sha256:${'e'.repeat(64)}`
  for (const [change, reason] of [
    [{ version: '0.2.0' }, /version 0.1.0 of the suite judged, and 0.2.0 signs/],
    [
      { requirementsDigest: digest },
      /its requirements are those of no version of the suite that 0\.1\.0 knows/,
    ],
    [{ specDigest: digest }, /it was made for another text of the interface/],
  ] as const) {
    const sign = (partial: boolean) =>
      issued(conformant, { partial, suite: { ...suite, ...change } }).certificate()
    expect(() => sign(false)).toThrow(reason)
    expect(statementIn(sign(true)).predicate.partial).toEqual([expect.stringMatching(reason)])
  }
})

test('a report that does not hold each requirement exactly once, as it is, is refused even with --partial', () => {
  const [first, ...others] = conformant.requirements
  const suite = suiteOf(conformant)
  const refused = (requirements: typeof others) => () =>
    issued(
      { ...report(requirements, conformant.run), suite: conformant.suite },
      { partial: true, suite },
    ).certificate()
  expect(refused(others)).toThrow(/jobs.create\/202-created is missing/)
  expect(refused([first!, first!, ...others])).toThrow(/jobs.create\/202-created is in it twice/)
  expect(refused([first!, ...others, result('x.y/1')])).toThrow(/x\.y\/1 is not a requirement/)
  expect(refused([{ ...first!, level: 'should' }, ...others])).toThrow(
    /is a must of jobs\.create, but the report has it as a/,
  )
})

test('validity counts from the run, and 400 days are the most', () => {
  const ends = (validDays: number) =>
    statementIn(issued(conformant, { validDays }).certificate()).predicate.expiresAt
  expect(ends(400)).toBe('2027-04-05T12:00:00.000Z')
  expect(() => ends(401)).toThrow(/--valid-days 401: 400 at most/)
  const old = report([whole], { startedAt: '2026-01-01T00:00:00.000Z' })
  expect(() => issued(old, { partial: true, validDays: 30 }).certificate()).toThrow(
    /it would have expired already/,
  )
  const future = report([whole], { startedAt: '2036-01-01T00:00:00.000Z' })
  const { expiresAt } = statementIn(
    issued(future, { partial: true, validDays: 10 }).certificate(),
  ).predicate
  expect(expiresAt).toBe('2026-03-12T08:00:00.000Z')
})

test('the digest of the suite is that of its files', () => {
  expect(suiteDigest().sha256).toMatch(/^[0-9a-f]{64}$/)
  expect(suiteDigest()).toEqual(suiteDigest())
})

const file = new URL('../../certificate/published-versions.json', import.meta.url)
const published = JSON.parse(readFileSync(file, 'utf8')) as SuiteVersion[]

test('each version stands there once, and whole', () => {
  expect(new Set(published.map(({ version }) => version)).size).toBe(published.length)
  for (const entry of published)
    expect(entry).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      specVersion: expect.stringMatching(/^\d+\.\d+$/),
      specDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      requirementsDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      requirements: expect.any(Number),
    })
})

test('requirements that were published under a version do not change under it: raise the version', () => {
  const own = ownVersion()
  expect(published.filter(({ version }) => version === own.version)).toEqual(
    published.some(({ version }) => version === own.version) ? [own] : [],
  )
})

test('a version knows its own requirements before it is published, and those of the versions before it', () => {
  const facts = suiteFacts()
  expect(facts.published).toEqual(published)
  for (const version of [ownVersion(), ...published]) expect(isPublished(version, facts)).toBe(true)
})

test('a report of the whole catalogue is signed, and what was written verifies', async () => {
  const { file, sign, verify } = signer()
  await sign({})
  const { result } = verify('c.json', { publicKey: file('k.pub.pem'), report: file('report.json') })
  expect(result).toMatchObject({
    accepted: true,
    heldAgainst: ['report'],
    verdict: 'conformant',
    partial: [],
  })
  expect(result.statement!.predicate.requirements.count).toBe(catalogue.length)
})

test('nothing is written if signing is refused', async () => {
  const { file, put, sign } = signer()
  const whole = wholeReport()
  put('cut.json', { ...report(whole.requirements.slice(1), whole.run), suite: whole.suite })
  await expect(sign({ report: file('cut.json'), out: file('no.json') })).rejects.toThrow(
    /is missing/,
  )
  expect(existsSync(file('no.json'))).toBe(false)
  await expect(sign({ report: undefined })).rejects.toThrow(/give the report to sign/)
})

test('no output overwrites an input or a key, by whatever name or link, nor another output', async () => {
  const { file, sign, bundle } = signer()
  symlinkSync(file('report.json'), file('soft.json'))
  linkSync(file('run.har'), file('hard.har'))
  const kept = readFileSync(file('report.json'))
  for (const name of ['report.json', 'k.pem', 'soft.json'])
    await expect(sign({ out: file(name) })).rejects.toThrow(/^--out .* would overwrite /)
  await expect(sign({ out: file('k.pub.pem') })).rejects.toThrow(
    /holds a key, which is never overwritten/,
  )
  await expect(bundle({ bundle: file('hard.har') })).rejects.toThrow(
    /^--bundle .*hard\.har: would overwrite .*run\.har/,
  )
  await expect(bundle({ out: file('b.zip') })).rejects.toThrow(
    /^--bundle .*b\.zip: is the same file as --out .*b\.zip/,
  )
  expect(readFileSync(file('report.json'))).toEqual(kept)
})

test('folders are made, what cannot be written is named, and nothing half-written stays behind', async () => {
  const { file, sign } = signer()
  await sign({ out: file('new/folder/c.json') })
  expect(readdirSync(file('new/folder'))).toEqual(['c.json'])
  mkdirSync(file('taken'))
  await expect(sign({ out: file('taken') })).rejects.toThrow(/^--out .*taken: is a folder$/)
  writeFileSync(file('plain'), '')
  await expect(sign({ out: file('plain/c.json') })).rejects.toThrow(/cannot be written \(E/)
  expect(readdirSync(file('.')).filter((name) => /part/.test(name))).toEqual([])
})
