import zlib from 'node:zlib'
import { expect, test } from 'vitest'
import { type Served, answered, get, rawServer, transportTo } from './servers.ts'

const head = (...lines: string[]) => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n')

/** Writes the same bytes for as long as the client takes them. */
const endless = (start: string, bytes: Buffer) =>
  rawServer(({ socket }) => {
    const more = () => {
      while (!socket.destroyed && socket.write(bytes));
    }
    socket.write(start)
    socket.on('drain', more)
    more()
  })

/** What the process has grown by after so many exchanges, in MB; the first few are not counted. */
async function growth(server: Served, exchanges: number, bodyLimit?: number): Promise<number> {
  const transport = transportTo(server, { bodyLimit })
  const run = async (count: number) => {
    let left = count
    const one = async () => {
      while ((left -= 1) >= 0) expect(answered(await get(transport, 20_000)).cut).toBe(true)
    }
    await Promise.all(Array.from({ length: 8 }, one))
  }
  await run(Math.ceil(exchanges / 5))
  const before = process.memoryUsage().rss
  await run(exchanges)
  return (process.memoryUsage().rss - before) / 1e6
}

test('200 endless bodies', { timeout: 30_000 }, async () => {
  const server = await endless(head(), Buffer.alloc(65_536))
  expect(await growth(server, 200)).toBeLessThan(100)
})

test('endless bodies in chunks of one byte', { timeout: 30_000 }, async () => {
  const server = await endless(head('transfer-encoding: chunked'), Buffer.from('1\r\nx\r\n'.repeat(10_000)))
  expect(await growth(server, 40, 400_000)).toBeLessThan(100)
})

test('endless gzip', { timeout: 30_000 }, async () => {
  const member = zlib.gzipSync(Buffer.alloc(10_000_000))
  const server = await endless(head('content-encoding: gzip'), member)
  expect(await growth(server, 40)).toBeLessThan(100)
})

test('endless informational answers before each deadline', async () => {
  const server = await endless('', Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)))
  const transport = transportTo(server)
  await get(transport, 100)
  const before = process.memoryUsage().rss
  await Promise.all(Array.from({ length: 8 }, () => get(transport, 300)))
  expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(100)
})
