import { expect, test } from 'vitest'
import { UserError } from '../../harness/user-error.ts'
import { createTransport } from '../../harness/http/transport.ts'
import { answered, ok, rawServer, textOf, unanswered, transportTo, patience } from './servers.ts'

const echo = () => rawServer(({ text, socket }) => socket.write(ok(text), 'latin1'))

test('adds host, content-length, what keep-alive needs and what any client says of itself, and nothing else', async () => {
  const server = await echo()
  const headers = [
    { name: 'Authorization', value: 'Bearer a' },
    { name: 'X-Two', value: '1' },
    { name: 'X-Two', value: '2' },
  ]
  const sent = await transportTo(server).send(
    { method: 'POST', path: '/v1/x', headers, body: 'é' },
    { timeoutMs: patience },
  )
  expect(textOf(sent).split('\r\n')).toEqual([
    'POST /v1/x HTTP/1.1',
    `host: 127.0.0.1:${server.port}`,
    'connection: keep-alive',
    'Authorization: Bearer a',
    'X-Two: 1',
    'X-Two: 2',
    'user-agent: ai-content-conformance',
    'accept: */*',
    'accept-encoding: gzip, deflate, br',
    'content-length: 2',
    '',
    'Ã©',
  ])
})

test('given lines stand alone', async () => {
  const headers = [
    { name: 'Accept-Encoding', value: 'identity' },
    { name: 'User-Agent', value: 'tea/1' },
    { name: 'ACCEPT', value: 'application/json' },
    { name: 'Host', value: 'elsewhere.example' },
  ]
  const sent = await transportTo(await echo()).send(
    { method: 'GET', path: '/', headers },
    { timeoutMs: patience },
  )
  expect(textOf(sent)).toBe(
    'GET / HTTP/1.1\r\nhost: elsewhere.example\r\nconnection: keep-alive\r\nAccept-Encoding: identity\r\nUser-Agent: tea/1\r\nACCEPT: application/json\r\n\r\n',
  )
})

test.each(['', undefined])('a POST with body %j says that its length is 0', async (body) => {
  const request = { method: 'POST', path: '/', headers: [], body }
  expect(textOf(await transportTo(await echo()).send(request, { timeoutMs: patience }))).toContain(
    '\r\ncontent-length: 0\r\n',
  )
})

test('bytes are sent as they are', async () => {
  const body = Uint8Array.from([0, 0xff, 0xc3, 0x28])
  const sent = await transportTo(await echo()).send(
    { method: 'POST', path: '/', headers: [], body },
    { timeoutMs: patience },
  )
  expect([...answered(sent).body.slice(-4)]).toEqual([...body])
})

test.each(['', '/', '/base', '/base/'])(
  'the path stands after the path of the base URL (%j)',
  async (base) => {
    const { url, ...server } = await echo()
    const transport = transportTo({ ...server, url: url + base })
    for (const path of ['/v1/a%2Fb/..//c?x=%zz&y={}|"', '/v1/files/é', '//twice']) {
      const sent = await transport.send(
        { method: 'GET', path, headers: [] },
        { timeoutMs: patience },
      )
      expect(textOf(sent).split(' ')[1]).toBe(base.replace(/\/$/, '') + path)
    }
  },
)

test('what cannot be put on the wire is said so, without header values', async () => {
  const transport = transportTo(await echo())
  const named = (name: string) => [{ name, value: 'secret' }]
  for (const bad of [
    { path: '/a b', headers: [] },
    { path: '/a\r\nx: y', headers: [] },
    { path: 'v1', headers: [] },
    { path: '/', headers: named('transfer-encoding') },
    { path: '/', headers: named('expect') },
    { path: '/', headers: named('bad name') },
    { path: '/', headers: [{ name: 'x', value: 'secret\nsecret' }] },
  ]) {
    const { cause, message } = unanswered(
      await transport.send({ method: 'GET', ...bad }, { timeoutMs: patience }),
    )
    expect(cause).toBe('refused')
    expect(message).toMatch(/^the request cannot be sent: /)
    expect(message).not.toContain('secret')
  }
})

test('a redirect is an answer, also one to itself', async () => {
  const server = await rawServer(({ socket }) =>
    socket.write(
      'HTTP/1.1 307 Temporary Redirect\r\nlocation: /v1/files\r\ncontent-length: 0\r\n\r\n',
    ),
  )
  const request = { method: 'GET', path: '/v1/files', headers: [] }
  const { status, headers } = answered(
    await transportTo(server).send(request, { timeoutMs: patience }),
  )
  expect(status).toBe(307)
  expect(headers).toEqual([
    { name: 'location', value: '/v1/files' },
    { name: 'content-length', value: '0' },
  ])
})

test('header lines come back in order, letter case and number', async () => {
  const server = await rawServer(({ socket }) =>
    socket.write(ok('', 'X-A: 1', 'x-a:2', 'X-B: caf\xe9'), 'latin1'),
  )
  const { headers } = answered(
    await transportTo(server).send(
      { method: 'GET', path: '/', headers: [] },
      { timeoutMs: patience },
    ),
  )
  expect(headers.slice(1).map(({ name, value }) => `${name}=${value}`)).toEqual([
    'X-A=1',
    'x-a=2',
    'X-B=caf\xe9',
  ])
})

test('times are on the monotonic clock, in order', async () => {
  const before = performance.now()
  const request = { method: 'GET', path: '/', headers: [] }
  const { sentAt, endedAt } = answered(
    await transportTo(await echo()).send(request, { timeoutMs: patience }),
  )
  expect(sentAt).toBeGreaterThanOrEqual(before)
  expect(endedAt).toBeGreaterThanOrEqual(sentAt)
  expect(performance.now()).toBeGreaterThanOrEqual(endedAt)
})

test('a base URL or a PEM text that cannot be used is the user’s mistake', () => {
  expect(() => createTransport({ baseUrl: 'ftp://x', connections: 1, bodyLimit: 1 })).toThrow(
    UserError,
  )
  expect(() => createTransport({ baseUrl: 'x', connections: 1, bodyLimit: 1 })).toThrow(UserError)
  expect(() =>
    createTransport({
      baseUrl: 'https://x',
      connections: 1,
      bodyLimit: 1,
      tls: { cert: 'x', key: 'y' },
    }),
  ).toThrow(UserError)
})
