import { readFileSync } from 'node:fs'
import net from 'node:net'
import tls from 'node:tls'
import { expect, test } from 'vitest'
import type { TransportOptions } from '../../harness/http/message.ts'
import { type Served, get, listen, ok, textOf, unanswered, transportTo, patience } from './servers.ts'

/** For localhost and 127.0.0.1, signed by itself, valid to 2124. */
const cert = readFileSync(new URL('self-signed.cert.pem', import.meta.url), 'utf8')
const key = readFileSync(new URL('self-signed.key.pem', import.meta.url), 'utf8')

async function secure(options: tls.TlsOptions, serve: (socket: tls.TLSSocket) => void): Promise<Served> {
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

test('a certificate for another name is refused', async () => {
  const headers = [{ name: 'host', value: 'elsewhere.example' }]
  const transport = transportTo(await answering(), { tls: { ca: cert } })
  const failed = unanswered(await transport.send({ method: 'GET', path: '/', headers }, { timeoutMs: patience }))
  expect(failed.cause).toBe('tls')
  expect(failed.message).toMatch(/^certificate not accepted: .*elsewhere\.example.* \(ERR_TLS_CERT_ALTNAME_INVALID\)$/)
})

test.each(['TLSv1.2', 'TLSv1.3'] as const)('a client certificate is shown (%s)', async (version) => {
  const server = await answering({ requestCert: true, ca: cert, maxVersion: version, minVersion: version })
  expect(textOf(await get(transportTo(server, { tls: { ca: cert, cert, key } })))).toBe('x')
})

test('the lack of a client certificate is told as the server tells it', async () => {
  const server = await answering({ requestCert: true, ca: cert, maxVersion: 'TLSv1.2' })
  const failed = unanswered(await get(transportTo(server, { tls: { ca: cert } })))
  expect(failed).toMatchObject({ cause: 'tls', staleConnection: false })
  expect(failed.message).toMatch(/^TLS handshake failed: .* \([\w/]+\)$/)
})

test('a server that does not speak TLS', async () => {
  const server = await listen(
    net.createServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 x\r\n\r\n'))),
  )
  const failed = unanswered(await get(transportTo({ url: `https://127.0.0.1:${server.port}` })))
  expect(failed.cause).toBe('tls')
  expect(failed.message).toBe('that port does not speak TLS: does it serve http:// in place of https://?')
})

test('a server that hangs up, or says nothing, during the handshake', async () => {
  const closing = await listen(net.createServer((socket) => socket.once('data', () => socket.end())))
  const failed = unanswered(await get(transportTo({ url: `https://127.0.0.1:${closing.port}` })))
  expect(failed.cause).toBe('tls')
  const silent = await listen(net.createServer(() => {}))
  const missed = unanswered(await get(transportTo({ url: `https://127.0.0.1:${silent.port}` }), 100))
  expect(missed.cause).toBe('timeout')
  expect(missed.message).toMatch(/^no connection to 127\.0\.0\.1:\d+ within 100 ms$/)
  await new Promise((resolve) => {
    for (const socket of silent.sockets) socket.resume().on('close', resolve)
  })
})

test('a reused connection that closes is stale under TLS too, where closing costs bytes', async () => {
  const server = await secure({}, (socket) => {
    let count = 0
    socket.on('data', () => ((count += 1) === 1 ? socket.write(ok('x')) : socket.end()))
  })
  const transport = transportTo(server, { insecure: true })
  for (let time = 0; time < 3; time += 1) {
    expect(textOf(await get(transport))).toBe('x')
    expect(unanswered(await get(transport))).toMatchObject({ cause: 'reset', staleConnection: true })
  }
})

test('a server that speaks first is not connected to again and again', async () => {
  for (const bytes of ['what?\r\n', ok('unasked')]) {
    const server = await secure({}, (socket) => socket.end(bytes))
    await get(transportTo(server, { insecure: true }), 300)
    expect(server.sockets.length).toBeLessThan(4)
  }
})
