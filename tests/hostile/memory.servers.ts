import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { judgeReference, type Judged } from '../matrix/judge-reference.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes that are held once nothing more can be collected: what streams, sockets and sweepers hold goes some turns later. */
async function settledBytes(): Promise<number> {
  let least = Infinity
  for (let still = 0; still < 3;) {
    await turn()
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    const bytes = heapUsed + arrayBuffers
    still = bytes < least * 0.99 ? 0 : still + 1
    least = Math.min(least, bytes)
  }
  return least
}

/** Bytes that are still held while the run is. */
async function heldBy(refusalRuns: number): Promise<{ bytes: number; judged: Judged }> {
  const judged = await judgeReference(
    {},
    { options: { only: ['pdf.parse/400-*', 'envelope/*'], refusalRuns } },
  )
  return { bytes: await settledBytes(), judged }
}

test('a run holds no more after two thousand generated requests than after a few', async () => {
  await heldBy(100)
  const few = await heldBy(5)
  const many = await heldBy(1500)
  const more = many.judged.facts.requests - few.judged.facts.requests
  // Equal ones are sent once.
  expect(more).toBeGreaterThan(2000)
  // An exchange alone takes more than 6 KB.
  expect((many.bytes - few.bytes) / more).toBeLessThan(3000)
})
