import { STATUS_CODES } from 'node:http'
import type { RecordedRequest, RecordedResponse } from '../../harness/report/model.ts'
import { shortened } from '../view/writing.ts'

/** A request as text: its line, its headers, at most `limit` bytes of its body and half as many characters of a header. */
export function requestText(request: RecordedRequest, limit: number): string {
  return message(`${request.method} ${shortened(request.url, limit)}`, request, limit)
}

/** An answer as text, likewise. */
export function responseText(response: RecordedResponse, limit: number): string {
  return message(`${response.status} ${STATUS_CODES[response.status] ?? ''}`.trimEnd(), response, limit)
}

function message(line: string, { headers, ...body }: RecordedRequest | RecordedResponse, limit: number): string {
  const lines = Object.entries(headers).map(([name, value]) => shortened(`${name}: ${value}`, limit / 2))
  const head = [line, ...lines].join('\n')
  if (body.body === '') return head
  return `${head}\n\n${bodyText(body, limit)}`
}

type Body = Pick<RecordedRequest, 'body' | 'bodyEncoding' | 'bodyLength'>

function bodyText({ body, bodyEncoding, bodyLength }: Body, limit: number): string {
  const bytes = Buffer.from(body)
  const all = bodyLength ?? Buffer.byteLength(body, bodyEncoding ?? 'utf8')
  const shown = bytes.length <= limit ? body : firstBytes(bytes, limit)
  const notes = [
    ...(bodyEncoding ? ['base64 of bytes that are no text'] : []),
    ...(shown.length < body.length || bodyLength !== undefined ? [`cut; the whole body has ${all} bytes`] : []),
  ]
  return notes.length > 0 ? `${shown}\n[${notes.join('; ')}]` : shown
}

/** The text of the first `limit` bytes, without a character that is not whole. */
function firstBytes(bytes: Buffer, limit: number): string {
  let end = limit
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}
