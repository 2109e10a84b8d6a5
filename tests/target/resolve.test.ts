import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { folder } from '../cli/conform.ts'
import { operations } from '../../catalogue/operations.ts'
import { targetDigest } from '../../harness/target/places.ts'
import type { TargetFile } from '../../harness/target/model.ts'
import { createKeys, createLifetime } from '../../harness/client/state.ts'
import { Redactor } from '../../harness/recording/redactor.ts'
import { resolveTarget, type ResolveOptions } from '../../harness/target/resolve.ts'
import { UserError } from '../../harness/user-error.ts'

const baseUrl = 'https://example.com/base/'
const dir = folder()
beforeAll(() => {
  writeFileSync(join(dir, 'key.txt'), '\ufeffthe-key-in-a-file\r\n')
  writeFileSync(join(dir, 'blank.txt'), ' the-key-in-a-file\n')
  writeFileSync(join(dir, 'bad.pdf'), '%PDF')
  writeFileSync(join(dir, 'ca.pem'), 'PEM')
})

const resolve = (file: TargetFile, options: Partial<ResolveOptions> = {}) =>
  resolveTarget({ baseUrl, ...file }, { dir, env: {}, ...options })
const refusal = async (file: TargetFile, options: Partial<ResolveOptions> = {}) => {
  const error = await resolve(file, options).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(UserError)
  return (error as UserError).message
}

test('the command line wins over the file, the file over the environment', async () => {
  const env = { CONFORM_API_KEY: 'key-of-the-environment', OTHER: 'key-of-the-file' }
  const full = { keys: { full: { env: 'OTHER' } } }
  const fullKey = async (file: TargetFile, options: Partial<ResolveOptions>) =>
    (await resolve(file, options)).target.keys.full
  expect(await fullKey(full, { env, key: 'key-of-the-command' })).toEqual({
    label: '$CONFORM_API_KEY',
    value: 'key-of-the-command',
  })
  expect(await fullKey(full, { env })).toEqual({ label: '$OTHER', value: 'key-of-the-file' })
  expect(await fullKey({}, { env })).toEqual({
    label: '$CONFORM_API_KEY',
    value: 'key-of-the-environment',
  })
  expect(await fullKey({}, {})).toBeUndefined()
  expect((await resolve({}, { baseUrl: 'http://127.0.0.1:8080/' })).target).toMatchObject({
    baseUrl: 'http://127.0.0.1:8080',
    name: '127.0.0.1:8080',
  })
  expect(
    (await resolve({ limits: { concurrency: 2, timeoutMs: 5 } }, { limits: { concurrency: 3 } }))
      .target.limits,
  ).toMatchObject({ concurrency: 3, timeoutMs: 5, jobTimeoutMs: 60_000 })
})

const none = { env: 'NONE' }

// @ stands for the file that has the mistake: what the command line or the environment gives has none.
test.each<[TargetFile, Partial<ResolveOptions>, string]>([
  [
    { keys: { expired: none } },
    { key: 'given-key' },
    '@keys.expired: the environment variable NONE is not set',
  ],
  [{}, { headers: { 'x-a': none } }, '--header x-a: the environment variable NONE is not set'],
  [{}, { key: 'a\nkey' }, 'the key on the command line has a control character'],
  [{}, { key: '' }, 'the key on the command line is empty'],
  [
    {},
    { env: { CONFORM_API_KEY: 'ä' } },
    'the environment variable CONFORM_API_KEY has a character that is not ASCII',
  ],
  [
    { keys: { expired: { file: 'blank.txt' } } },
    {},
    '@keys.expired (from the file blank.txt) begins or ends with a blank',
  ],
  [{ keys: { full: () => '' } }, {}, '@keys.full: the key that the function gives is empty'],
  [
    { keys: { full: () => Promise.reject(new Error('no a1b2c3d4e5f6g7h8')) } },
    {},
    '@keys.full: the function that gives the key threw no [redacted]',
  ],
  [
    {},
    { baseUrl: 'https://u:secret@example.com' },
    'the base URL must be an http or https URL like https://staging.example.com/base, without credentials, query or fragment',
  ],
])('%j with %j is refused: %s', async (file, options, message) => {
  const all = { source: 'staging.json', ...options }
  expect(await refusal(file, all)).toBe(message.replace('@', 'staging.json: '))
})

test('a base URL has to be given, and the variable of a key that is not used need not be set', async () => {
  await expect(resolveTarget({}, { dir, env: {} })).rejects.toThrow(
    'no base URL: give one on the command line or as baseUrl in the target file',
  )
  const { keys } = (await resolve({ keys: { full: none } }, { key: 'given-key' })).target
  expect(keys.full).toBeDefined()
})

test('keys come from files and commands, relative to the target file', async () => {
  const command = ['echo', ' the-key-of-a-command']
  const { target } = await resolve({
    keys: {
      full: { file: 'key.txt' },
      expired: { command },
      restricted: { 'jobs.create': 'for-jobs-only' },
    },
  })
  expect(target.keys).toEqual({
    full: { label: '$CONFORM_API_KEY', value: 'the-key-in-a-file' },
    expired: { label: '$CONFORM_KEY_EXPIRED', ask: expect.any(Function) },
    restricted: { 'jobs.create': { label: '$CONFORM_KEY_RESTRICTED', value: 'for-jobs-only' } },
  })
  expect(
    (await createKeys(target, new Redactor(target), createLifetime()).declared('pdf.parse')).expired
      ?.value,
  ).toBe('the-key-of-a-command')
  expect(target.secrets).toContainEqual({
    label: '$CONFORM_KEY_EXPIRED',
    value: 'the-key-of-a-command',
  })
})

test('requests, files and defaults are resolved', async () => {
  const { target } = await resolve(
    {
      tls: { ca: 'ca.pem' },
      headers: { 'x-tenant': { env: 'TENANT' } },
      resources: {
        corruptedPdfFile: { upload: 'bad.pdf' },
        application: { id: 'App-1', inputs: [] },
      },
      operations: {
        'files.upload': { content: { text: 'tea' } },
        'graphs.create': { body: {}, cleanup: [{ method: 'delete', url: '/admin/{id}' }] },
        'pdf.parse': 'removed',
      },
      scenarios: {
        'guardrails/400-blocked': {
          operation: 'chat.create',
          merge: { guardrail: null },
        },
        'files.upload/400-corrupted': { raw: { base64: 'dGVh', contentType: 'text/plain' } },
        'jobs.create/429-quota-exceeded': {
          before: [{ method: 'POST', url: 'https://admin.example.com/on' }],
          after: [
            {
              method: 'POST',
              url: 'https://example.com/off',
              headers: { authorization: { env: 'ADMIN' } },
              body: null,
            },
          ],
        },
      },
      unreachable: { 'completion.create/500-*': 'no switch' },
    },
    { env: { TENANT: 'one', ADMIN: 'Bearer admin-secret-value' } },
  )
  expect(target).toMatchObject({
    tls: { ca: 'PEM' },
    headers: [{ name: 'x-tenant', value: 'one' }],
    resources: {
      corruptedPdfFile: { bytes: new TextEncoder().encode('%PDF'), filename: 'bad.pdf' },
      application: { id: 'App-1' },
    },
    absent: { 'pdf.parse': 'removed' },
    unreachable: {
      'completion.create/500-model-unavailable': 'no switch',
      'completion.create/500-model-overload': 'no switch',
    },
  })
  expect(target.operations['files.upload']?.content).toEqual({
    bytes: new TextEncoder().encode('tea'),
    contentType: 'text/plain',
    filename: 'conform.txt',
  })
  expect(target.operations['graphs.create']).toMatchObject({
    fields: { name: '/name', id: '/id' },
    cleanup: [{ method: 'DELETE', url: 'https://example.com/base/admin/{id}', withKey: true }],
  })
  expect(target.scenarios['guardrails/400-blocked']).toMatchObject({
    operation: 'chat.create',
    merge: { guardrail: null },
  })
  expect(target.scenarios['files.upload/400-corrupted']).toMatchObject({
    operation: 'files.upload',
    raw: { bytes: new TextEncoder().encode('tea'), contentType: 'text/plain' },
  })
  expect(target.scenarios['jobs.create/429-quota-exceeded']).toMatchObject({
    operation: 'jobs.create',
    before: [{ withKey: false }],
    after: [{ withKey: false, body: null }],
  })
  expect(target.ids.has('app-1')).toBe(true)
  expect(target.secrets).toContainEqual({ label: '${ADMIN#* }', value: 'admin-secret-value' })
})

test('a function that never answers is waited for 30 s, and then the target cannot be judged', async () => {
  vi.useFakeTimers()
  try {
    const refused = refusal({ keys: { full: () => new Promise(() => undefined) } })
    await vi.advanceTimersByTimeAsync(30_000)
    expect(await refused).toBe(
      'keys.full: the function that gives the key never answers (waited for 30 s)',
    )
  } finally {
    vi.useRealTimers()
  }
})

test('a short key is warned of, without showing it', async () => {
  const { warnings } = await resolve({ keys: { expired: 'short' } })
  expect(warnings).toEqual([
    'keys.expired is shorter than 8 characters: reports can only hide it where it appears alone',
  ])
})

test('the digest is that of the file without keys', () => {
  const file: TargetFile = { baseUrl, name: 'a', headers: { 'x-tenant': { env: 'TENANT' } } }
  const same: TargetFile = {
    headers: { 'x-tenant': { env: 'TENANT' }, authorization: 'Basic x' },
    name: 'a',
    keys: { full: () => 'k' },
    baseUrl,
  }
  expect(targetDigest(file)).toMatch(/^sha256:[0-9a-f]{64}$/)
  expect(targetDigest(same)).toBe(targetDigest(file))
  expect(targetDigest({ ...file, headers: { 'x-tenant': { env: 'OTHER' } } })).not.toBe(
    targetDigest(file),
  )
  const scenario = { 'jobs.create/429-quota-exceeded': { headers: { 'x-simulate': 'quota' } } }
  const keyed = {
    'jobs.create/429-quota-exceeded': { headers: { 'x-simulate': 'quota' }, key: 'another-key' },
  }
  expect(targetDigest({ ...file, scenarios: keyed })).toBe(
    targetDigest({ ...file, scenarios: scenario }),
  )
})

test('what a name calls a secret is one, in headers and in queries; a value of the environment that the file shows is not', async () => {
  const file: TargetFile = {
    name: 'acme staging',
    headers: {
      cookie: 'sid=of-the-session',
      'x-proxy': { env: 'PROXY' },
      'x-tenant': { env: 'TENANT' },
    },
    query: { region: 'Köln', sub_key: { env: 'SUB' }, sig: 'of-the-signature' },
    teardown: [
      {
        method: 'DELETE',
        url: '/a?n=1&access_token=of%2Dthe%2Durl',
        headers: { authorization: 'Basic dXNlcjpvZi10aGUtYWRtaW4=' },
      },
    ],
    operations: { 'files.list': { query: { 'X-Amz-Signature': 'of-the-storage' } } },
    scenarios: {
      'jobs.create/429-quota-exceeded': {
        headers: { 'x-admin-token': 'the-token-of-admin' },
        query: { code: 'of-the-code' },
      },
    },
  }
  const env = { SUB: 'of-the-subscription', PROXY: 'of-the-proxy', TENANT: 'acme' }
  const { target } = await resolve(file, { env })
  expect(target.query).toMatchObject({ region: 'Köln', sub_key: 'of-the-subscription' })
  expect(Object.fromEntries(target.secrets.map(({ value, label }) => [value, label]))).toEqual({
    'sid=of-the-session': '[redacted]',
    'of-the-proxy': '$PROXY',
    'of-the-subscription': '$SUB',
    'of-the-signature': '[redacted]',
    'of-the-url': '[redacted]',
    'dXNlcjpvZi10aGUtYWRtaW4=': '[redacted]',
    'of-the-admin': '[redacted]',
    'of-the-storage': '[redacted]',
    'the-token-of-admin': '[redacted]',
    'of-the-code': '[redacted]',
  })
  expect(JSON.stringify(target.file)).not.toMatch(/of-the|the-token/)
  expect(targetDigest({ baseUrl, ...file })).toBe(
    targetDigest({ baseUrl, ...file, headers: { ...file.headers, cookie: 'another' } }),
  )
})

test('given headers stand before those of the file', async () => {
  const file = { headers: { 'X-Tenant': 'one', 'x-other': 'two' } }
  const { target } = await resolve(file, { headers: { 'x-tenant': 'given' } })
  expect(target.headers).toEqual([
    { name: 'x-other', value: 'two' },
    { name: 'x-tenant', value: 'given' },
  ])
})

test('"*" stands for each operation that has no entry of its own, and needs no resource that is declared', async () => {
  const file: TargetFile = {
    resources: { file: 'f-1' },
    operations: {
      'files.list': {},
      'chat.create': { body: { model: 'm' } },
      'pdf.parse': 'removed',
      '*': 'not-served',
    },
  }
  const { target } = await resolve(file)
  const there = operations.filter(({ id }) => target.absent[id] === undefined).map(({ id }) => id)
  expect(there).toEqual(['chat.create', 'files.list', 'files.retrieve'])
  expect(target.absent['pdf.parse']).toBe('removed')
  expect(target.absent['jobs.create']).toBe('not-served')
  expect(target.absent).not.toHaveProperty('*')
  expect(target.digest).toBe(targetDigest({ baseUrl, ...file }))
})
