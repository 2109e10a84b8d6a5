import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { type Change, routes, target } from './client.ts'

const { full, expired, restricted } = target.keys
const { job } = target.resources
const keyless = { headers: { authorization: undefined } }
const aliases: Readonly<Record<string, string>> = {
  'chat.create': '/v1/chat',
  'vision.analyze': '/v1/vision',
  'pdf.parse': '/v1/tools/pdf-parser',
}

const bodiesBesides: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  'chat.create': [
    { stream: true },
    { tools: [{ type: 'llm', function: { description: 'Tea', model: 'm-medical' } }] },
  ],
  'pdf.parse': [{ format: 'markdown' }],
}

const [header = '', payload = '', signature = ''] = full.split('.')
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The payload of a key, changed. */
function changed(key: string, claims: object): string {
  const told = JSON.parse(Buffer.from(key.split('.')[1] ?? '', 'base64url').toString()) as object
  return encoded({ ...told, ...claims })
}

/** The payload of the full key under that header, signed by whoever says so. */
function forged(own: object, signing: (text: string) => string): string {
  const text = `${encoded({ typ: 'JWT', ...own })}.${payload}`
  return `${text}.${signing(text)}`
}

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwk = publicKey.export({ format: 'jwk' })
const old = () => signature

const invalidKeys = [
  forged({ alg: 'nOnE' }, () => ''),
  forged({ alg: 'TEA' }, old),
  forged({}, old),
  forged({ alg: 'HS256' }, (text) => createHmac('sha256', '').update(text).digest('base64url')),
  forged({ alg: 'ES256', jwk }, (text) =>
    sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString(
      'base64url',
    ),
  ),
  full.slice(0, -4),
  full.slice(0, -100),
  `${full}abcd`,
  `${full}.abcd`,
  `${header}.${payload}.`,
  full.toUpperCase(),
  `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
  `${header}.${payload}.${signature.slice(0, 20)}${'A'.repeat(signature.length - 20)}`,
  `${encoded({ alg: 'HS256', typ: 'JWT', kid: 'tea' })}.${payload}.${signature}`,
  `${encoded({ alg: 'none', typ: 'JWT' })}.${payload}`,
  `${encoded({ alg: 'None', typ: 'JWT' })}.${payload}.${signature}`,
  `${encoded({ alg: 'NONE', typ: 'JWT' })}.${payload}.`,
  `${restricted.split('.')[0]}.${payload}.${restricted.split('.')[2]}`,
  `${header}.${changed(full, { sub: 'somebody-else' })}.${signature}`,
  `${encoded({ alg: 'none', typ: 'JWT' })}.${payload}.`,
  `${header}.${changed(expired, { exp: 4_102_444_800 })}.${expired.split('.')[2]}`,
]

const notJson = [
  '{"a": [1}',
  '{"a": "b',
  '{"a": 1',
  '{} {}',
  '{"a": 1} tea',
  '{"a": 1,}',
  '{"a": 1 /* tea */}',
  '{"a": NaN}',
  "{'a': 1}",
  '{a: 1}',
  '{"a": 1}{"a": 1}',
  '{"a": 1} // tea',
  '{"a": +1}',
  '{"a": 01}',
  '{"a": .5}',
  '{"a": "green\ntea"}',
  '{"a": "green\ttea"}',
  '{ # tea\n"a": 1}',
]

const otherTypes = [
  ...['text/plain; format=json', 'application/octet-stream'],
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'multipart/form-data; boundary=b',
  ],
]

/** Places at which a server may look at a key less closely. */
function placesOf(operation: string): readonly Change[] {
  const [method = '', path = ''] = routes[operation] ?? []
  const paths = [
    ...[`${path}/`, path.replace('/v1/', '/v1//'), `${path};x`, path.replace('/v1/', '/V1/')],
    ...[`${path}.json`, path.replace('/v1/', '/%761/')],
  ]
  return [
    { path: `${path}?file_types=txt` },
    { headers: { 'x-forwarded-for': '127.0.0.1' } },
    { headers: { 'user-agent': undefined } },
    ...(method === 'POST'
      ? [{ raw: { text: 'tea', contentType: 'multipart/form-data; boundary=tea' } }]
      : []),
    ...paths.map((other) => ({ path: other })),
    ...(method === 'POST' ? [{ raw: { text: '', contentType: 'application/json' } }] : []),
    ...(aliases[operation] === undefined ? [] : [{ path: aliases[operation] }]),
    ...(bodiesBesides[operation] ?? []).map((merge) => ({ merge })),
    ...(operation === 'jobs.retrieve' ? [{ params: { job_id: job.toUpperCase() } }] : []),
  ]
}

/** The credential at the usual place, and at each other one: what is not there, is not refused by the key. */
function withCredential(operation: string, ...credentials: Change[]): readonly Change[] {
  const elsewhere = placesOf(operation).map((place) => ({
    ...credentials[0],
    ...place,
    headers: { ...credentials[0]?.headers, ...place.headers },
    mayLack: ['404 NotFound'],
  }))
  return [...credentials, ...elsewhere]
}

const json = (text: string, contentType = 'application/json'): Change => ({
  raw: { text, contentType },
})
const malformedKeys = [
  ...[
    full,
    `Basic ${full}`,
    'Bearer',
    `Token ${full}`,
    `ApiKey ${full}`,
    `Bearer${full}`,
    `Bearer ${full} tea`,
  ],
  ...[
    `JWT ${full}`,
    `Basic ${Buffer.from(`${full}:`).toString('base64')}`,
    'Bearer tea.and.milk',
    'Bearer no-jwt',
    'Bearer null',
  ],
]

/** Changes by which every operation refuses its valid request, by requirement. */
export function changesEverywhere(operation: string): Readonly<Record<string, readonly Change[]>> {
  const isShown = ['pdf.parse', 'chat.create'].includes(operation)
  const bodies = ['tea', 17, true, ...(isShown ? [null, [], [{ format: 'text' }]] : [])]
  const hasJson = routes[operation]?.[0] === 'POST' && operation !== 'files.upload'
  return {
    [`${operation}/401-missing-credentials`]: withCredential(operation, keyless, keyless),
    [`${operation}/401-malformed-key`]: malformedKeys.map((authorization) => ({
      headers: { authorization },
    })),
    [`${operation}/401-invalid-key`]: withCredential(
      operation,
      ...invalidKeys.map((key) => ({ key })),
    ),
    [`${operation}/401-expired-key`]: withCredential(operation, { key: expired }),
    [`${operation}/403-insufficient-rights`]: withCredential(operation, { key: restricted }),
    ...(hasJson && {
      [`${operation}/400-malformed-json`]: notJson.map((text) => json(text)),
      [`${operation}/400-wrong-content-type`]: otherTypes.map((type) => json('{}', type)),
    }),
    ...(hasJson &&
      operation !== 'jobs.create' && {
        [`${operation}/4xx-malformed-body`]: bodies.map((body) => ({ body })),
      }),
  }
}
