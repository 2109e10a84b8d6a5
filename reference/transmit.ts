import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Answer } from './world/answer.ts'
import { present } from './present.ts'
import type { Switches } from './switches/switches.ts'

const encodings: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (bytes) => brotliCompressSync(bytes),
}

/** JSON with blanks, tabs and both kinds of line end, wherever RFC 8259 allows them. */
function spread(json: unknown): string {
  return ` \r\n\t${JSON.stringify(json, null, '\t').replaceAll('\n', '\r\n ')}\n\n `
}

function jsonType(answer: Answer, { broken, varied }: Switches): string {
  if (broken('envelope/content-type') && answer.error) return 'text/plain'
  if (broken('envelope/content-type#success') && !answer.error) return 'text/plain'
  if (broken('envelope/content-type#missing') && answer.error) return ''
  if (varied('headers/charset')) return 'application/json; charset=utf-8'
  if (varied('headers/odd-content-type')) return 'Application/JSON;charset="UTF-8"'
  return 'application/json'
}

function headersOf(answer: Answer, switches: Switches): Headers {
  const headers = new Headers(answer.headers)
  const type = answer.text?.type ?? (answer.body === undefined ? '' : jsonType(answer, switches))
  if (type !== '') headers.set('content-type', type)
  if (switches.varied('connection/closed')) headers.set('connection', 'close')
  if (switches.varied('headers/many')) {
    headers.set('cache-control', 'no-store')
    headers.set('x-request-id', '42')
    headers.append('set-cookie', 'a=1; Path=/')
    headers.append('set-cookie', 'b=2; Path=/')
    headers.set('location', '/v1/elsewhere')
  }
  return headers
}

/** The bytes in a few pieces, so that they are sent chunked. */
function inPieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  const size = Math.max(1, Math.ceil(bytes.length / 3))
  let at = 0
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve))
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + size))
      at += size
    },
  })
}

/** Turns an answer into a response, in the spelling that the variants ask for. */
export function transmit(answer: Answer, acceptEncoding: string, switches: Switches): Response {
  const headers = headersOf(answer, switches)
  if (answer.text === undefined && answer.body === undefined)
    return new Response(null, { status: answer.status, headers })
  const json = answer.text === undefined ? present(answer, switches) : undefined
  const text = answer.text?.value ?? (switches.varied('json/spread') ? spread(json) : JSON.stringify(json))
  let bytes: Buffer = Buffer.from(text)
  for (const [name, compress] of Object.entries(encodings)) {
    if (switches.varied(`compressed/${name}`) && new RegExp(`\\b${name}\\b`).test(acceptEncoding)) {
      bytes = compress(bytes)
      headers.set('content-encoding', name)
    }
  }
  const body = switches.varied('connection/chunked') ? inPieces(bytes) : new Uint8Array(bytes)
  return new Response(body, { status: answer.status, headers })
}
