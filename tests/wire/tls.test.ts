import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import net from 'node:net'
import { remedyFor } from '../../harness/engine/gateway.ts'
import { explain } from '../../harness/http/no-response.ts'
import { createTransport } from '../../harness/http/transport.ts'
import { UserError } from '../../harness/user-error.ts'
import tls from 'node:tls'
import { expect, test } from 'vitest'
import type { TransportOptions } from '../../harness/http/message.ts'
import type { Listening } from '../support/raw-server.ts'
import { get, lines, listen, ok, pem, send, textOf, transportTo, unanswered } from './servers.ts'

const [cert, key] = [pem('cert'), pem('key')]
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

test('a certificate that signs itself is refused', async () => {
  const failed = unanswered(await get(transportTo(await answering())))
  expect(failed).toMatchObject({
    cause: 'tls',
    message: 'certificate not accepted: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
  })
})

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
    const failed = unanswered(await get(transportTo(server, { tls: { ca: cert } })))
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
  const untrusted = unanswered(await get(transportTo(server)))
  expect(untrusted.detail).toBe('untrusted')
  expect(remedyFor(untrusted, way)).toMatch(/tls\.ca in the target file \(or NODE_EXTRA_CA_CERTS\)/)
  expect(remedyFor(untrusted, { ...way, tls: { ca: 'another' } })).toMatch(
    /no authority in tls\.ca/,
  )
  const transport = transportTo(server, { tls: { ca: cert } })
  const misnamed = unanswered(await send(transport, elsewhere))
  const handshake = { host: 'x', secure: true, connected: false, bytes: 0, bodyBytes: 0 }
  const told = (code: string) => explain(Object.assign(new Error('x'), { code }), handshake)
  const certified = { tls: { cert, key } }
  for (const [failed, remedy, more] of [
    [{ detail: undefined, cause: 'malformed' }, /the port of an HTTP server/],
    [{ detail: 'nothing-came', cause: 'timeout' }, /increase limits\.timeoutMs/],
    [{ detail: undefined, cause: 'reset' }, /see which authority it trusts/, certified],
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
  [{ cert, key: cert }, 'tls.key contains no usable private key without a passphrase in PEM'],
  [
    { cert, key: encrypted() },
    'tls.key contains no usable private key without a passphrase in PEM',
  ],
  [{ cert, key: anotherKey() }, 'the files in tls cannot be used together: '],
])('a file of tls that cannot be used is named (%#)', (files, sentence) => {
  const transport = () =>
    createTransport({ baseUrl: 'https://x', connections: 1, bodyLimit: 1, tls: files! })
  expect(transport).toThrow(UserError)
  expect(transport).toThrow(sentence)
})

function anotherKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
}

function encrypted(): string {
  const encoding = { type: 'pkcs8', format: 'pem', cipher: 'aes-128-cbc' } as const
  return createPrivateKey(key)
    .export({ ...encoding, passphrase: 'secret' })
    .toString()
}

test('a server that does not speak TLS', async () => {
  const server = await listen(
    net.createServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 x\r\n\r\n'))),
  )
  const failed = unanswered(await get(transportTo({ url: `https://127.0.0.1:${server.port}` })))
  expect(failed.cause).toBe('tls')
  expect(failed.message).toBe(
    'that port does not speak TLS: should the base URL begin with http://?',
  )
})

test('a server that hangs up, or says nothing, during the handshake', async () => {
  const closing = await listen(
    net.createServer((socket) => socket.once('data', () => socket.end())),
  )
  const failed = unanswered(await get(transportTo({ url: `https://127.0.0.1:${closing.port}` })))
  expect(failed.cause).toBe('tls')
  const silent = await listen(net.createServer(() => {}))
  const missed = unanswered(
    await get(transportTo({ url: `https://127.0.0.1:${silent.port}` }), 100),
  )
  expect(missed.cause).toBe('timeout')
  expect(missed.message).toMatch(/^no connection to 127\.0\.0\.1:\d+ within 100 ms$/)
  await new Promise((resolve) => {
    for (const socket of silent.sockets) socket.resume().on('close', resolve)
  })
})

test('a server that speaks first is not connected to again and again', async () => {
  for (const bytes of ['what?\r\n', ok('unasked')]) {
    const server = await secure({}, (socket) => socket.end(bytes))
    await get(transportTo(server, { insecure: true }), 300)
    expect(server.sockets.length).toBeLessThan(4)
  }
})
