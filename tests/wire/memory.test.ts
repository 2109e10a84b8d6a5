import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import zlib from 'node:zlib'
import { expect, test } from 'vitest'
import { type Served, answered, get, rawServer, transportTo } from './servers.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What is held, in MB: the memory of the whole process says more of the files that were tested before. */
function heldMB(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1e6
}

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

/** What is held after so many exchanges beyond what was before, in MB; the first few are not counted. */
async function growth(server: Served, exchanges: number, bodyLimit: number): Promise<number> {
  const transport = transportTo(server, { bodyLimit })
  const run = async (count: number) => {
    let left = count
    const one = async () => {
      while ((left -= 1) >= 0) expect(answered(await get(transport, 50_000)).cut).toBe(true)
    }
    await Promise.all(Array.from({ length: 8 }, one))
  }
  await run(Math.ceil(exchanges / 5))
  const before = heldMB()
  await run(exchanges)
  return heldMB() - before
}

// Kept bodies would be 200, 16 and 40 MB.

test('200 endless bodies', async () => {
  const server = await endless(head(), Buffer.alloc(65_536))
  expect(await growth(server, 200, 1_000_000)).toBeLessThan(10)
})

test('endless bodies in chunks of one byte', async () => {
  const server = await endless(head('transfer-encoding: chunked'), Buffer.from('1\r\nx\r\n'.repeat(10_000)))
  expect(await growth(server, 40, 400_000)).toBeLessThan(8)
})

test('endless gzip', async () => {
  const member = zlib.gzipSync(Buffer.alloc(10_000_000))
  const server = await endless(head('content-encoding: gzip'), member)
  expect(await growth(server, 40, 1_000_000)).toBeLessThan(10)
})

test('endless informational answers before each deadline', async () => {
  const server = await endless('', Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)))
  const transport = transportTo(server)
  await get(transport, 100)
  const before = heldMB()
  await Promise.all(Array.from({ length: 8 }, () => get(transport, 300)))
  expect(heldMB() - before).toBeLessThan(10)
})
