/** Demands on a certificate beyond its being valid. */
import { beforeAll, expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import type { VerifyRequest } from '../../certificate/verify-file.ts'
import { issuedAt } from './issued.ts'
import { register, reportOf } from './registered.ts'
import { signer } from './signed.ts'

const [vendor, certifier, stranger] = [signer(), signer(), signer()]
beforeAll(async () => {
  await vendor.bundle()
  await certifier.sign({
    report: undefined,
    add: vendor.file('b.zip'),
    out: undefined,
    bundle: certifier.file('b.zip'),
  })
})

const both = [vendor.id, certifier.id]

test.each<[Omit<VerifyRequest, 'file'>, RegExp | null]>([
  [{ baseUrl: 'https://example.com' }, null],
  [
    { baseUrl: 'https://example.com/v2' },
    /^it is for https:\/\/example\.com \(--base-url https:\/\/example\.com\/v2\)$/,
  ],
  [{ requireOperations: operations.length - 1 }, null],
  [
    { requireOperations: operations.length },
    new RegExp(
      `^${operations.length - 1} operations were judged \\(--require-operations ${operations.length}\\)$`,
    ),
  ],
  [{ requireOperations: ['jobs.create', 'pdf.parse'] }, null],
  [
    { requireOperations: ['jobs.create', 'vision.analyze'] },
    /^it does not judge vision\.analyze \(--require-operations\)$/,
  ],
  [{ maxAge: 1 }, null],
  [{ maxAge: 0 }, /^the run began at 2026-03-01T12:00:00\.000Z \(--max-age 0\)$/],
  [{ keyId: [vendor.id, stranger.id] }, null],
])('%j', (demands, unmet) => {
  const { result, lines } = certifier.verify('b.zip', demands)
  expect(result.unmet).toEqual(unmet === null ? [] : [expect.stringMatching(unmet)])
  expect(result).toMatchObject(
    unmet === null
      ? { outcome: 'accepted', accepted: true }
      : { outcome: 'insufficient', valid: true, accepted: false },
  )
  expect(lines.filter((line) => line.startsWith('not accepted: '))).toHaveLength(
    unmet === null ? 0 : 1,
  )
})

test('what is changed is invalid, and not only insufficient', () => {
  const { result } = certifier.verify('run.har', { maxAge: 0 })
  expect(result).toMatchObject({ outcome: 'invalid', accepted: false, valid: false })
})

test('without --revoked the output says that nobody looked, with it where, and as of when', async () => {
  expect(certifier.verify('b.zip').lines).toContain(
    'revocation: not looked up; give --revoked and the index.json or revoked.json of its register',
  )
  certifier.put('revoked.json', [])
  const { lines, result } = certifier.verify('b.zip', { revoked: certifier.file('revoked.json') })
  expect(lines).toContain(`revocation: looked up in ${certifier.file('revoked.json')}`)
  expect(result).toMatchObject({ outcome: 'accepted', revocations: { asOf: null } })
})

test('a certificate is revoked by its own id, or by that of every key that is relied on', () => {
  const look = (ids: readonly string[], keyIds: readonly string[] = []) => {
    certifier.put(
      'revoked.json',
      ids.map((id) => ({ id, day: '2026-03-20', reason: 'the server was exchanged' })),
    )
    const { outcome, problems } = certifier.verify('b.zip', {
      keyId: keyIds,
      revoked: certifier.file('revoked.json'),
    }).result
    expect(outcome).toBe(problems.length === 0 ? 'accepted' : 'invalid')
    return problems.join()
  }
  const id = certifier.verify('b.zip').result.certificate!
  expect(look([id])).toBe('it was revoked on 2026-03-20: the server was exchanged')
  expect(look([certifier.id], both)).toBe('')
  expect(look([certifier.id], [certifier.id])).toMatch(
    /^its key sha256:\w+ was revoked on 2026-03-20/,
  )
  expect(look(both)).toMatch(/^its key/)
  expect(look([stranger.id], both)).toBe('')
})

test('the index.json of a register says what it revoked, certificates and keys', async () => {
  const made = register()
  const id = await made.add('a.json', reportOf('Example', 'example.com'))
  await made.add('b.json', reportOf('Other', 'other.example'))
  made.put('revoked.json', [{ id, day: '2026-03-20', reason: 'a mistake' }])
  made.build()
  const verify = (name: string) =>
    made.certifier.verify(`../${made.certificates.split('/').slice(-2).join('/')}/${name}`, {
      revoked: `${made.out}/index.json`,
    })
  expect(verify('a.json').result.problems).toEqual(['it was revoked on 2026-03-20: a mistake'])
  expect(verify('b.json').result).toMatchObject({
    outcome: 'accepted',
    revocations: { asOf: '2026-04-01T06:00:00.000Z' },
  })
})

test.each<[string, unknown, RegExp]>([
  [
    'another file',
    { certificates: [] },
    /is neither a list of revocations nor the index\.json of a register/,
  ],
  [
    'an index without revocations',
    { format: 'conform-register/1', builtAt: '2026' },
    /revocations: must be a list/,
  ],
  ['an entry without an id', [{ day: '2026-03-20', reason: 'x' }], /\[0\]\.id is missing/],
])('a list that is none is an error: %s', (_, value, message) => {
  vendor.put('list.json', value)
  expect(() => vendor.verify('b.zip', { revoked: vendor.file('list.json') }, issuedAt)).toThrow(
    message,
  )
})

test('a list that cannot be read is an error, and does not pass for an empty one', () => {
  expect(() => vendor.verify('b.zip', { revoked: vendor.file('none.json') })).toThrow(
    /none\.json: does not exist/,
  )
})
