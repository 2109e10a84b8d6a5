import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createHandlerTransport, type Handler } from '../../harness/http/handler-transport.ts'
import { inVirtualTime } from '../support/virtual-time.ts'
import type { SendOptions, HttpRequest, HttpResult } from '../../harness/http/message.ts'

const baseUrl = 'http://target.example/base'

function send(
  handle: Handler,
  request: Partial<HttpRequest> = {},
  options: Partial<SendOptions> = {},
) {
  const transport = createHandlerTransport({ handle, baseUrl, bodyLimit: 1000 })
  return transport.send(
    { method: 'GET', path: '/v1/files', headers: [], ...request },
    { timeoutMs: 5000, ...options },
  )
}

const text = (result: HttpResult): string =>
  result.kind === 'answer' ? Buffer.from(result.body).toString() : ''

/** A handler that answers with what it was asked. */
const echo: Handler = async (request) =>
  Response.json({
    line: `${request.method} ${request.url}`,
    headers: Object.fromEntries(request.headers),
    body: await request.text(),
  })

test('a request arrives as over a socket: its headers, host, length, and nothing else', async () => {
  const headers = [{ name: 'Content-Type', value: 'text/plain' }]
  expect(
    JSON.parse(
      text(await send(echo, { method: 'POST', path: '/v1/files?a=%20', headers, body: 'tea' })),
    ),
  ).toEqual({
    line: 'POST http://target.example/base/v1/files?a=%20',
    headers: {
      host: 'target.example',
      'content-type': 'text/plain',
      'content-length': '3',
      'user-agent': 'ai-content-conformance',
      accept: '*/*',
      'accept-encoding': 'gzip, deflate, br',
    },
    body: 'tea',
  })
})

test('an answer has its status, every header line, and its body without the encoding', async () => {
  const answer = await send(() => {
    const headers = new Headers({ 'content-encoding': 'gzip' })
    headers.append('set-cookie', 'a=1')
    headers.append('set-cookie', 'b=2')
    return new Response(gzipSync('tea'), { status: 418, headers })
  })
  expect(answer).toMatchObject({ kind: 'answer', status: 418, cut: false })
  expect(text(answer)).toBe('tea')
  const lines = answer.kind === 'answer' ? answer.headers : []
  expect(lines.filter(({ name }) => name === 'set-cookie').map(({ value }) => value)).toEqual([
    'a=1',
    'b=2',
  ])
})

test('a body is read up to the limit', async () => {
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(400)),
  })
  const answer = await send(() => new Response(endless))
  expect(answer).toMatchObject({ kind: 'answer', cut: true })
  expect(text(answer)).toHaveLength(1000)
})

const never = new Promise<never>(() => undefined)
const halfABody = (): Response =>
  new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(3)) }))

test.each<[string, Handler, string]>([
  ['before the head', () => never, 'no answer within 30 ms'],
  [
    'inside the body',
    halfABody,
    'the answer did not end within 30 ms: 3 bytes of the body had arrived, and neither Content-Length nor chunks say where it ends',
  ],
])('a deadline that passes %s is reported', async (_, handle, message) => {
  const late = await inVirtualTime(() => send(handle, {}, { timeoutMs: 30 }))
  expect(late).toMatchObject({ kind: 'no-answer', cause: 'timeout', message })
})

test('a body that comes after the deadline is not read', async () => {
  const reasons: unknown[] = []
  const tooLate: Handler = async () => {
    await new Promise((resolve) => setTimeout(resolve, 60))
    return new Response(new ReadableStream({ cancel: (reason) => void reasons.push(reason) }))
  }
  await inVirtualTime(async () => {
    await send(tooLate, {}, { timeoutMs: 30 })
    await new Promise((resolve) => setTimeout(resolve, 100))
  })
  expect(reasons).toHaveLength(1)
})

test('an interrupt ends an exchange, and so does closing', async () => {
  const stop = new AbortController()
  const seen: AbortSignal[] = []
  const interrupted = send(
    (request) => (seen.push(request.signal), never),
    {},
    { signal: stop.signal },
  )
  stop.abort()
  expect(await interrupted).toMatchObject({ kind: 'no-answer', cause: 'aborted' })
  expect(seen[0]?.aborted).toBe(true)

  const transport = createHandlerTransport({
    handle: () => never,
    baseUrl,
    bodyLimit: 4 * 1024 * 1024,
  })
  const open = transport.send({ method: 'GET', path: '/', headers: [] }, { timeoutMs: 5000 })
  await transport.close()
  expect(await open).toMatchObject({ kind: 'no-answer', cause: 'aborted' })
})

test('a handler that throws closed the connection', async () => {
  const brokenOff = (): Response => {
    const reasons = [() => undefined, () => Promise.reject(new Error('gone'))]
    return new Response(new ReadableStream({ pull: () => reasons.pop()?.() }))
  }
  const message = 'the handler in this process failed: Error: gone'
  const lost = { kind: 'no-answer', cause: 'reset', staleConnection: false, message }
  const throwing = (): never => {
    throw new Error('gone')
  }
  expect(await send(() => Promise.reject(new Error('gone')))).toMatchObject(lost)
  expect(await send(throwing)).toMatchObject(lost)
  expect(await send(brokenOff)).toMatchObject({ ...lost, detail: 'cut-off' })
})

test('what cannot be a request is not sent', async () => {
  const result = await send(echo, { headers: [{ name: 'a b', value: 'c' }] })
  expect(result).toMatchObject({ kind: 'no-answer', cause: 'refused' })
})

test('a deadline does not pass while this process stands still: an answer may lie there', async () => {
  const later: Handler = async () => {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
    return new Response('tea')
  }
  // More than three turns of the event loop take, less than the time for which the process stands still.
  const sent = send(later, {}, { timeoutMs: 400 })
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  expect(text(await sent)).toBe('tea')
})
