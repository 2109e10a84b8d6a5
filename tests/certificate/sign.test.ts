import { verify } from 'node:crypto'
import { dsse } from '@sigstore/core'
import { expect, test } from 'vitest'
import { keyId } from '../../certificate/dsse.ts'
import type { Statement } from '../../certificate/statement.ts'
import { suiteDigest } from '../../certificate/suite-digest.ts'
import type { Report } from '../../harness/report/model.ts'
import { failed, report, result } from '../gates/results.ts'
import { conformant, issued, options, pair } from './issued.ts'

const statementIn = (bytes: Buffer) => {
  const { payload } = JSON.parse(bytes.toString()) as { payload: string }
  return JSON.parse(Buffer.from(payload, 'base64').toString()) as Statement
}

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
  expect(subject[0]).toEqual({ name: 'Example', uri: 'https://example.com', digest: { sha256: 'c'.repeat(64) } })
  expect(predicate).toMatchObject({
    verdict: 'conformant',
    summary: { must: { passed: 2, failed: 0, notExercised: 0, notApplicable: 2 } },
    spec: { version: '1.0', digest: { sha256: 'a'.repeat(64) } },
    requirements: { count: 5, digest: { sha256: 'b'.repeat(64) } },
    notApplicable: [
      { id: 'pdf.parse/200-text', reason: 'declared not served' },
      { id: 'completion.create/500-model-overload', reason: 'declared unreachable: no staging switch' },
    ],
    partial: [],
    issuedAt: '2026-03-02T08:00:00.000Z',
    expiresAt: '2026-08-29T08:00:00.000Z',
  })
  expect(predicate.coverage[1]).toMatchObject({ operation: 'files.list', passed: 1, cases: 4 })
})

const partials: [string, Report][] = [
  ['the verdict is non-conformant', report([failed('a.b/1')])],
  ['the run was interrupted', report([result('a.b/1')], { interrupted: true })],
  ['it is shard 1/2', report([result('a.b/1')], { shard: '1/2' })],
  ['--only chose', report([result('a.b/1')], { only: ['a.*'] })],
  ['--skip left out', report([result('a.b/1')], { skip: ['c.*'] })],
  ['--read-only', report([result('a.b/1')], { readOnly: true })],
  ['--baseline', report([result('a.b/1')], { baseline: { file: 'b', expected: [], stale: [], notExercised: [] } })],
  ['--insecure', report([result('a.b/1')], { insecure: true })],
]

test.each(partials)('refused unless --partial, and then stated: %s', (reason, of) => {
  expect(() => issued(of).certificate()).toThrow(reason)
  expect(statementIn(issued(of, { partial: true }).certificate()).predicate.partial.join()).toContain(reason)
})

test('what contradicts itself is refused even with --partial', () => {
  const changed = { ...structuredClone(report([failed('a.b/1')])), verdict: 'conformant' as const }
  expect(() => issued(changed, { partial: true }).certificate()).toThrow(/verdict is conformant, but/)
})

test('what is no valid report is refused with the place', () => {
  const strange = { ...conformant, stars: 5 } as Report
  expect(() => issued(strange).certificate()).toThrow(/report\.json: is no valid report: stars is not a known member/)
  expect(() => issued({ some: 'json' } as never, { suite: options(conformant, {}).suite }).certificate()).toThrow(
    /is no report/,
  )
})

test('the report of another version, or of other requirements, is refused', () => {
  const suite = options(conformant, {}).suite
  const refused = (change: Partial<typeof suite>) => () =>
    issued(conformant, { partial: true, suite: { ...suite, ...change } }).certificate()
  expect(refused({ version: '0.2.0' })).toThrow(/version 0.1.0 of the suite wrote it, this is 0.2.0/)
  const [first, ...others] = suite.requirements
  expect(refused({ requirements: [...suite.requirements, { ...first!, id: 'x.y/1' }] })).toThrow(/x\.y\/1 is missing/)
  expect(refused({ requirements: others })).toThrow(/jobs.create\/202-created is no requirement/)
  expect(refused({ requirements: [{ ...first!, level: 'should' }, ...others] })).toThrow(/is a should of jobs\.create/)
})

test('the digest of the suite is that of its files', () => {
  expect(suiteDigest().sha256).toMatch(/^[0-9a-f]{64}$/)
  expect(suiteDigest()).toEqual(suiteDigest())
})
