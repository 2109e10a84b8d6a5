import { once } from 'node:events'
import net from 'node:net'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import type { NoResponse } from '../../harness/http/message.ts'
import { freePort } from '../support/raw-server.ts'
import {
  always,
  answered,
  get,
  listen,
  lost,
  ok,
  rawServer,
  textOf,
  transportTo,
} from './servers.ts'

/** Deadline of an exchange that is meant to miss it, in ms: what is to come before it comes within some 10 on an idle machine. */
const short = 1000
const head = (...lines: string[]) => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n')

test('a port that nobody listens on, and a host that does not exist', async () => {
  const port = await freePort()
  expect(await lost({ url: `http://127.0.0.1:${port}` })).toMatchObject({
    cause: 'refused',
    message: `connection refused at 127.0.0.1:${port}`,
  })
  const unknown = await lost({ url: 'http://nowhere.invalid' }, 5000)
  expect(unknown.cause).toBe('refused')
  expect(unknown.message).toMatch(/^host not found: nowhere\.invalid \((ENOTFOUND|EAI_AGAIN)\)$/)
})

type Sockets = (socket: net.Socket) => void
const before = /^the connection was (closed|reset) before any byte of an answer$/
const drips: Sockets = (socket) => {
  const timer = setInterval(() => socket.write('x'), 10)
  socket.on('close', () => clearInterval(timer)).write(head('content-length: 5000'))
}
const late = 'the answer did not end within 1,000 ms'

type Silence = readonly [serve: Sockets, message: RegExp | string]

async function expectLost(cause: NoResponse['cause'], [serve, message]: Silence) {
  const failed = await lost(await listen(net.createServer(serve)), short)
  expect(failed).toMatchObject({
    cause,
    message: expect.stringMatching(message),
    staleConnection: false,
  })
  if (typeof message === 'string') expect(failed.message).toBe(message)
  if (serve === drips) expect(failed.detail).toBe('still-coming')
  // A machine may be busy; without the deadline it would take for ever.
  expect(failed.endedAt - failed.sentAt).toBeLessThan(short + 10_000)
}

test('a server that says nothing, drips, stops inside the body or names no end of it has given no answer', async () => {
  const silent: readonly Silence[] = [
    [() => {}, 'no answer within 1,000 ms'],
    [
      drips,
      /^the answer did not end within 1,000 ms: \d+ of 5,000 bytes of the body had arrived, and it went on$/,
    ],
    [
      (socket) => socket.write(`${head('content-length: 5000')}x`),
      `${late}: 1 of 5,000 bytes of the body had arrived`,
    ],
    [
      (socket) => socket.write(`${head('a: b')}x`),
      `${late}: 1 bytes of the body had arrived, and neither Content-Length nor chunks say where it ends`,
    ],
  ]
  // Each waits for the whole deadline.
  await Promise.all(silent.map((one) => expectLost('timeout', one)))
})

test.each<[what: string, ...Silence]>([
  ['closes as soon as it is open', (socket) => socket.end(), before],
  ['resets as soon as it is open', (socket) => socket.resetAndDestroy(), before],
  [
    'closes inside the head',
    (socket) => socket.end('HTTP/1.1 200 OK\r\nx: '),
    'the connection was closed inside the head of the answer',
  ],
  [
    'resets inside the body',
    (socket) => socket.write(`${head('content-length: 5000')}xyz`, () => socket.resetAndDestroy()),
    /the connection was reset/,
  ],
  ...['', 'connection: close'].flatMap((line): [string, ...Silence][] => [
    [
      `cuts its body short (${line})`,
      (socket) =>
        socket.end(`${head(`a: b\r\n${line || 'c: d'}`, 'content-length: 50')}${'x'.repeat(12)}`),
      'the connection was closed after 12 of 50 bytes of the body',
    ],
    [
      `sends no last chunk (${line})`,
      (socket) => socket.end(`${head(line || 'c: d', 'transfer-encoding: chunked')}3\r\nabc\r\n`),
      'the connection was closed after 3 bytes of the body',
    ],
  ]),
])('a server that %s has given no answer', (_, ...silence) => expectLost('reset', silence))

test.each([
  ['words', 'Hello there, this is no HTTP\r\n\r\n'],
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['binary', Buffer.from([0x15, 3, 3, 0, 2, 2, 40])],
  ['an unknown version', 'HTTP/7.3 200 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a status of letters', 'HTTP/1.1 abc OK\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 What\r\ncontent-length: 0\r\n\r\n'],
  ['a header without colon', head('no colon')],
  ['a control byte in a header', head('a: \x01b')],
  ['a length of letters', head('content-length: abc')],
  ['two lengths', `${head('content-length: 1', 'content-length: 2')}ab`],
  ['a length and chunks', head('content-length: 1', 'transfer-encoding: chunked'), true],
  ['chunks and a length', head('transfer-encoding: chunked', 'content-length: 2'), true],
])('%s in place of an answer is reported as not HTTP', async (_, bytes, areBothNamed = false) => {
  const { cause, message } = await lost(await always(bytes))
  expect(message).toMatch(/^the answer is not HTTP: ./)
  expect(cause).toBe('malformed')
  for (const name of areBothNamed ? ['Content-Length', 'Transfer-Encoding'] : [])
    expect(message).toContain(name)
})

test.each([200, 204, 299, 304, 399, 418, 451, 507, 599, 600, 999])(
  'status %i is an answer',
  async (status) => {
    const server = await always(`HTTP/1.1 ${status} Odd\r\ncontent-length: 0\r\n\r\n`)
    expect(answered(await get(transportTo(server))).status).toBe(status)
  },
)

test('a status without a body may name a length', async () => {
  const server = await always('HTTP/1.1 304 Not Modified\r\ncontent-length: 50\r\n\r\n')
  const { status, cut, body } = answered(await get(transportTo(server)))
  expect([status, cut, body.length]).toEqual([304, false, 0])
})

test.each([
  ['one line', `x: ${'y'.repeat(70_000)}`],
  ['many lines', 'x: 1234567890\r\n'.repeat(7000)],
])('a head longer than 64 KiB is no answer: %s', async (_, lines) => {
  expect(await lost(await always(head(lines)))).toMatchObject({
    cause: 'malformed',
    message: 'the head of the answer is longer than 64 KiB',
  })
})

test('a body without length or chunks ends with the connection', async () => {
  const server = await rawServer(({ socket }) => socket.end(`${head()}abc`))
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
  for (let time = 0; time < 2; time++) expect(textOf(await get(transport))).toBe('done')
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
