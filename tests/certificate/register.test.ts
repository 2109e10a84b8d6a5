import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { parse } from 'parse5'
import { catalogue } from '../../catalogue/catalogue.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { signer, suite } from './signed.ts'
import { builtAt, failing, register, reportOf, sampleRegister } from './registered.ts'

describe('the site', () => {
  let site: string
  let index: any
  const read = (path: string) => readFileSync(join(site, path), 'utf8')
  const service = (name: string) => index.services.find((one: any) => one.name === name)

  beforeAll(async () => {
    const made = await sampleRegister()
    made.build()
    site = made.out
    index = JSON.parse(read('index.json'))
  })

  test('lists every service with how it stands, for people and for machines', () => {
    const of = Object.fromEntries(
      index.services.map(({ name, status, verdict, partial }: any) => [
        name,
        [status, verdict, partial.length],
      ]),
    )
    expect(of).toMatchObject({
      Example: ['valid', 'conformant', 0],
      Partial: ['valid', 'conformant', 1],
      Failing: ['valid', 'non-conformant', 1],
      Expired: ['expired', 'conformant', 0],
      Revoked: ['revoked', 'conformant', 0],
    })
    const list = read('index.html')
    for (const words of [
      `✓</span> conformant, ${operations.length - 1} of ${operations.length} operations<`,
      `conformant, partial, ${operations.length - 1} of ${operations.length} operations<`,
      `non-conformant, ${operations.length - 1} of ${operations.length} operations<`,
      '> expired<',
      '> revoked<',
      `${operations.length - 1} of ${operations.length} operations judged; declared not served: vision.analyze; ${catalogue.length} requirements of version ${suite.version}; valid from`,
      'the server was exchanged for the run',
      'As of 2026-04-01',
    ])
      expect(list).toContain(words)
    expect(service('Example').signedBy[0].name).toBe('Example Labs')
    expect(service('Revoked').revoked).toEqual({
      day: '2026-03-20',
      reason: 'the server was exchanged for the run',
    })
  })

  test('has a page and a badge for each, and what was in the folder: the certificate, and the bundle if it was one', () => {
    const { page, badge, certificates } = service('Example')
    expect(read(`${page}index.html`)).toContain('jobs.create')
    expect(read(badge)).toContain(
      `conformant, ${operations.length - 1} of ${operations.length} operations`,
    )
    expect(read(badge)).toContain('<desc>valid until 2026-08-28</desc>')
    for (const name of ['Expired', 'Revoked']) {
      expect(read(service(name).badge)).toContain(name.toLowerCase())
      expect(read(service(name).badge)).not.toContain('conformant')
    }
    expect(read(certificates[0].file)).toContain('application/vnd.in-toto+json')
    expect(read(certificates[0].bundle).slice(0, 4)).toBe('PK\u0003\u0004')
    expect(service('Partial').certificates[0].bundle).toBeNull()
    expect(read(`${page}index.html`)).toMatch(
      /\.zip --revoked index\.json \\\n {2}--key-id sha256:/,
    )
    expect([...index.files].sort()).toEqual(
      readdirSync(site, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(site.length + 1))
        .sort(),
    )
  })

  test('shows hostile names as text, runs nothing and fetches nothing', () => {
    const pages = index.files.filter((name: string) => name.endsWith('.html'))
    expect(pages).toHaveLength(7)
    for (const name of pages) {
      const errors: string[] = []
      parse(read(name), { onParseError: ({ code }) => errors.push(code) })
      expect(errors).toEqual([])
      expect(read(name)).not.toMatch(
        /<img(?! src="data:image\/svg\+xml;base64,)|<script|\u202e|\u0007|src=(?!x|"data:|&quot;)|https?:\/\/[^<]*"/,
      )
      expect(read(name)).toContain('content="default-src &#39;none&#39;; style-src &#39;sha256-')
    }
    expect(read('index.html')).toContain('&lt;img src=x onerror=alert(1)&gt;')
  })
})

test('the last run of a service stands, unless it was revoked', async () => {
  const { add, build, put, out } = register()
  const old = await add('a.json', reportOf('Example', 'example.com'))
  const late = await add(
    'b.json',
    reportOf('Example 2', 'example.com', (whole) => {
      whole.run.startedAt = '2026-03-02T07:00:00.000Z'
      failing(whole)
    }),
  )
  expect(build()).toMatchObject([{ name: 'Example 2', current: { id: late } }])
  put('revoked.json', [{ id: late, day: '2026-03-20', reason: 'a mistake' }])
  const [service] = build()
  expect(service).toMatchObject({ name: 'Example', current: { id: old } })
  expect(service!.certificates.map(({ id, status }) => [id, status])).toEqual([
    [late, 'revoked'],
    [old, 'valid'],
  ])
  expect(readFileSync(join(out, 'services', service!.slug, 'index.html'), 'utf8')).toContain(
    'a mistake',
  )
})

test('a revoked key takes with it what no other trusted key signed', async () => {
  const { add, build, put, certifier, certificates } = register()
  const other = signer()
  await add('a.json', reportOf('Example', 'example.com'))
  put('revoked.json', [{ id: certifier.id, day: '2026-03-20', reason: 'the key was lost' }])
  expect(build()).toMatchObject([
    { current: { status: 'revoked', revocation: { reason: 'the key was lost' } } },
  ])
  const report = certifier.file('report.json')
  await other.sign({ add: join(certificates, 'a.json'), report, out: other.file('a.json') })
  writeFileSync(join(certificates, 'a.json'), readFileSync(other.file('a.json')))
  expect(build(undefined, [other.id])).toMatchObject([{ current: { status: 'valid' } }])
})

describe('what stops the build, and leaves the site as it was', () => {
  test.each<[string, (made: ReturnType<typeof register>) => unknown, RegExp]>([
    [
      'a changed certificate',
      ({ certificates }) => {
        const path = join(certificates, 'a.json')
        writeFileSync(path, readFileSync(path, 'utf8').replace('"sig": "', '"sig": "A'))
      },
      /a\.json: it is not a certificate|a\.json: its signature 1 does not hold/,
    ],
    [
      'a file that is none',
      ({ put }) => put('notes.json', {}),
      /notes\.json: it is not a certificate/,
    ],
    [
      'an archive that is no bundle',
      ({ certificates }) => writeFileSync(join(certificates, 'b.zip'), 'PK\u0003\u0004'),
      /b\.zip: is not a bundle/,
    ],
    [
      'a key that nobody trusts',
      ({ put }) => put('trusted-keys.json', [{ id: signer().id }]),
      /a\.json: is signed by no trusted key, but by sha256:/,
    ],
    ['no trusted key', ({ put }) => put('trusted-keys.json', []), /no key is trusted; name those/],
    [
      'the same certificate twice',
      ({ certificates }) =>
        writeFileSync(join(certificates, 'b.json'), readFileSync(join(certificates, 'a.json'))),
      /b\.json: is the same as a\.json/,
    ],
    [
      'a mistyped revocation',
      ({ put }) =>
        put('revoked.json', [{ id: `sha256:${'0'.repeat(64)}`, day: '2026-03-20', reason: 'x' }]),
      /revoked\.json: sha256:0+ is neither a certificate here/,
    ],
    [
      'a revocation without a day',
      ({ put, certifier }) => put('revoked.json', [{ id: certifier.id, reason: 'x' }]),
      /revoked\.json: \[0\]\.day is missing/,
    ],
    [
      'a revocation without a reason',
      ({ put, certifier }) => put('revoked.json', [{ id: certifier.id, day: '2026-03-20' }]),
      /\[0\]\.reason is missing/,
    ],
    [
      'a list of revocations that is a link to nowhere',
      ({ certificates }) =>
        symlinkSync(join(certificates, 'gone'), join(certificates, 'revoked.json')),
      /revoked\.json: does not exist/,
    ],
    [
      'revocations that are no list',
      ({ put }) => put('revoked.json', { id: 'x' }),
      /revoked\.json: must be a list/,
    ],
  ])('%s', async (_, change, message) => {
    const made = register()
    await made.add('a.json', reportOf('Example', 'example.com'))
    made.build()
    const before = readFileSync(join(made.out, 'index.json'))
    change(made)
    expect(() => made.build()).toThrow(message)
    expect(readFileSync(join(made.out, 'index.json'))).toEqual(before)
  })

  test('a certificate dated in the future; one that is over only expires', async () => {
    const { add, build } = register()
    await add('a.json', reportOf('Example', 'example.com'))
    expect(() => build(new Date('2026-03-01T00:00:00Z'))).toThrow(/a\.json: it is dated/)
    expect(build(new Date('2030-01-01T00:00:00Z'))).toMatchObject([
      { current: { status: 'expired' } },
    ])
  })
})

test('only a register that was built before is replaced, and stale pages go with it', async () => {
  const { add, build, put, out, certificates, at } = register()
  const id = await add('a.json', reportOf('Example', 'example.com'))
  await add('b.json', reportOf('Other', 'other.example'))
  const [, other] = build()
  writeFileSync(join(certificates, 'b.json'), readFileSync(join(certificates, 'a.json')))
  put('revoked.json', [{ id, day: '2026-03-20', reason: 'x' }])
  expect(() => build()).toThrow(/is the same as/)
  await add('b.json', reportOf('Third', 'third.example'))
  build()
  expect(existsSync(join(out, 'services', other!.slug))).toBe(false)
  writeFileSync(join(out, 'CNAME'), 'mine')
  expect(() => build()).toThrow(
    /holds CNAME, which is not part of a register; give an empty folder/,
  )
  expect(readFileSync(join(out, 'CNAME'), 'utf8')).toBe('mine')
  expect(readdirSync(at).sort()).toEqual(['certificates', 'site'])
})

test('the site is not written in, around or through a link into the folder of the certificates', async () => {
  const { buildRegister } = await import('../../certificate/register/build.ts')
  const { add, certificates, at } = register()
  await add('a.json', reportOf('Example', 'example.com'))
  symlinkSync(certificates, join(at, 'link'))
  mkdirSync(join(certificates, 'inside'))
  for (const out of [
    certificates,
    at,
    join(certificates, 'inside'),
    join(at, 'link'),
    join(at, 'link', 'new'),
  ]) {
    const build = () => buildRegister(certificates, out, { keyIds: [], now: builtAt, suite })
    expect(build).toThrow(/lies in or around the folder of the certificates/)
  }
})

test('a name that may not be what it looks like is marked, in the list, on its page and for machines', async () => {
  const { add, build, out, certifier } = register()
  const id = await add('a.json', reportOf('Exаmple', 'example.com'))
  const [service] = build()
  const mark = 'letters of several scripts (Cyrillic, Latin)'
  for (const page of ['index.html', `services/${service!.slug}/index.html`])
    expect(readFileSync(join(out, page), 'utf8')).toContain(`This name holds ${mark}.`)
  const index = JSON.parse(readFileSync(join(out, 'index.json'), 'utf8'))
  expect(index.services[0]).toMatchObject({ nameMarks: [mark], certificates: [{ id }] })
  expect(certifier.verify('last').lines).toContain(
    `  its name holds ${mark}: it may not be what it looks like`,
  )
})
