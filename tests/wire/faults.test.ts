import net from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../support/raw-server.ts'
import {
  always,
  answered,
  get,
  listen,
  ok,
  post,
  rawServer,
  textOf,
  unanswered,
  transportTo,
} from './servers.ts'

/** Deadline of an exchange that is meant to miss it, in ms: what is to come before it comes within some 10 on an idle machine. */
const short = 1000

test('a port that nobody listens on', async () => {
  const port = await freePort()
  const failed = unanswered(await get(transportTo({ url: `http://127.0.0.1:${port}` })))
  expect(failed).toMatchObject({
    cause: 'refused',
    message: `connection refused at 127.0.0.1:${port}`,
  })
})

test('a host that does not exist', async () => {
  const failed = unanswered(await get(transportTo({ url: 'http://nowhere.invalid' }), 5000))
  expect(failed.cause).toBe('refused')
  expect(failed.message).toMatch(/^host not found: nowhere\.invalid \((ENOTFOUND|EAI_AGAIN)\)$/)
})

test('silence after the request', async () => {
  const failed = unanswered(await get(transportTo(await rawServer(() => {})), short))
  expect(failed).toMatchObject({
    cause: 'timeout',
    message: 'no answer within 1,000 ms',
    staleConnection: false,
  })
  // A machine may be busy; without the deadline it would take for ever.
  expect(failed.endedAt - failed.sentAt).toBeLessThan(short + 10_000)
})

test('a socket that is closed, or reset, as soon as it is open', async () => {
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
])('an answer that is not HTTP: %s', async (_, bytes) => {
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

test('a chunk size that is not a number', async () => {
  const server = await always(
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n',
  )
  const failed = unanswered(await get(transportTo(server)))
  expect(failed.cause).toBe('malformed')
  expect(failed.message).toMatch(/^the body of the answer is not HTTP after 3 bytes: ./)
})

test('switching protocols, which nobody asked for', async () => {
  for (const upgrade of ['', 'connection: upgrade\r\nupgrade: websocket\r\n']) {
    const failed = unanswered(
      await get(transportTo(await always(`HTTP/1.1 101 Switching Protocols\r\n${upgrade}\r\n`))),
    )
    expect(failed.cause).toBe('malformed')
    expect(failed.message).toContain('(101)')
  }
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

test('a head that never ends', async () => {
  const dripping = await rawServer(({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write('x: y\r\n'), 10)
    socket.on('close', () => clearInterval(timer))
  })
  const failed = unanswered(await get(transportTo(dripping), short))
  expect(failed).toMatchObject({
    cause: 'timeout',
    message: 'the head of the answer did not end within 1,000 ms',
  })
})

test.each([
  ['one line', `x: ${'y'.repeat(70_000)}\r\n`],
  ['many lines', 'x: 1234567890\r\n'.repeat(7000)],
])('a head longer than 64 KiB: %s', async (_, lines) => {
  const failed = unanswered(await get(transportTo(await always(`HTTP/1.1 200 OK\r\n${lines}\r\n`))))
  expect(failed).toMatchObject({
    cause: 'malformed',
    message: 'the head of the answer is longer than 64 KiB',
  })
})

test('a head that is cut short', async () => {
  const server = await rawServer(({ socket }) => socket.end('HTTP/1.1 200 OK\r\nx: '))
  const failed = unanswered(await get(transportTo(server)))
  expect(failed).toMatchObject({
    cause: 'reset',
    message: 'the connection was closed inside the head of the answer',
  })
})

test('a body that drips for ever', async () => {
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

test.each(['', 'connection: close\r\n'])('a body cut short (%j)', async (header) => {
  const server = await rawServer(({ socket }) =>
    socket.end(`HTTP/1.1 200 OK\r\n${header}content-length: 5000\r\n\r\n${'x'.repeat(120)}`),
  )
  const failed = unanswered(await get(transportTo(server)))
  expect(failed.cause).toBe('reset')
  expect(failed.message).toBe('the connection was closed after 120 of 5,000 bytes of the body')
  expect(failed.staleConnection).toBe(false)
})

test('a body that is reset on the way', async () => {
  const server = await rawServer(({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\nxyz', () =>
      socket.resetAndDestroy(),
    )
  })
  expect(unanswered(await get(transportTo(server))).cause).toBe('reset')
})

test.each(['', 'connection: close\r\n'])('chunks without an end (%j)', async (header) => {
  const server = await rawServer(({ socket }) =>
    socket.end(`HTTP/1.1 200 OK\r\n${header}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`),
  )
  const failed = unanswered(await get(transportTo(server)))
  expect(failed).toMatchObject({
    cause: 'reset',
    message: 'the connection was closed after 3 bytes of the body',
  })
})

test('a body longer than its length ends where the length says, and the rest reaches no other exchange', async () => {
  const server = await rawServer(({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabcdef')
  })
  const transport = transportTo(server, { connections: 1 })
  for (let time = 0; time < 3; time += 1) expect(textOf(await get(transport))).toBe('abc')
  expect(server.sockets).toHaveLength(3)
})

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

test('informational answers without end are no answer', async () => {
  const server = await rawServer(({ socket }) => {
    const more = () => {
      while (!socket.destroyed && socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(500)));
    }
    socket.on('drain', more)
    more()
  })
  expect((await get(transportTo(server), short)).kind).toBe('no-answer')
})

test('an answer that comes before the request is read, then a close', async () => {
  const server = await listen(
    net.createServer((socket) => {
      socket.once('data', () => {
        socket.pause()
        socket.end(
          'HTTP/1.1 413 Payload Too Large\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}',
        )
      })
    }),
  )
  const { status, body } = answered(await post(transportTo(server), new Uint8Array(20_000_000)))
  expect([status, body.length]).toEqual([413, 2])
})
