import net from 'node:net'
import tls from 'node:tls'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { proxyFor, createTransport } from '../../harness/http/transport.ts'
import { UserError } from '../../harness/user-error.ts'
import { type Behaviour, type Listening, serving } from '../support/raw-server.ts'
import {
  get,
  lines,
  listen,
  ok,
  pem,
  rawServer,
  send,
  textOf,
  unanswered,
  transportTo,
} from './servers.ts'

const variables = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']

beforeEach(() => {
  for (const name of variables) vi.stubEnv(name, undefined)
})
afterEach(() => {
  vi.unstubAllEnvs()
})

/** Opens tunnels to one server, whatever host they ask for. */
async function tunnels(to: Listening): Promise<Listening & { asked: string[] }> {
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

const secureServer = (answer: Behaviour) =>
  listen(tls.createServer({ cert: pem('cert'), key: pem('key') }, serving(answer)))

const secureEcho = () => secureServer(({ text, socket }) => socket.write(ok(text), 'latin1'))

const echo = () => rawServer(({ text, socket }) => socket.write(ok(text), 'latin1'))

test('an http target is asked for in absolute form, many times on one connection', async () => {
  const asked: string[] = []
  const proxy = await rawServer(({ text, socket }) => {
    asked.push(text)
    socket.write(ok('x'))
  })
  vi.stubEnv('HTTP_PROXY', proxy.url.replace('http://', 'http://us%40er:pass@'))
  const transport = transportTo({ url: 'http://target.example:8080/base' })
  const headers = lines(['x-two', '1'], ['x-two', '2'])
  const request = { method: 'POST', path: '/v1/x?a=1', headers, body: '{}' }
  for (let time = 0; time < 2; time++) expect(textOf(await send(transport, request))).toBe('x')
  expect(proxy.sockets).toHaveLength(1)
  for (const text of asked) {
    const [first, ...rest] = text.split('\r\n')
    expect(first).toBe('POST http://target.example:8080/base/v1/x?a=1 HTTP/1.1')
    const credentials = `proxy-authorization: Basic ${Buffer.from('us@er:pass').toString('base64')}`
    expect(rest).toEqual(
      expect.arrayContaining(['host: target.example:8080', credentials, 'x-two: 1', 'x-two: 2']),
    )
    expect(rest.filter((line) => /^host:/i.test(line))).toHaveLength(1)
  }
})

test('an https target is asked for through a tunnel, and the proxy sees no header of it', async () => {
  const proxy = await tunnels(await secureEcho())
  vi.stubEnv('HTTPS_PROXY', proxy.url.replace('http://', 'http://user@'))
  vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:1')
  const transport = transportTo({ url: 'https://target.example/base' }, { insecure: true })
  const request = { path: '/v1/x', headers: lines(['x-a', '1']) }
  const [first, ...rest] = textOf(await send(transport, request)).split('\r\n')
  expect(first).toBe('GET /base/v1/x HTTP/1.1')
  expect(rest).toEqual(expect.arrayContaining(['host: target.example', 'x-a: 1']))
  expect(rest.join()).not.toContain('proxy-authorization')
  await send(transport, request)
  expect(proxy.asked).toHaveLength(1)
  const [connect = ''] = proxy.asked
  expect(connect.split('\r\n')[0]).toBe('CONNECT target.example:443 HTTP/1.1')
  expect(connect).toContain(`proxy-authorization: Basic ${Buffer.from('user:').toString('base64')}`)
  expect(connect).not.toContain('x-a')
})

test.each(['localhost', '127.0.0.1'])('no proxy is used for %s', async (host) => {
  const { port } = await echo()
  vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:1')
  vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:1')
  expect(textOf(await get(transportTo({ url: `http://${host}:${port}` })))).toContain(
    `host: ${host}:${port}`,
  )
})

test.each([
  ['*', 'http://target.example', false],
  ['other.example, target.example', 'http://target.example', false],
  ['.target.example', 'http://target.example', false],
  ['*.target.example', 'http://a.target.example:8080', false],
  ['target.example', 'http://a.b.target.example', false],
  ['TARGET.example', 'http://Target.Example.', false],
  ['get.example', 'http://target.example', true],
  ['target.example:8080', 'http://target.example:8080', false],
  ['target.example:8080', 'http://target.example', true],
  ['target.example:443', 'https://target.example', false],
  ['10.0.0.0/8 192.0.2.7', 'http://10.9.8.7', false],
  ['10.0.0.0/8 192.0.2.7', 'http://192.0.2.7', false],
  ['10.0.0.0/8,192.0.2.7', 'http://192.0.2.8', true],
  ['0.2.7', 'http://192.0.2.7', true],
  ['[2001:db8::1]:80,2001:db8:1::/48', 'http://[2001:db8::1]', false],
  ['2001:db8:1::/48', 'http://[2001:db8:1::9]', false],
  ['2001:db8:1::/48', 'http://[2001:db8:2::9]', true],
  ['10.0.0.0/99,10.0.0.0/x', 'http://10.0.0.1', true],
])('NO_PROXY=%s, %s: through the proxy %s', (excepted, target, isProxied) => {
  vi.stubEnv('HTTP_PROXY', 'http://user:secret@proxy.example:3128')
  vi.stubEnv('https_proxy', 'http://proxy.example')
  vi.stubEnv('NO_PROXY', excepted)
  const isTls = target.startsWith('https')
  const proxy = isTls
    ? { host: 'proxy.example', variable: 'https_proxy' }
    : { host: 'proxy.example:3128', variable: 'HTTP_PROXY' }
  expect(proxyFor(target)).toEqual(isProxied ? expect.objectContaining(proxy) : undefined)
})

test('each scheme has a variable of its own', () => {
  vi.stubEnv('HTTP_PROXY', 'http://proxy.example')
  expect(proxyFor('https://target.example')).toBeUndefined()
})

test('a reused tunnel that breaks is stale', async () => {
  const proxy = await tunnels(
    await secureServer(({ count, socket }) => (count === 1 ? socket.write(ok('x')) : socket.end())),
  )
  vi.stubEnv('HTTPS_PROXY', proxy.url)
  const transport = transportTo({ url: 'https://target.example' }, { insecure: true })
  for (let time = 0; time < 3; time += 1) {
    expect(textOf(await get(transport))).toBe('x')
    expect(unanswered(await get(transport))).toMatchObject({
      cause: 'reset',
      staleConnection: true,
    })
  }
})

const answering = (head: string) =>
  rawServer(({ socket }) => socket.write(`HTTP/1.1 ${head}\r\ncontent-length: 0\r\n\r\n`))

describe.each(['http', 'https'])(
  'a proxy before an %s target is named with its variable',
  (scheme) => {
    const variable = `${scheme.toUpperCase()}_PROXY`
    const target = () => transportTo({ url: `${scheme}://target.example` })
    const through = (proxy: Listening, user = ''): string => {
      vi.stubEnv(variable, proxy.url.replace('http://', `http://${user}`))
      return `the proxy ${new URL(proxy.url).host} (${variable})`
    }
    const said = async () => unanswered(await get(target()))

    test('if it wants credentials', async () => {
      const proxy = await answering('407 No')
      const name = through(proxy)
      const { host } = new URL(proxy.url)
      expect(await said()).toMatchObject({
        cause: 'refused',
        message: `${name} requires credentials (407): set ${variable} to http://user:password@${host}`,
      })
      through(proxy, 'user:secret@')
      expect((await said()).message).toBe(
        `${name} does not accept the credentials in ${variable} (407)`,
      )
    })

    test('if it refuses the connection, or hangs up', async () => {
      vi.stubEnv(variable, 'http://user:secret@127.0.0.1:1')
      expect(await said()).toMatchObject({
        cause: 'refused',
        message: `the proxy 127.0.0.1:1 (${variable}) cannot be used: connection refused at 127.0.0.1:1`,
      })
      const closing = await rawServer(({ socket }) => socket.destroy())
      const name = through(closing)
      if (scheme === 'https') expect((await said()).message).toMatch(`${name} cannot be used: `)
    })

    test('if it is silent', async () => {
      const silent = await listen(net.createServer(() => undefined))
      const name = through(silent)
      const { cause, message } = unanswered(await get(target(), 100))
      expect(cause).toBe('timeout')
      if (scheme === 'https')
        expect(message).toBe(`no connection to target.example through ${name} within 100 ms`)
      await new Promise((resolve) => {
        for (const socket of silent.sockets) socket.resume().on('close', resolve)
      })
    })
  },
)

test.each([
  ['403 Filtered', 'does not let requests through to target.example: it answered 403'],
  ['502 Bad Gateway', 'could not reach target.example: it answered 502'],
])('a proxy that answers %s to CONNECT', async (head, sentence) => {
  const proxy = await answering(head)
  vi.stubEnv('HTTPS_PROXY', proxy.url)
  const { cause, message } = unanswered(await get(transportTo({ url: 'https://target.example' })))
  expect(cause).toBe('refused')
  expect(message).toBe(
    `the proxy ${new URL(proxy.url).host} (HTTPS_PROXY) ${sentence}; NO_PROXY=target.example bypasses it`,
  )
})

test('a proxy that is not a URL is the user’s mistake, and is not repeated', () => {
  vi.stubEnv('HTTPS_PROXY', 'se:cret@@:')
  const transport = () =>
    createTransport({ baseUrl: 'https://target.example', connections: 1, bodyLimit: 1 })
  expect(transport).toThrow(UserError)
  expect(transport).toThrow(/^HTTPS_PROXY is not/)
})
