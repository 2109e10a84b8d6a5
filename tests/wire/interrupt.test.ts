import { expect, test } from 'vitest'
import { get, ok, rawServer, unanswered, transportTo } from './servers.ts'

const silent = () => rawServer(() => {})

test('a signal ends an exchange under way', async () => {
  const ending = new AbortController()
  const server = await rawServer(() => ending.abort())
  const failed = unanswered(await get(transportTo(server), 5000, ending.signal))
  expect(failed).toMatchObject({ cause: 'aborted', staleConnection: false })
  expect(failed.message).toBe('the run was interrupted before the answer was complete')
})

test('a signal that is aborted already sends nothing', async () => {
  const server = await silent()
  expect(unanswered(await get(transportTo(server), 5000, AbortSignal.abort())).cause).toBe(
    'aborted',
  )
  expect(server.sockets).toHaveLength(0)
})

test('close ends what is under way, closes the sockets, and lets nothing else start', async () => {
  const begun: (() => void)[] = []
  const twoBegun = new Promise<void>((resolve) => begun.push(() => {}, resolve))
  const server = await rawServer(() => begun.shift()?.())
  const transport = transportTo(server)
  const sent = Array.from({ length: 2 }, () => get(transport, 5000))
  await twoBegun
  const gone = server.sockets.map((socket) => new Promise((resolve) => socket.on('close', resolve)))
  await transport.close()
  for (const failed of await Promise.all(sent)) expect(unanswered(failed).cause).toBe('aborted')
  await Promise.all(gone)
  expect(gone).toHaveLength(2)
  expect(unanswered(await get(transport)).cause).toBe('aborted')
  await transport.close()
})

test('close lets go of idle connections', async () => {
  const server = await rawServer(({ socket }) => socket.write(ok('x')))
  const transport = transportTo(server)
  await get(transport)
  const gone = new Promise((resolve) => server.sockets[0]!.on('close', resolve))
  await transport.close()
  await gone
})
