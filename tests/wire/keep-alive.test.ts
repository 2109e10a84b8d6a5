import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { HttpResult } from '../../harness/http/message.ts'
import {
  answered,
  get,
  lost,
  ok,
  post,
  rawServer,
  send,
  textOf,
  transportTo,
  unanswered,
} from './servers.ts'

test('a result says what went before on its connection, and a request can be made to come after another', async () => {
  const server = await rawServer(({ count, text, socket }) => {
    socket.write(ok(`${count} ${/^\w+/.exec(text)?.[0]}`))
  })
  const transport = transportTo(server)
  const [one, two] = [{ n: 1 }, { n: 2 }]
  const before = []
  for (const options of [{ tag: one }, { tag: two }, {}, { fresh: true }])
    before.push(answered(await send(transport, {}, options)).previousTag)
  expect(before).toEqual([undefined, one, two, undefined])
  const told: HttpResult[] = []
  const after = {
    request: { method: 'POST', path: '/', headers: [], body: '{}' },
    tag: one,
    ended: (result: HttpResult) => void told.push(result),
  }
  const last = answered(await send(transport, {}, { after }))
  expect([textOf(last), last.previousTag, ...told.map(textOf)]).toEqual(['2 GET', one, '1 POST'])
})

/** Ways to treat the second request of a connection whose client takes it for alive. */
const breakers = {
  closes: (socket: Socket) => socket.end(),
  destroys: (socket: Socket) => socket.destroy(),
  resets: (socket: Socket) => socket.resetAndDestroy(),
}

test.each(Object.entries(breakers))(
  'a reused connection that %s is stale, a fresh one is not',
  async (_, breaks) => {
    const server = await rawServer(({ count, socket }) =>
      count === 1 ? socket.write(ok('x')) : breaks(socket),
    )
    const transport = transportTo(server)
    for (const send of [() => get(transport), () => post(transport, '{}')]) {
      expect(textOf(await send())).toBe('x')
      expect(unanswered(await send())).toMatchObject({ cause: 'reset', staleConnection: true })
    }
    const breaking = await rawServer(({ socket }) => breaks(socket))
    expect(await lost(breaking)).toMatchObject({ cause: 'reset', staleConnection: false })
  },
)

test.each([
  ['breaks inside a word', 'reset', 'H'],
  ['breaks after informational answers', 'reset', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['breaks inside a body', 'reset', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n'],
  ['is silent', 'timeout', undefined],
])('a reused connection that %s is not stale', async (_, cause, bytes) => {
  const server = await rawServer(({ count, socket }) => {
    if (count === 1) socket.write(ok('x'))
    else if (bytes !== undefined) socket.end(bytes)
  })
  const transport = transportTo(server)
  expect(textOf(await get(transport))).toBe('x')
  const failed = unanswered(await get(transport, bytes === undefined ? 100 : undefined))
  expect(failed).toMatchObject({ cause, staleConnection: false })
})

test('a connection that the server closes right behind its answer is answered or stale, and never anything else', async () => {
  const server = await rawServer(({ socket }) => {
    socket.write(ok('x'))
    setImmediate(() => socket.end())
  })
  const transport = transportTo(server)
  const counted = { answers: 0, stale: 0 }
  for (let time = 0; time < 300; time += 1) {
    const result = await (time % 2 ? get(transport) : post(transport, '{}'))
    if (result.kind === 'answer') counted.answers += 1
    else if (result.staleConnection) counted.stale += 1
    else throw new Error(result.message)
  }
  expect(counted.answers + counted.stale).toBe(300)
  expect(counted.answers).toBeGreaterThanOrEqual(150)
})

test('a connection that waits until another one closes is answered', async () => {
  let free = Promise.resolve()
  const server = await rawServer(({ count, socket }) => {
    // Kept open for longer than anybody waits here.
    const answer = (): void => void socket.write(ok('x', 'keep-alive: timeout=100'))
    if (count > 1) return answer()
    void free.then(answer)
    free = new Promise((resolve) => socket.once('close', () => resolve()))
  })
  const transport = transportTo(server)
  expect(textOf(await get(transport))).toBe('x')
  const results = await Promise.all([
    send(transport, {}, { fresh: true }),
    ...[get(transport), get(transport), get(transport)],
  ])
  expect(results.map(textOf)).toEqual(['x', 'x', 'x', 'x'])
})

test('a connection on which a gateway answers for the service is not used again', async () => {
  const server = await rawServer(({ socket }) =>
    socket.write(ok('x').replace('200 OK', '502 Bad Gateway')),
  )
  const transport = transportTo(server, { connections: 1 })
  for (let time = 0; time < 2; time += 1) expect(answered(await get(transport)).status).toBe(502)
  expect(server.sockets).toHaveLength(2)
})

test('a second answer behind the first is not taken for the next one’s', async () => {
  const server = await rawServer(({ socket }) => socket.write(ok('mine') + ok('stray')))
  const transport = transportTo(server, { connections: 1 })
  for (let time = 0; time < 5; time += 1) expect(textOf(await get(transport))).toBe('mine')
  expect(server.sockets).toHaveLength(5)
})

test('a stray answer that comes while the connection is idle closes it', async () => {
  const server = await rawServer(({ text, socket }) =>
    socket.write(ok(text.startsWith('POST') ? 'post' : 'get')),
  )
  const transport = transportTo(server, { connections: 1 })
  expect(textOf(await get(transport))).toBe('get')
  const socket = server.sockets[0]!
  await new Promise((resolve) => socket.on('close', resolve).write(ok('stray')))
  expect(textOf(await post(transport, 'x'))).toBe('post')
})

test('a 408 that was meant for an idle connection is no answer to the request that met it', async () => {
  const late = 'HTTP/1.1 408 Request Time-out\r\nconnection: close\r\ncontent-length: 4\r\n\r\nlate'
  const server = await rawServer(
    ({ count, socket }) => void socket.write(count === 1 ? ok('first') : late),
  )
  const transport = transportTo(server)
  expect(textOf(await get(transport))).toBe('first')
  expect(unanswered(await get(transport))).toMatchObject({ cause: 'reset', staleConnection: true })
  expect(textOf(await get(transport))).toBe('first')
  // To the first request of a connection it is the answer.
  const slow = await rawServer(({ socket }) => void socket.write(late))
  expect(answered(await get(transportTo(slow))).status).toBe(408)
})
