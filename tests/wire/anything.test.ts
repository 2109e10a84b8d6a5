import fc from 'fast-check'
import { expect, test } from 'vitest'
import { get, ok, post, rawServer, textOf, transportTo } from './servers.ts'

const pieces = [
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.0 500 No\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 101 Switching\r\n\r\n',
  'content-length: 3\r\n',
  'content-length: 0\r\n',
  'transfer-encoding: chunked\r\n',
  'content-encoding: gzip\r\n',
  'connection: close\r\n',
  'connection: upgrade\r\nupgrade: x\r\n',
  'keep-alive: timeout=0\r\n',
  '__proto__: x\r\n',
  '\r\n',
  '\n',
  '3\r\nabc\r\n',
  '0\r\n\r\n',
  'abc',
]

const answers = fc.record({
  chunks: fc.array(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...pieces).map((text) => Buffer.from(text)) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)) },
    ),
    { maxLength: 10 },
  ),
  apart: fc.boolean(),
  ending: fc.constantFrom('end', 'destroy', 'resetAndDestroy', 'keep'),
})

test('whatever comes back, each exchange ends in time, and the next ones as ever', async () => {
  let script: (typeof answers extends fc.Arbitrary<infer T> ? T : never) | undefined
  const server = await rawServer(({ socket }) => {
    if (!script) return socket.write(ok('fine'))
    const { chunks, apart, ending } = script
    const write = (at: number) => {
      const chunk = apart ? chunks[at] : Buffer.concat(chunks)
      if (chunk && (apart || at === 0))
        return socket.write(chunk, () => setImmediate(write, at + 1))
      if (ending !== 'keep') socket[ending as 'end']()
    }
    write(0)
  })
  const transport = transportTo(server, { connections: 1 })
  const property = fc.asyncProperty(answers, fc.boolean(), async (given, withBody) => {
    script = given
    const before = performance.now()
    const result = await (withBody ? post(transport, '{}', 40) : get(transport, 40))
    // The exchange has 40 ms; one that ends by nothing would take for ever.
    expect(performance.now() - before).toBeLessThan(10_000)
    if (result.kind === 'no-answer') expect(result.message).toMatch(/^[ -~]+$/)
    script = undefined
    // the connection may break first, or bring what the server wrote too late
    const texts = []
    for (let time = 0; time < 3 && texts.at(-1) !== 'fine'; time += 1) {
      const next = await get(transport, 2000)
      texts.push(next.kind === 'answer' ? textOf(next) : next.message)
    }
    expect(texts.at(-1)).toBe('fine')
  })
  await fc.assert(property, { seed: 1, numRuns: 120 })
})
