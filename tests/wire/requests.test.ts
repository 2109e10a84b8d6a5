import { expect, test } from 'vitest'
import { UserError } from '../../harness/user-error.ts'
import { createTransport } from '../../harness/http/transport.ts'
import { answered, lines, ok, rawServer, send, textOf, transportTo, unanswered } from './servers.ts'

const echo = () => rawServer(({ text, socket }) => socket.write(ok(text), 'latin1'))
const echoed = async (request: Parameters<typeof send>[1]) =>
  send(transportTo(await echo()), request)

test('adds host, content-length, what keep-alive needs and what any client says of itself, and nothing else', async () => {
  const server = await echo()
  const headers = lines(['Authorization', 'Bearer a'], ['X-Two', '1'], ['X-Two', '2'])
  const request = { method: 'POST', path: '/v1/x', headers, body: 'é' }
  const sent = await send(transportTo(server), request)
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

test.each(['', undefined])('a POST with body %j says that its length is 0', async (body) => {
  expect(textOf(await echoed({ method: 'POST', body }))).toContain('\r\ncontent-length: 0\r\n')
})

test('bytes are sent as they are', async () => {
  const body = Uint8Array.from([0, 0xff, 0xc3, 0x28])
  const sent = answered(await echoed({ method: 'POST', body }))
  expect([...sent.body.slice(-4)]).toEqual([...body])
})

test.each(['', '/', '/base', '/base/'])(
  'the path follows the path of the base URL (%j)',
  async (base) => {
    const { url, ...server } = await echo()
    const transport = transportTo({ ...server, url: url + base })
    for (const path of ['/v1/a%2Fb/..//c?x=%zz&y={}|"', '/v1/files/é', '//twice'])
      expect(textOf(await send(transport, { path })).split(' ')[1]).toBe(
        base.replace(/\/$/, '') + path,
      )
  },
)

test('what cannot be put on the wire is said so, without header values', async () => {
  const transport = transportTo(await echo())
  for (const bad of [
    { path: '/a b' },
    { path: '/a\r\nx: y' },
    { path: 'v1' },
    { headers: lines(['transfer-encoding', 'secret']) },
    { headers: lines(['expect', 'secret']) },
    { headers: lines(['bad name', 'secret']) },
    { headers: lines(['x', 'secret\nsecret']) },
  ]) {
    const { cause, message } = unanswered(await send(transport, bad))
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
  const { status, headers } = answered(await send(transportTo(server)))
  expect(status).toBe(307)
  expect(headers).toEqual(lines(['location', '/v1/files'], ['content-length', '0']))
})

test('header lines come back in order, letter case and number', async () => {
  const server = await rawServer(({ socket }) =>
    socket.write(ok('', 'X-A: 1', 'x-a:2', 'X-B: caf\xe9'), 'latin1'),
  )
  const { headers } = answered(await send(transportTo(server)))
  expect(headers.slice(1)).toEqual(lines(['X-A', '1'], ['x-a', '2'], ['X-B', 'caf\xe9']))
})

test('a PEM text that cannot be used is the user’s mistake', () => {
  const options = { baseUrl: 'https://x', connections: 1, bodyLimit: 1 }
  expect(() => createTransport({ ...options, tls: { cert: 'x', key: 'y' } })).toThrow(UserError)
})
