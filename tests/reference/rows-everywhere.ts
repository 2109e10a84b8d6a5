import { type Change, routes, target } from './client.ts'
import { bad, content, each, rights, type Row } from './rows.ts'

const { full, expired, restricted } = target.keys
const keyless = { headers: { authorization: undefined } }
const aliases: Readonly<Record<string, string>> = {
  'chat.create': '/v1/chat',
  'vision.analyze': '/v1/vision',
  'pdf.parse': '/v1/tools/pdf-parser',
}

const [header = '', payload = '', signature = ''] = full.split('.')
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The payload of a key, changed. */
function changed(key: string, claims: object): string {
  const told = JSON.parse(Buffer.from(key.split('.')[1] ?? '', 'base64url').toString()) as object
  return encoded({ ...told, ...claims })
}

const invalidKeys = [
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
]

const otherTypes = [
  ...['text/plain; format=json', 'application/octet-stream'],
  ...['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'multipart/form-data; boundary=b'],
]

/** A body of another JSON type. */
function otherBodies(operation: string): readonly Row[] {
  const isShown = ['pdf.parse', 'chat.create'].includes(operation)
  const bodies = ['tea', 17, true, ...(isShown ? [null, [], [{ format: 'text' }]] : [])]
  return each(`${operation}/4xx-malformed-body`, bodies, (body) => ({ body }), bad)
}

/** Places at which a server may look at a key less closely: not refused there by these pairs if it has no such place. */
function placesOf(operation: string): readonly Change[] {
  const [method = '', path = ''] = routes[operation] ?? []
  const paths = [
    ...[`${path}/`, path.replace('/v1/', '/v1//'), `${path};x`, path.replace('/v1/', '/V1/')],
    ...[`${path}.json`, path.replace('/v1/', '/%761/')],
  ]
  return [
    { path: `${path}?file_types=txt` },
    ...paths.map((other) => ({ path: other })),
    ...(method === 'POST' ? [{ raw: { text: '', contentType: 'application/json' } }] : []),
    ...(aliases[operation] === undefined ? [] : [{ path: aliases[operation] }]),
  ]
}

const nowhere = '404 NotFound'

/** The credential at each place. */
function elsewhere(id: string, credential: Change, ...pairs: string[]): readonly Row[] {
  return placesOf(id.slice(0, id.indexOf('/'))).map((place): Row => [
    id,
    { ...credential, ...place },
    ...pairs,
    nowhere,
  ])
}

/** Refusals of every operation. */
export function rowsEverywhere(operation: string): readonly Row[] {
  const withJson = routes[operation]?.[0] === 'POST' && operation !== 'files.upload'
  const json = (text: string, contentType = 'application/json') => ({ raw: { text, contentType } })
  return [
    [`${operation}/401-missing-credentials`, keyless, '401 BadCredentials'],
    [`${operation}/401-malformed-key`, { key: 'no-jwt' }, '401 BadCredentials'],
    [`${operation}/401-malformed-key`, { headers: { authorization: full } }, '401 BadCredentials'],
    [`${operation}/401-malformed-key`, { headers: { authorization: `Basic ${full}` } }, '401 BadCredentials'],
    ...each(
      `${operation}/401-malformed-key`,
      ['Bearer', `Token ${full}`, `ApiKey ${full}`, `Bearer${full}`, `Bearer ${full} tea`, 'Bearer tea.and.milk'],
      (authorization) => ({ headers: { authorization: String(authorization) } }),
      '401 BadCredentials',
    ),
    ...each(
      `${operation}/401-invalid-key`,
      invalidKeys,
      (key) => ({ key: String(key) }),
      '401 BadCredentials',
      '401 BadToken',
    ),
    ...elsewhere(`${operation}/401-missing-credentials`, keyless, '401 BadCredentials'),
    ...elsewhere(`${operation}/401-invalid-key`, { key: full.slice(0, -4) }, '401 BadCredentials', '401 BadToken'),
    ...elsewhere(`${operation}/401-expired-key`, { key: expired }, '401 BadToken'),
    ...elsewhere(`${operation}/403-insufficient-rights`, { key: restricted }, rights),
    [`${operation}/401-malformed-key`, { key: 'null' }, '401 BadCredentials'],
    [`${operation}/401-expired-key`, { key: expired }, '401 BadToken'],
    [`${operation}/403-insufficient-rights`, { key: restricted }, rights],
    ...(withJson
      ? ([
          ...(operation === 'jobs.create' ? [] : otherBodies(operation)),
          ...each(`${operation}/400-malformed-json`, notJson, (text) => json(String(text)), content, bad),
          ...each(`${operation}/400-wrong-content-type`, otherTypes, (type) => json('{}', String(type)), content, bad),
        ] as const)
      : []),
  ]
}
