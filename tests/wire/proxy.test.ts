import net from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { UserError } from '../../harness/user-error.ts'
import { createTransport } from '../../harness/http/transport.ts'
import { type Served, get, listen, ok, rawServer, textOf, unanswered, transportTo, patience } from './servers.ts'

const variables = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']

beforeEach(() => {
  for (const name of variables) vi.stubEnv(name, undefined)
})
afterEach(() => {
  vi.unstubAllEnvs()
})

/** Opens tunnels to one server, whatever host they ask for. */
async function tunnels(to: Served): Promise<Served & { asked: string[] }> {
  const asked: string[] = []
  const proxy = await rawServer(({ text, socket }) => {
    asked.push(text)
    const onward = net.connect(to.port, '127.0.0.1', () => {
      socket.removeAllListeners('data')
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    onward.on('error', () => socket.destroy())
    socket.on('error', () => onward.destroy())
  })
  return { ...proxy, asked }
}

const echo = () => rawServer(({ text, socket }) => socket.write(ok(text), 'latin1'))

test('HTTP_PROXY is used, with one tunnel for many exchanges', async () => {
  const proxy = await tunnels(await echo())
  vi.stubEnv('HTTP_PROXY', proxy.url)
  const transport = transportTo({ url: 'http://target.example:8080/base' })
  const headers = [
    { name: 'x-two', value: '1' },
    { name: 'x-two', value: '2' },
  ]
  const send = () => transport.send({ method: 'POST', path: '/v1/x', headers, body: '{}' }, { timeoutMs: patience })
  const lines = textOf(await send()).split('\r\n')
  expect(lines[0]).toBe('POST /base/v1/x HTTP/1.1')
  expect(lines).toEqual(expect.arrayContaining(['host: target.example:8080', 'x-two: 1', 'x-two: 2']))
  await send()
  expect(proxy.asked.map((text) => text.split('\r\n', 1)[0])).toEqual(['CONNECT target.example:8080 HTTP/1.1'])
  expect(proxy.asked.join()).not.toContain('x-two')
})

test.each(['localhost', '127.0.0.1'])('no proxy stands before %s', async (host) => {
  const { port } = await echo()
  vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:1')
  vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:1')
  expect(textOf(await get(transportTo({ url: `http://${host}:${port}` })))).toContain(`host: ${host}:${port}`)
})

test('NO_PROXY is honoured', async () => {
  const proxy = await tunnels(await echo())
  vi.stubEnv('HTTP_PROXY', proxy.url)
  vi.stubEnv('NO_PROXY', 'other.invalid,.target.invalid')
  expect(unanswered(await get(transportTo({ url: 'http://a.target.invalid' }))).message).toMatch(
    /^host not found: a\.target/,
  )
  expect(proxy.asked).toEqual([])
})

test('a reused tunnel that breaks is stale', async () => {
  const proxy = await tunnels(
    await rawServer(({ count, socket }) => (count === 1 ? socket.write(ok('x')) : socket.end())),
  )
  vi.stubEnv('HTTP_PROXY', proxy.url)
  const transport = transportTo({ url: 'http://target.example' })
  for (let time = 0; time < 3; time += 1) {
    expect(textOf(await get(transport))).toBe('x')
    expect(unanswered(await get(transport))).toMatchObject({ cause: 'reset', staleConnection: true })
  }
})

test('a proxy that refuses, is absent, or is silent', async () => {
  const transport = () => transportTo({ url: 'https://target.example' })
  const refusing = await rawServer(({ socket }) => socket.write('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n'))
  vi.stubEnv('HTTPS_PROXY', refusing.url)
  const refused = unanswered(await get(transport()))
  expect([refused.cause, refused.message]).toEqual(['refused', expect.stringContaining('407')])

  vi.stubEnv('HTTPS_PROXY', 'http://user:secret@127.0.0.1:1')
  expect(unanswered(await get(transport()))).toMatchObject({
    cause: 'refused',
    message: 'connection refused at 127.0.0.1:1',
  })

  const silent = await listen(net.createServer(() => {}))
  vi.stubEnv('HTTPS_PROXY', silent.url)
  expect(unanswered(await get(transport(), 100))).toMatchObject({ cause: 'timeout' })
  await new Promise((resolve) => {
    for (const socket of silent.sockets) socket.resume().on('close', resolve)
  })
})

test('a proxy that is no URL is the user’s mistake, and is not repeated', () => {
  vi.stubEnv('HTTPS_PROXY', 'se:cret@@:')
  expect(() => createTransport({ baseUrl: 'https://target.example', connections: 1, bodyLimit: 1 })).toThrow(UserError)
  expect(() => createTransport({ baseUrl: 'https://target.example', connections: 1, bodyLimit: 1 })).toThrow(
    /^HTTPS_PROXY is not/,
  )
})
