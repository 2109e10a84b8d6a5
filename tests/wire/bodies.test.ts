import { type Readable, Transform } from 'node:stream'
import zlib from 'node:zlib'
import { expect, test } from 'vitest'
import { always, answered, get, rawServer, textOf, transportTo } from './servers.ts'

const text = JSON.stringify({ a: 'tea '.repeat(500) })

const head = (...lines: string[]) => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n')

const encoded = (encoding: string, body: Buffer) =>
  always(
    Buffer.concat([
      Buffer.from(head(`content-encoding: ${encoding}`, `content-length: ${body.length}`)),
      body,
    ]),
  )

/** Streams a body in chunks for as long as the client reads. */
const streaming = (source: () => Readable, ...lines: string[]) =>
  rawServer(({ socket }) => {
    socket.write(head('transfer-encoding: chunked', ...lines))
    const chunked = new Transform({
      transform(chunk: Buffer, _, done) {
        done(
          null,
          Buffer.concat([
            Buffer.from(`${chunk.length.toString(16)}\r\n`),
            chunk,
            Buffer.from('\r\n'),
          ]),
        )
      },
      flush: (done) => done(null, '0\r\n\r\n'),
    })
    source().pipe(chunked).pipe(socket, { end: false })
    socket.on('close', () => chunked.destroy())
  })

const zeros = (bytes: number) => {
  const block = Buffer.alloc(65_536)
  return Transform.from(
    (async function* () {
      for (let sent = 0; sent < bytes; sent += block.length) yield block
    })(),
  )
}

test.each([
  ['gzip', zlib.gzipSync(text)],
  ['x-gzip', zlib.gzipSync(text)],
  ['GZIP', zlib.gzipSync(text)],
  ['deflate', zlib.deflateSync(text)],
  ['deflate', zlib.deflateRawSync(text)],
  ['br', zlib.brotliCompressSync(text)],
  ['identity', Buffer.from(text)],
  ['gzip, identity', zlib.gzipSync(text)],
  ['deflate, gzip, br', zlib.brotliCompressSync(zlib.gzipSync(zlib.deflateSync(text)))],
  ['gzip', Buffer.concat([zlib.gzipSync(text.slice(0, 9)), zlib.gzipSync(text.slice(9))])],
])('undoes %s', async (encoding, body) => {
  const result = await get(transportTo(await encoded(encoding, body)))
  expect(textOf(result)).toBe(text)
  expect(result).toMatchObject({ cut: false })
  expect(result).not.toHaveProperty('undecodable')
})

test('an empty body is empty under any coding', async () => {
  const result = answered(await get(transportTo(await encoded('gzip', Buffer.alloc(0)))))
  expect(result.body).toHaveLength(0)
  expect(result.undecodable).toBeUndefined()
})

test.each([
  ['gzip', Buffer.from(text), 'not valid gzip: incorrect header check'],
  ['gzip', zlib.gzipSync(text).subarray(0, 40), 'not valid gzip: unexpected end of file'],
  ['deflate', Buffer.from(text), 'not valid deflate: invalid distance too far back'],
  ['br', Buffer.from(text), 'not valid br: Decompression failed'],
  ['zstd', Buffer.from(text), 'unknown content coding "zstd"'],
  ['gzip, br', zlib.gzipSync(text), 'not valid br: Decompression failed'],
  ['gzip,gzip,gzip,gzip,gzip,gzip', Buffer.from(text), '6 content codings in a row, more than 5'],
])('what is labelled %s and is not comes back as it came', async (encoding, body, reason) => {
  const result = answered(await get(transportTo(await encoded(encoding, body))))
  expect(result.undecodable).toBe(reason)
  expect(Buffer.from(result.body)).toEqual(body)
})

test('a body is read to the limit, and not a byte further', async () => {
  const server = await always(`${head('content-length: 1000')}${'x'.repeat(1000)}`)
  expect(answered(await get(transportTo(server, { bodyLimit: 1000 })))).toMatchObject({
    cut: false,
  })
  const cut = answered(await get(transportTo(server, { bodyLimit: 999 })))
  expect([cut.cut, cut.body.length]).toEqual([true, 999])
})

test('50 MB, and a body without end, are cut at the limit', async () => {
  for (const bytes of [50_000_000, Infinity]) {
    const server = await streaming(() => zeros(bytes))
    const { cut, body } = answered(await get(transportTo(server), 5000))
    expect([cut, body.length]).toEqual([true, 4 * 1024 * 1024])
  }
})

const block = Buffer.alloc(16_000_000)

test.each([
  ['gzip', zlib.gzipSync(block)],
  ['deflate', zlib.deflateRawSync(block)],
  ['br', zlib.brotliCompressSync(block, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } })],
])('a %s bomb is cut at the limit', async (encoding, body) => {
  // gzip may have any number of members: a quarter of a gigabyte of zeros
  const bomb = encoding === 'gzip' ? Buffer.concat(Array(16).fill(body)) : body
  const {
    cut,
    body: read,
    undecodable,
  } = answered(await get(transportTo(await encoded(encoding, bomb))))
  expect([cut, read.length, undecodable]).toEqual([true, 4 * 1024 * 1024, undefined])
})

test('an encoded body of which only the beginning was read is decoded as far as it goes', async () => {
  const noise = Buffer.from(Array.from({ length: 50_000 }, (_, at) => (at * at * 7919) >> 7))
  for (const [encoding, body] of [
    ['gzip', zlib.gzipSync(noise)],
    ['br', zlib.brotliCompressSync(noise)],
  ] as const) {
    const result = answered(
      await get(transportTo(await encoded(encoding, body), { bodyLimit: 1000 })),
    )
    expect(result).toMatchObject({ cut: true })
    expect(result.undecodable).toBeUndefined()
    expect(Buffer.from(result.body)).toEqual(noise.subarray(0, result.body.length))
  }
})
