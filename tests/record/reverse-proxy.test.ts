/** Traffic arrives through the proxy as it was, when it was sent; what was seen of it is told when it is over. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createForwarder } from '../../harness/http/forwarder.ts'
import type { CapturedExchange } from '../../traffic/record/reverse-proxy.ts'
import { startReverseProxy, type ProxyOptions } from '../../traffic/record/reverse-proxy.ts'
import { listen, pem } from '../wire/servers.ts'

interface Proxied {
  readonly url: string
  /** The exchanges that are over; resolves when there are so many. */
  over(count: number): Promise<CapturedExchange[]>
}

async function proxyTo(
  baseUrl: string,
  options: Partial<ProxyOptions> & { ca?: string } = {},
): Promise<Proxied> {
  const { ca, ...rest } = options
  const exchanges: CapturedExchange[] = []
  let look: () => void = () => undefined
  const forwarder = createForwarder({ baseUrl, ...(ca !== undefined && { tls: { ca } }) })
  const onExchange = (exchange: CapturedExchange): void => {
    exchanges.push(exchange)
    look()
  }
  const proxy = await startReverseProxy({
    ...{ baseUrl, forwarder, bodyLimit: 1024 * 1024, port: 0, room: () => undefined, onExchange },
    ...rest,
  })
  onTestFinished(() => proxy.close())
  return {
    url: proxy.url,
    over: (count) =>
      new Promise((resolve) => {
        look = () => exchanges.length >= count && resolve(exchanges)
        look()
      }),
  }
}

const upstream = (answer: http.RequestListener) => listen(http.createServer(answer))
const bodyOf = async (request: http.IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Sends a request as it stands, without the help of fetch. */
function send(url: string, options: http.RequestOptions = {}, body?: string | Buffer) {
  const request = http.request(url, { agent: false, ...options })
  request.end(body)
  return new Promise<{
    status: number
    headers: http.IncomingHttpHeaders
    raw: string[]
    body: Buffer
  }>((resolve, reject) => {
    request.on('error', reject).on('response', (response) => {
      const { statusCode: status = 0, headers, rawHeaders: raw } = response
      bodyOf(response).then((read) => resolve({ status, headers, raw, body: read }), reject)
    })
  })
}

test('a request goes on with its method, path, query, headers and body, and so does the answer', async () => {
  const seen: { line: string; raw: string[]; body: string }[] = []
  const server = await upstream((request, response) => {
    void bodyOf(request).then((body) => {
      seen.push({
        line: `${request.method} ${request.url}`,
        raw: request.rawHeaders,
        body: body.toString(),
      })
      response.sendDate = false
      const headers = [
        'Content-Type',
        'text/x',
        'Set-Cookie',
        'a=1',
        'set-cookie',
        'b=2',
        'Keep-Alive',
        'timeout=9',
      ]
      response
        .writeHead(418, 'Short and stout', [...headers, 'X-Hop', '1', 'Connection', 'X-Hop'])
        .end('tea')
    })
  })
  const { url, over } = await proxyTo(`${server.url}/base`)
  const sent = {
    'X-Case': 'Kept',
    cookie: 'a=1',
    connection: 'x-gone',
    'x-gone': '1',
    te: 'trailers',
  }
  const { status, raw, body } = await send(
    `${url}/v1/a%20b?x=1&x=2`,
    { method: 'PUT', headers: sent },
    'über',
  )
  expect({ status, body: body.toString() }).toEqual({ status: 418, body: 'tea' })
  expect(raw.slice(0, 6)).toEqual([
    'Content-Type',
    'text/x',
    'Set-Cookie',
    'a=1',
    'set-cookie',
    'b=2',
  ])
  expect(raw.join().toLowerCase()).not.toContain('x-hop')
  expect(seen).toMatchObject([{ line: 'PUT /base/v1/a%20b?x=1&x=2', body: 'über' }])
  expect(seen[0]!.raw.slice(0, 2)).toEqual(['host', new URL(server.url).host])
  expect(seen[0]!.raw).toEqual(expect.arrayContaining(['X-Case', 'Kept', 'cookie', 'a=1']))
  expect(seen[0]!.raw.join().toLowerCase()).not.toMatch(/x-gone|trailers/)
  const [exchange] = await over(1)
  expect(exchange).toMatchObject({
    method: 'PUT',
    url: `${server.url}/base/v1/a%20b?x=1&x=2`,
    status: 418,
  })
  expect(Buffer.from(exchange!.requestBody.bytes).toString()).toBe('über')
  expect(Buffer.from(exchange!.body.bytes).toString()).toBe('tea')
})

test('a stream arrives piece by piece, in both directions', async () => {
  let answer: http.ServerResponse | undefined
  const server = await upstream((request, response) => {
    answer = response
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    // Each piece that comes is answered before the next is sent.
    request.on('data', (chunk: Buffer) => response.write(`got ${chunk.toString()}`))
    request.on('end', () => response.end('bye'))
  })
  const { url, over } = await proxyTo(server.url)
  const request = http.request(`${url}/v1/x`, { method: 'POST', agent: false })
  request.write('one')
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  expect(String(((await once(response, 'data')) as [Buffer])[0])).toBe('got one')
  request.write('two')
  expect(String(((await once(response, 'data')) as [Buffer])[0])).toBe('got two')
  request.end()
  expect((await bodyOf(response)).toString()).toBe('bye')
  expect(answer!.req.headers['transfer-encoding']).toBe('chunked')
  expect(Buffer.from((await over(1))[0]!.body.bytes).toString()).toBe('got onegot twobye')
})

test('of a long body the first bytes are kept, and its length and digest; all of it goes on', async () => {
  const long = Buffer.alloc(3_000_000, 'upload ')
  const digest = createHash('sha256').update(long).digest('hex')
  const server = await upstream((request, response) => {
    void bodyOf(request).then((body) => response.end(body))
  })
  const { url, over } = await proxyTo(server.url, { bodyLimit: 1000 })
  const { body } = await send(`${url}/v1/files`, { method: 'POST' }, long)
  expect(body.equals(long)).toBe(true)
  const [{ requestBody, body: received } = { requestBody: undefined, body: undefined }] =
    await over(1)
  for (const kept of [requestBody!, received!]) {
    expect(kept).toMatchObject({ length: long.length, sha256: digest, ended: true })
    expect(Buffer.from(kept.bytes).equals(long.subarray(0, 1000))).toBe(true)
  }
})

test('one connection carries many requests on either side', async () => {
  const server = await upstream((_, response) => response.end('x'))
  const { url, over } = await proxyTo(server.url)
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  for (let at = 0; at < 5; at++) await send(`${url}/v1/${at}`, { agent })
  expect(await over(5)).toHaveLength(5)
  expect(Object.values(agent.freeSockets).flat()).toHaveLength(1)
  expect(server.sockets).toHaveLength(1)
})

test('a request that the client breaks off is broken off at the target, and told as such', async () => {
  const closed = new Promise<void>((resolve) => {
    void upstream((request, response) => {
      response.write('begun')
      request.once('close', resolve)
    }).then(async (server) => {
      const { url, over } = await proxyTo(server.url)
      const request = http.get(`${url}/v1/x`, { agent: false }).on('error', () => undefined)
      const [response] = (await once(request, 'response')) as [http.IncomingMessage]
      await once(
        response.on('error', () => undefined),
        'data',
      )
      request.destroy()
      const [exchange] = await over(1)
      expect(exchange).toMatchObject({
        status: 200,
        error: 'the client broke it off',
        body: { ended: false },
      })
    })
  })
  await closed
})

test('a target that is not there, or breaks off, is told to the client and recorded without an answer', async () => {
  const gone = await listen(net.createServer((socket) => socket.destroy()))
  const down = await proxyTo('http://127.0.0.1:9')
  const { status, body } = await send(`${down.url}/v1/files`)
  expect({ status, body: body.toString() }).toEqual({
    status: 502,
    body: expect.stringMatching(
      /^conform record: http:\/\/127\.0\.0\.1:9 gave no answer: .*refused/,
    ) as string,
  })
  expect((await down.over(1))[0]).toMatchObject({
    status: 0,
    error: expect.stringContaining('refused') as string,
  })
  const broken = await proxyTo(gone.url)
  expect((await send(`${broken.url}/v1/files`, { method: 'POST' }, 'x')).status).toBe(502)
  const half = await upstream((_, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('half')
    setImmediate(() => response.destroy())
  })
  const cut = await proxyTo(half.url)
  await expect(send(`${cut.url}/v1/x`)).rejects.toThrow(/aborted|ECONNRESET/)
  expect((await cut.over(1))[0]).toMatchObject({ status: 200, body: { ended: false } })
})

test('a retrieval on a connection that the target closes at that moment is sent once more, a creation is not', async () => {
  const asked = new Map<net.Socket, number>()
  let creations = 0
  const server = await upstream(({ method, socket }, response) => {
    asked.set(socket, (asked.get(socket) ?? 0) + 1)
    if (method === 'POST') creations++
    if (asked.get(socket) === 2 || method === 'POST') socket.destroy()
    else response.end('x')
  })
  const { url, over } = await proxyTo(server.url)
  await send(`${url}/v1/1`)
  expect((await send(`${url}/v1/2`)).status).toBe(200)
  expect((await send(`${url}/v1/3`, { method: 'POST' })).status).toBe(502)
  expect(creations).toBe(1)
  expect((await over(3)).map(({ status }) => status)).toEqual([200, 200, 0])
})

test('answers without a body, and compressed ones, arrive as they are', async () => {
  const packed = gzipSync('{"a": 1}')
  const server = await upstream((request, response) => {
    if (request.url === '/v1/none') response.writeHead(204).end()
    else if (request.method === 'HEAD') response.writeHead(200, { 'content-length': '99' }).end()
    else
      response
        .writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length })
        .end(packed)
  })
  const { url } = await proxyTo(server.url)
  expect((await send(`${url}/v1/none`)).status).toBe(204)
  expect((await send(`${url}/v1/x`, { method: 'HEAD' })).headers['content-length']).toBe('99')
  const { body, headers } = await send(`${url}/v1/x`)
  expect(headers['content-encoding']).toBe('gzip')
  expect(body.equals(packed)).toBe(true)
})

test('a redirect to the target leads to the proxy, any other where it did', async () => {
  const server = await upstream((request, response) => {
    const { host } = request.headers
    const to = request.url === '/base/own' ? `http://${host}/base/v1/next` : 'https://example.com/'
    response.writeHead(307, { location: to }).end()
  })
  const { url, over } = await proxyTo(`${server.url}/base`)
  expect((await send(`${url}/own`)).headers.location).toBe(`${url}/v1/next`)
  expect((await send(`${url}/other`)).headers.location).toBe('https://example.com/')
  const [first] = await over(2)
  expect(first!.headers).toContainEqual({ name: 'location', value: `${server.url}/base/v1/next` })
})

test('a target with TLS is asked by its certificate authority, and not without', async () => {
  const options = { cert: pem('cert'), key: pem('key') }
  const { port } = await listen(
    https.createServer(options, (_, response) => response.end('secure')),
  )
  const baseUrl = `https://127.0.0.1:${port}`
  const trusted = await proxyTo(baseUrl, { ca: pem('cert') })
  expect((await send(`${trusted.url}/v1/x`)).body.toString()).toBe('secure')
  const distrusted = await proxyTo(baseUrl)
  const { status, body } = await send(`${distrusted.url}/v1/x`)
  expect({ status, body: body.toString() }).toMatchObject({
    status: 502,
    body: expect.stringContaining('certificate not accepted') as string,
  })
})

test('a proxy of the environment is gone through', async () => {
  const asked: string[] = []
  const between = await upstream((request, response) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization']}`)
    response.end('through')
  })
  vi.stubEnv('http_proxy', between.url.replace('http://', 'http://me:word@'))
  vi.stubEnv('no_proxy', '')
  vi.stubEnv('NO_PROXY', '')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { url, over } = await proxyTo('http://target.test/base')
  expect((await send(`${url}/v1/files?a=b`)).body.toString()).toBe('through')
  expect(asked).toEqual(['http://target.test/base/v1/files?a=b Basic bWU6d29yZA=='])
  expect((await over(1))[0]!.url).toBe('http://target.test/base/v1/files?a=b')
})

test('no request is handed on while what was recorded takes too much room', async () => {
  const server = await upstream((_, response) => response.end('x'))
  let free: () => void = () => undefined
  let room: Promise<void> | undefined = new Promise((resolve) => (free = resolve))
  const { url } = await proxyTo(server.url, { room: () => room })
  const answered = send(`${url}/v1/x`)
  // A request that waits for nothing goes through meanwhile.
  const other = await proxyTo(server.url)
  await send(`${other.url}/v1/y`)
  expect(server.sockets).toHaveLength(1)
  room = undefined
  free()
  expect((await answered).status).toBe(200)
})
