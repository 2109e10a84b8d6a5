import { expect, test } from 'vitest'
import { formats, type Render } from '../../reporters/index.ts'
import { joined } from '../reporters/samples.ts'
import { base, checked, granted, har, inFile, rowOf, type Told } from './recording.ts'
import type { Report } from '../../schemas/report.ts'
import { withoutSecretMembers } from '../../cli/recording/exchange.ts'

const head = Buffer.from('{"alg":"HS256"}').toString('base64url')
const jwt = `${head}.${Buffer.from('{"sub":"somebody"}').toString('base64url')}.c2lnbmF0dXJlLW9mLXRoaXMta2V5`
const password = 'correct-horse-battery'
const known = 'known-key-of-the-target-file'

const inHex = Buffer.from(jwt).toString('hex')
const echoed = [jwt, known, password, inHex, 'query-token-1234567']
const header = (name: string, value: string) => ({ name, value })

/** Every way in which the key appears in the recording, in requests and answers that fail, so that they are shown. */
const told: Told[] = [
  `Bearer ${jwt}`,
  `bearer ${known}`,
  `Basic ${Buffer.from(`user:${password}`).toString('base64')}`,
  'ApiKey short',
  'a-value-without-a-scheme',
].map((authorization) => ({
  ...granted['pdf.parse/200-text']!,
  to: `/v1/tools/pdf-parser/f?access_token=query-token-1234567&subscription-key=query-key-of-the-gateway&page=2`,
  authorization,
  answers: { echo: [...echoed, encodeURIComponent(jwt)] },
  response: { headers: [header('Set-Cookie', 'sid=cookie-of-the-answer'), header('x-echo', jwt)] },
}))

const secrets = [
  ...echoed,
  jwt.split('.')[2]!,
  Buffer.from(`user:${password}`).toString('base64'),
  ...'query-key-of-the-gateway header-key-of-the-gateway cookie-of-the-answer cookie-of-the-request csrf-of-the-request a-value-without-a-scheme hunter2'.split(
    ' ',
  ),
]

async function reports() {
  const recorded = har(...told)
  for (const { request } of recorded.log.entries) {
    request.headers.push(
      header('cookie', 'sid=cookie-of-the-request; theme=dark'),
      header('X-CSRF-Token', 'csrf-of-the-request'),
      header('Ocp-Apim-Subscription-Key', 'header-key-of-the-gateway'),
    )
    request.url = request.url.replace('https://', 'https://user:hunter2@')
  }
  const target = inFile(JSON.stringify({ keys: { full: known } }), 'secrets.json')
  const { report, exchanges } = await checked(recorded, { target })
  const texts: Record<string, string> = {}
  for (const [name, { load }] of Object.entries(formats)) {
    const render: Render = await load()
    texts[name] = await joined(render(report, exchanges()))
  }
  return { texts, shown: exchangesOf(report) }
}

const exchangesOf = (report: Report) =>
  rowOf(report, 'pdf.parse/200-text').failures.map(({ exchange }) => exchange!)

test('no key in the recording is in a report', async () => {
  const { texts, shown } = await reports()
  expect(texts['har']).toContain(
    '/v1/tools/pdf-parser/f?access_token=[redacted]&subscription-key=[redacted]&page=2',
  )
  for (const [name, text] of Object.entries(texts)) {
    expect([name, secrets.filter((secret) => text.includes(secret))]).toEqual([name, []])
  }
  expect(shown.map(({ request }) => request.headers['authorization'])).toEqual([
    'Bearer [redacted]',
    'bearer $CONFORM_API_KEY',
    'Basic [redacted]',
  ])
  expect(shown[0]?.request.headers).toMatchObject({
    cookie: '[redacted]',
    'x-csrf-token': '[redacted]',
  })
  expect(shown[0]?.request.url).toMatch(`${base}/v1/`)
  expect(shown[1]?.curl).toContain('-H "authorization: bearer $CONFORM_API_KEY"')
})

test('how our own reports write a key is no key', async () => {
  const written = ['Bearer $CONFORM_API_KEY', 'Bearer ${CONFORM_API_KEY%????}', 'Bearer [redacted]']
  const told = { ...granted['pdf.parse/200-text']!, answers: {} }
  const { report } = await checked(
    har(...written.map((authorization) => ({ ...told, authorization }))),
  )
  const shown = exchangesOf(report).map(({ request }) => request.headers['authorization'])
  expect(shown).toEqual(written)
})

test('the values of members that are called password, secret, api_key or token are shown nowhere', () => {
  const body =
    '{"password": "a", "client_secret":"say \\"b\\"", "api_key":"c", "accessToken":"d", "max_tokens":"4", "tpe":"e"}'
  expect(withoutSecretMembers(body)).toBe(
    '{"password": "[redacted]", "client_secret":"[redacted]", "api_key":"[redacted]", "accessToken":"[redacted]", "max_tokens":"4", "tpe":"e"}',
  )
  expect(withoutSecretMembers('user=a&password=b&page_token=$CONFORM_API_KEY&n=1')).toBe(
    'user=a&password=[redacted]&page_token=$CONFORM_API_KEY&n=1',
  )
})

test('members called password or token are shown in no report of a recording', async () => {
  const [one] = har(granted['jobs.create/202-created']!).log.entries
  one!.request.postData!.text = '{"inputs":[],"password":"correct-horse"}'
  one!.response.status = 201
  const { exchanges, report } = await checked({ log: { entries: [one] } })
  const told = JSON.stringify([report, ...exchanges()])
  expect(told).toContain('[redacted]')
  expect(told).not.toContain('correct-horse')
})
