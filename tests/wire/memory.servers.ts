import { setFlagsFromString } from 'node:v8'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import zlib from 'node:zlib'
import { expect, test } from 'vitest'
import type { Listening } from '../support/raw-server.ts'
import { answered, get, rawServer, transportTo } from './servers.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const turn = promisify(setImmediate)

/** Memory in use at a moment, in MB: the memory of the whole process says more of the files that were tested before. */
function usedMB(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1e6
}

/**
 * Memory that is held beyond what was before, in MB. Sockets that are being closed, and threads that inflate or sweep, let go a little
 * later, how much later is a matter of the machine: it is looked at again until it is less than `enough`. What is kept is so
 * each time.
 */
async function heldMB(before: number, enough: number): Promise<number> {
  let held = Infinity
  for (let looks = 0; looks < 100 && held >= enough; looks++) {
    await turn()
    held = usedMB() - before
  }
  return held
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

/** Expects so many exchanges, each cut at the limit, to hold less than that many MB; the first few are not counted. */
async function expectHeld(
  server: Listening,
  exchanges: number,
  bodyLimit: number,
  lessThan: number,
): Promise<void> {
  const transport = transportTo(server, { bodyLimit })
  const run = async (count: number) => {
    let left = count
    const one = async () => {
      while ((left -= 1) >= 0) {
        expect(answered(await get(transport, 50_000)).cut).toBe(true)
      }
    }
    await Promise.all(Array.from({ length: 8 }, one))
  }
  await run(Math.ceil(exchanges / 5))
  for (let looks = 0; looks < 5; looks++) await turn()
  const before = usedMB()
  await run(exchanges)
  expect(await heldMB(before, lessThan)).toBeLessThan(lessThan)
}

// Kept bodies would be 60, 4 and 40 MB.

test('60 endless bodies', async () => {
  const server = await endless(head(), Buffer.alloc(65_536))
  await expectHeld(server, 60, 1_000_000, 10)
})

test('endless bodies in chunks of one byte', async () => {
  const server = await endless(
    head('transfer-encoding: chunked'),
    Buffer.from('1\r\nx\r\n'.repeat(10_000)),
  )
  await expectHeld(server, 20, 200_000, 2)
})

test('endless gzip', async () => {
  const member = zlib.gzipSync(Buffer.alloc(10_000_000))
  const server = await endless(head('content-encoding: gzip'), member)
  await expectHeld(server, 40, 1_000_000, 10)
})

test('endless informational answers before each deadline', async () => {
  const server = await endless('', Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)))
  const transport = transportTo(server)
  await get(transport, 100)
  const before = usedMB()
  await Promise.all(Array.from({ length: 8 }, () => get(transport, 300)))
  expect(await heldMB(before, 10)).toBeLessThan(10)
})
