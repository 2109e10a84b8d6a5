import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import net from 'node:net'
import { remedyFor } from '../../harness/client/liveness.ts'
import { explain, type TransportOptions } from '../../harness/http/message.ts'
import { createTransport } from '../../harness/http/transport.ts'
import { UserError } from '../../harness/user-error.ts'
import tls from 'node:tls'
import { expect, test } from 'vitest'
import type { Listening } from '../support/raw-server.ts'
import {
  get,
  lines,
  listen,
  lost,
  ok,
  pem,
  send,
  textOf,
  transportTo,
  unanswered,
} from './servers.ts'

const [cert, key] = [pem('cert'), pem('key')]
const pkcs8 = { type: 'pkcs8', format: 'pem' } as const
const anotherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export(pkcs8)
  .toString()
const encrypted = createPrivateKey(key)
  .export({ ...pkcs8, cipher: 'aes-128-cbc', passphrase: 'secret' })
  .toString()
const noKey = 'tls.key contains no usable private key without a passphrase in PEM'
const elsewhere = { headers: lines(['host', 'elsewhere.example']) }

async function secure(
  options: tls.TlsOptions,
  serve: (socket: tls.TLSSocket) => void,
): Promise<Listening> {
  const server = tls.createServer({ cert, key, ...options }, (socket) => {
    socket.on('error', () => {})
    serve(socket)
  })
  const served = await listen(server)
  return { ...served, url: served.url.replace('http', 'https') }
}

const answering = (options: tls.TlsOptions = {}) =>
  secure(options, (socket) => socket.on('data', () => socket.write(ok('x'))))

test.each<[string, Partial<TransportOptions>]>([
  ['insecure', { insecure: true }],
  ['its certificate authority', { tls: { ca: cert } }],
])('it is accepted with %s, and the connection is kept', async (_, options) => {
  const server = await answering()
  const transport = transportTo(server, options)
  expect(textOf(await get(transport))).toBe('x')
  expect(textOf(await get(transport))).toBe('x')
  expect(server.sockets).toHaveLength(1)
})

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a client certificate is shown, and the lack of it told as the server tells it (%s)',
  async (version) => {
    const versions = { maxVersion: version, minVersion: version }
    const server = await answering({ requestCert: true, ca: cert, ...versions })
    expect(textOf(await get(transportTo(server, { tls: { ca: cert, cert, key } })))).toBe('x')
    const failed = await lost(server, undefined, { tls: { ca: cert } })
    expect(failed.staleConnection).toBe(false)
    // In TLS 1.3 the alert comes after the handshake, and may be lost when the server closes.
    if (version === 'TLSv1.2')
      expect(failed.message).toMatch(/^TLS handshake failed: .* \([\w/]+\)$/)
    const way = { baseUrl: server.url, tls: { ca: cert } }
    expect(remedyFor(failed, way)).toContain('declare tls.cert and tls.key in the target file')
  },
)

test('each reason not to accept a certificate has a remedy of its own', async () => {
  const server = await answering()
  const way = { baseUrl: server.url, tls: {} }
  const untrusted = await lost(server)
  expect(untrusted).toMatchObject({
    cause: 'tls',
    detail: 'untrusted',
    message: 'certificate not accepted: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
  })
  expect(remedyFor(untrusted, way)).toMatch(/tls\.ca in the target file \(or NODE_EXTRA_CA_CERTS\)/)
  expect(remedyFor(untrusted, { ...way, tls: { ca: 'another' } })).toMatch(
    /no authority in tls\.ca/,
  )
  const transport = transportTo(server, { tls: { ca: cert } })
  const misnamed = unanswered(await send(transport, elsewhere))
  const handshake = { host: 'x', secure: true, connected: false, bytes: 0, bodyBytes: 0 }
  const told = (code: string) => explain(Object.assign(new Error('x'), { code }), handshake)
  const certified = { tls: { cert, key } }
  const proxied = { proxy: { host: 'proxy.example', variable: 'HTTPS_PROXY', origin: '' } }
  for (const [failed, remedy, more] of [
    [{ detail: undefined, cause: 'malformed' }, /the port of an HTTP server/],
    [{ detail: 'nothing-came', cause: 'timeout' }, /increase limits\.timeoutMs/],
    [{}, /^; correct it, or accept any certificate with --insecure$/],
    [told('CERT_HAS_EXPIRED'), /^; correct it, or accept/],
    [{ detail: undefined, cause: 'reset' }, /see which authority it trusts/, certified],
    [
      { detail: undefined, cause: 'malformed' },
      /server\?; requests go through the proxy proxy\.example \(HTTPS_PROXY\); NO_PROXY=127\.0\.0\.1 by/,
      proxied,
    ],
    // The message names the proxy itself.
    [{ detail: undefined, cause: 'refused' }, /^$/, proxied],
    [
      told('ERR_SSL_TLSV1_ALERT_UNKNOWN_CA'),
      /does not accept the client certificate in tls\.cert/,
      certified,
    ],
  ] as [object, RegExp, object?][])
    expect(remedyFor({ ...misnamed, ...failed }, { ...way, ...more })).toMatch(remedy)
})

test.each<[TransportOptions['tls'], string]>([
  [{ ca: 'no pem' }, 'tls.ca contains no usable certificate in PEM'],
  [{ cert: key, key }, 'tls.cert contains no usable certificate in PEM'],
  [{ cert, key: cert }, noKey],
  [{ cert, key: encrypted }, noKey],
  [{ cert, key: anotherKey }, 'the files in tls cannot be used together: '],
])('a file of tls that cannot be used is named (%#)', (files, sentence) => {
  const transport = () =>
    createTransport({ baseUrl: 'https://x', connections: 1, bodyLimit: 1, tls: files! })
  expect(transport).toThrow(UserError)
  expect(transport).toThrow(sentence)
})

/** What a request over TLS comes to at a server that treats its sockets so. */
const refusedBy = async (serve: (socket: net.Socket) => void, timeoutMs?: number) => {
  const server = await listen(net.createServer(serve))
  return lost({ url: server.url.replace('http', 'https') }, timeoutMs)
}

test.each<[string, string, (socket: net.Socket) => void, string]>([
  [
    'does not speak TLS',
    'tls',
    (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 x\r\n\r\n')),
    'that port does not speak TLS: should the base URL begin with http://?',
  ],
  ['hangs up during the handshake', 'tls', (socket) => socket.once('data', () => socket.end()), ''],
  [
    'says nothing',
    'timeout',
    (socket) => socket.resume(),
    'no connection to 127.0.0.1:\\d+ within 300 ms',
  ],
])('a server that %s', async (_, cause, serve, message) => {
  const failed = await refusedBy(serve, cause === 'tls' ? undefined : 300)
  expect(failed.cause).toBe(cause)
  expect(failed.message).toMatch(new RegExp(message.replace('?', '\\?')))
})

test('a server that speaks first is not connected to again and again', async () => {
  for (const bytes of ['what?\r\n', ok('unasked')]) {
    const server = await secure({}, (socket) => socket.end(bytes))
    await get(transportTo(server, { insecure: true }), 300)
    expect(server.sockets.length).toBeLessThan(4)
  }
})
