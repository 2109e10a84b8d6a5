import { routes, target } from './client.ts'
import { bad, content, each, rights, type Row } from './rows.ts'

const { full, expired, restricted } = target.keys
const keyless = { headers: { authorization: undefined } }
const aliases: Readonly<Record<string, string>> = { 'chat.create': '/v1/chat', 'vision.analyze': '/v1/vision' }

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
  full.toUpperCase(),
  `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
  `${header}.${changed(full, { sub: 'somebody-else' })}.${signature}`,
  `${encoded({ alg: 'none', typ: 'JWT' })}.${payload}.`,
  `${header}.${changed(expired, { exp: 4_102_444_800 })}.${expired.split('.')[2]}`,
]

const notJson = [
  '{"a": [1}',
  '{"a": "b',
  '{"a": 1',
  '{} {}',
  '{"a": 1,}',
  '{"a": 1 /* tea */}',
  '{"a": NaN}',
  "{'a': 1}",
  '{a: 1}',
]

const otherTypes = [
  ...['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'multipart/form-data; boundary=b'],
]

/** What every operation refuses. */
export function rowsEverywhere(operation: string): readonly Row[] {
  const withJson = routes[operation]?.[0] === 'POST' && operation !== 'files.upload'
  const json = (text: string, contentType = 'application/json') => ({ raw: { text, contentType } })
  return [
    [`${operation}/401-missing-credentials`, keyless, '401 BadCredentials'],
    [`${operation}/401-malformed-key`, { key: 'no-jwt' }, '401 BadCredentials'],
    [`${operation}/401-malformed-key`, { headers: { authorization: full } }, '401 BadCredentials'],
    [`${operation}/401-malformed-key`, { headers: { authorization: `Basic ${full}` } }, '401 BadCredentials'],
    [`${operation}/401-malformed-key`, { headers: { authorization: 'Bearer' } }, '401 BadCredentials'],
    ...each(
      `${operation}/401-invalid-key`,
      invalidKeys,
      (key) => ({ key: String(key) }),
      '401 BadCredentials',
      '401 BadToken',
    ),
    ...(aliases[operation] === undefined
      ? []
      : [
          [
            `${operation}/401-missing-credentials`,
            { path: aliases[operation], ...keyless },
            '401 BadCredentials',
          ] as const,
        ]),
    [`${operation}/401-expired-key`, { key: expired }, '401 BadToken'],
    [`${operation}/403-insufficient-rights`, { key: restricted }, rights],
    ...(withJson
      ? ([
          ...each(`${operation}/400-malformed-json`, notJson, (text) => json(String(text)), content, bad),
          ...each(`${operation}/400-wrong-content-type`, otherTypes, (type) => json('{}', String(type)), content, bad),
        ] as const)
      : []),
  ]
}
