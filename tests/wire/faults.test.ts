import { once } from 'node:events'
import net from 'node:net'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/raw-server.ts'
import {
  always,
  answered,
  get,
  listen,
  ok,
  rawServer,
  textOf,
  unanswered,
  transportTo,
} from './servers.ts'

/** Deadline of an exchange that is meant to miss it, in ms: what is to come before it comes within some 10 on an idle machine. */
const short = 1000

test('a port that nobody listens on refuses the connection', async () => {
  const port = await freePort()
  const failed = unanswered(await get(transportTo({ url: `http://127.0.0.1:${port}` })))
  expect(failed).toMatchObject({
    cause: 'refused',
    message: `connection refused at 127.0.0.1:${port}`,
  })
})

test('a host that does not exist is named', async () => {
  const failed = unanswered(await get(transportTo({ url: 'http://nowhere.invalid' }), 5000))
  expect(failed.cause).toBe('refused')
  expect(failed.message).toMatch(/^host not found: nowhere\.invalid \((ENOTFOUND|EAI_AGAIN)\)$/)
})

test('silence after the request is reported with its deadline', async () => {
  const failed = unanswered(await get(transportTo(await rawServer(() => {})), short))
  expect(failed).toMatchObject({
    cause: 'timeout',
    message: 'no answer within 1,000 ms',
    staleConnection: false,
  })
  // A machine may be busy; without the deadline it would take for ever.
  expect(failed.endedAt - failed.sentAt).toBeLessThan(short + 10_000)
})

test('a socket that is closed, or reset, as soon as it is open has given no answer', async () => {
  const closing = await listen(net.createServer((socket) => socket.end()))
  const resetting = await listen(net.createServer((socket) => socket.resetAndDestroy()))
  for (const server of [closing, resetting]) {
    const { cause, message, staleConnection } = unanswered(await get(transportTo(server)))
    expect(cause).toBe('reset')
    expect(message).toMatch(/^the connection was (closed|reset) before any byte of an answer$/)
    expect(staleConnection).toBe(false)
  }
})

test.each([
  ['words', 'Hello there, this is no HTTP\r\n\r\n'],
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['binary', Buffer.from([0x15, 3, 3, 0, 2, 2, 40])],
  ['an unknown version', 'HTTP/7.3 200 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a status of letters', 'HTTP/1.1 abc OK\r\n\r\n'],
  ['a header without colon', 'HTTP/1.1 200 OK\r\nno colon\r\n\r\n'],
  ['a control byte in a header', 'HTTP/1.1 200 OK\r\na: \x01b\r\n\r\n'],
  ['a length of letters', 'HTTP/1.1 200 OK\r\ncontent-length: abc\r\n\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
  [
    'a length and chunks',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a status below 100', 'HTTP/1.1 099 What\r\ncontent-length: 0\r\n\r\n'],
])('%s in place of an answer is reported as not HTTP', async (_, bytes) => {
  const failed = unanswered(await get(transportTo(await always(bytes))))
  expect(failed.message).toMatch(/^the answer is not HTTP: ./)
  expect(failed.cause).toBe('malformed')
})

test.each([
  ['content-length: 2', 'transfer-encoding: chunked'],
  ['transfer-encoding: chunked', 'content-length: 2'],
])('%s beside %s: both are named', async (...lines) => {
  const server = await always(
    ['HTTP/1.1 200 OK', ...lines, '', '2\r\n{}\r\n0\r\n\r\n'].join('\r\n'),
  )
  const { message } = unanswered(await get(transportTo(server)))
  expect(message).toMatch(/Content-Length/)
  expect(message).toMatch(/Transfer-Encoding/)
})

test.each([200, 204, 299, 304, 399, 418, 451, 507, 599, 600, 999])(
  'status %i is an answer',
  async (status) => {
    const server = await always(`HTTP/1.1 ${status} Odd\r\ncontent-length: 0\r\n\r\n`)
    expect(answered(await get(transportTo(server))).status).toBe(status)
  },
)

test('a status without a body may name a length', async () => {
  const transport = transportTo(
    await always('HTTP/1.1 304 Not Modified\r\ncontent-length: 50\r\n\r\n'),
  )
  expect(answered(await get(transport))).toMatchObject({ status: 304, cut: false })
  expect(textOf(await get(transport))).toBe('')
})

test.each([
  ['one line', `x: ${'y'.repeat(70_000)}\r\n`],
  ['many lines', 'x: 1234567890\r\n'.repeat(7000)],
])('a head longer than 64 KiB is no answer: %s', async (_, lines) => {
  const failed = unanswered(await get(transportTo(await always(`HTTP/1.1 200 OK\r\n${lines}\r\n`))))
  expect(failed).toMatchObject({
    cause: 'malformed',
    message: 'the head of the answer is longer than 64 KiB',
  })
})

test('a head that is cut short is a lost answer', async () => {
  const server = await rawServer(({ socket }) => socket.end('HTTP/1.1 200 OK\r\nx: '))
  const failed = unanswered(await get(transportTo(server)))
  expect(failed).toMatchObject({
    cause: 'reset',
    message: 'the connection was closed inside the head of the answer',
  })
})

test('a body that drips for ever is reported as still coming', async () => {
  const server = await rawServer(({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n')
    const timer = setInterval(() => socket.write('x'), 10)
    socket.on('close', () => clearInterval(timer))
  })
  const failed = unanswered(await get(transportTo(server), short))
  expect(failed).toMatchObject({ cause: 'timeout', detail: 'still-coming' })
  expect(failed.message).toMatch(
    /^the answer did not end within 1,000 ms: \d+ of 5,000 bytes of the body had arrived, and it went on$/,
  )
})

test.each(['', 'connection: close\r\n'])(
  'of a body that is cut short the bytes are counted (%j)',
  async (header) => {
    const server = await rawServer(({ socket }) =>
      socket.end(`HTTP/1.1 200 OK\r\n${header}content-length: 5000\r\n\r\n${'x'.repeat(120)}`),
    )
    const failed = unanswered(await get(transportTo(server)))
    expect(failed.cause).toBe('reset')
    expect(failed.message).toBe('the connection was closed after 120 of 5,000 bytes of the body')
    expect(failed.staleConnection).toBe(false)
  },
)

test('a body that is reset on the way is a lost answer', async () => {
  const server = await rawServer(({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\nxyz', () =>
      socket.resetAndDestroy(),
    )
  })
  expect(unanswered(await get(transportTo(server))).cause).toBe('reset')
})

test.each(['', 'connection: close\r\n'])(
  'chunks without an end are a lost answer (%j)',
  async (header) => {
    const server = await rawServer(({ socket }) =>
      socket.end(`HTTP/1.1 200 OK\r\n${header}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`),
    )
    const failed = unanswered(await get(transportTo(server)))
    expect(failed).toMatchObject({
      cause: 'reset',
      message: 'the connection was closed after 3 bytes of the body',
    })
  },
)

test('a body without length or chunks ends with the connection', async () => {
  const server = await rawServer(({ socket }) => socket.end('HTTP/1.1 200 OK\r\n\r\nabc'))
  expect(textOf(await get(transportTo(server)))).toBe('abc')
})

test('informational answers are skipped, unasked 100 among them', async () => {
  const informational = [
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
  ]
  const server = await rawServer(({ socket }) => {
    socket.write(informational[0]!)
    setImmediate(() => socket.write(informational.join('').repeat(20) + ok('done')))
  })
  const transport = transportTo(server)
  expect(textOf(await get(transport))).toBe('done')
  expect(textOf(await get(transport))).toBe('done')
  expect(server.sockets).toHaveLength(1)
})

/** Answers at the first bytes and closes, in a thread of its own: the connection is reset while the body is being written. */
const hasty = `
const { parentPort } = require('node:worker_threads')
const answer = 'HTTP/1.1 413 Content Too Large\\r\\nconnection: close\\r\\ncontent-length: 2\\r\\n\\r\\n{}'
const server = require('node:net').createServer({ highWaterMark: 1024 }, (socket) => {
  socket.on('error', () => {})
  socket.once('data', () => socket.pause().write(answer, () => socket.destroy()))
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

test('an answer that comes before the body was read is not lost, though the connection is reset', async () => {
  const worker = new Worker(hasty, { eval: true })
  onTestFinished(async () => void (await worker.terminate()))
  const [port] = (await once(worker, 'message')) as [number]
  const transport = transportTo({ url: `http://127.0.0.1:${port}` })
  const headers = [{ name: 'content-type', value: 'application/json' }]
  const request = { method: 'POST', path: '/', headers, body: Buffer.alloc(4_000_000, 'x') }
  for (let sent = 0; sent < 30; sent++) {
    expect(answered(await transport.send(request, { timeoutMs: 20_000 })).status).toBe(413)
  }
})
