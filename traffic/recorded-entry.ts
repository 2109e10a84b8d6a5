import { isUtf8 } from 'node:buffer'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { isObject, parsedJson } from '../schemas/json.ts'
import { type HeaderLine, headerValue } from '../harness/http/index.ts'

/** An entry of a HAR, read. What is not needed to judge or to show it is left out. */
export interface RecordedEntry {
  /** Its place in `log.entries`, from 0. */
  readonly index: number
  /** Epoch ms; undefined if the entry does not say. */
  readonly startedAt: number | undefined
  readonly durationMs: number
  readonly httpVersion: string
  readonly method: string
  readonly url: string
  readonly requestHeaders: readonly HeaderLine[]
  readonly requestBody: HarBody
  /** 0 if no answer came. */
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly body: HarBody
}

/** Why an entry cannot be read: the member, and what it must be. */
export class Unreadable extends Error {}

/** Gives the bytes of a body that the recorder wrote to a file; undefined if it is not there. */
type Attachment = (file: string) => Uint8Array | undefined

/**
 * Reads one entry; throws `Unreadable` if it does not say what was asked. Recorders write null for whatever they do not know: what
 * was not answered has no response.
 */
export function recordedEntry(
  value: unknown,
  index: number,
  attachment: Attachment = () => undefined,
): RecordedEntry {
  const refuse = (place: string, must: string): never => {
    throw new Unreadable(`log.entries[${index}]${place}: must be ${must} (HAR 1.2)`)
  }
  if (!isObject(value)) return refuse('', 'an object')
  const { request } = value
  const response = value['response'] ?? { status: 0 }
  if (!isObject(request)) return refuse('.request', 'an object')
  if (!isObject(response)) return refuse('.response', 'an object')
  const { method, url } = request
  const status = response['status'] ?? 0
  if (typeof method !== 'string' || method === '') return refuse('.request.method', 'a method')
  if (typeof url !== 'string') return refuse('.request.url', 'a string')
  if (typeof status !== 'number' || !Number.isInteger(status) || status > 999) {
    return refuse('.response.status', 'a status')
  }
  const lines = (of: unknown, place: string): HeaderLine[] => {
    if (of === undefined || of === null) return []
    if (!Array.isArray(of)) return refuse(place, 'an array')
    return of.map((line: unknown, at) => {
      const { name, value: text } = isObject(line) ? line : {}
      if (typeof name !== 'string')
        return refuse(`${place}[${at}]`, 'an object with name and value')
      return { name, value: typeof text === 'string' ? text : textOf(text) }
    })
  }
  const requestHeaders = real(lines(request['headers'], '.request.headers'))
  const headers = labelled(
    real(lines(response['headers'], '.response.headers')),
    response['content'],
  )
  const time = value['time']
  // Most bodies are looked at only once in two readings of the file.
  let sent: HarBody | undefined
  let received: HarBody | undefined
  return {
    index,
    startedAt: instantOf(value['startedDateTime']),
    durationMs: typeof time === 'number' && time > 0 && Number.isFinite(time) ? time : 0,
    httpVersion: /^HTTP\/(\d(?:\.\d)?)$/i.exec(String(response['httpVersion']))?.[1] ?? '1.1',
    method: method.toUpperCase(),
    url,
    requestHeaders,
    get requestBody() {
      return (sent ??= requestBody(request, requestHeaders, attachment))
    },
    // Recorders write 0 or -1 if a request was refused, blocked or cut off.
    status: Math.max(0, status),
    headers,
    get body() {
      const content = response['content']
      const hasNone = status < 200 || [204, 205, 304].includes(status)
      return (received ??= hasNone ? noBody : harBody(content, headers, attachment))
    },
  }
}

const textOf = (value: unknown): string =>
  value === undefined || value === null ? '' : JSON.stringify(value)

/** HTTP/2 sends the request line and the status as headers whose names begin with a colon. */
function real(lines: readonly HeaderLine[]): HeaderLine[] {
  return lines.filter(({ name }) => !name.startsWith(':'))
}

/** Some recorders keep no headers but the media type of the content. */
function labelled(headers: readonly HeaderLine[], content: unknown): readonly HeaderLine[] {
  const type = isObject(content) ? content['mimeType'] : undefined
  const known = typeof type === 'string' && type !== '' && type !== 'x-unknown'
  return headers.length === 0 && known ? [{ name: 'content-type', value: type }] : headers
}

function requestBody(
  { postData, bodySize, method }: Record<string, unknown>,
  headers: readonly HeaderLine[],
  attachment: Attachment,
): HarBody {
  const hasNone = postData === undefined || postData === null
  if (hasNone && (method === 'GET' || bodySize === 0)) return noBody
  return harBody(postData, headers, attachment, bodySize)
}

/** Recorders are looser than RFC 3339 (for example an offset without colon); in a report a year has four digits. */
function instantOf(value: unknown): number | undefined {
  const epochMs = typeof value === 'string' ? Date.parse(value) : NaN
  return Number.isNaN(epochMs) || !/^\d{4}-/.test(new Date(epochMs).toISOString())
    ? undefined
    : epochMs
}

/**
 * A body as a HAR holds it. `whole`: all of it; `cut`: the recorder says, or the length shows, that an end is missing;
 * `missing`: it was not recorded, or not decoded.
 */
export interface HarBody {
  readonly state: 'whole' | 'cut' | 'missing'
  readonly bytes: Uint8Array
  /** Bytes of the whole body and its SHA-256 in hex, if it was cut and the recorder says so. */
  readonly length?: number
  readonly sha256?: string
  /** It is in a file that is not beside the recording. */
  readonly isElsewhere?: true
}

export const noBody: HarBody = { state: 'whole', bytes: new Uint8Array() }
const missing: HarBody = { state: 'missing', bytes: new Uint8Array() }
const elsewhere: HarBody = { ...missing, isElsewhere: true }

/** The body of an answer (`content`), or of a request (`postData`, whose size is in another member). */
function harBody(
  holder: unknown,
  headers: readonly HeaderLine[],
  attachment: Attachment,
  declaredSize?: unknown,
): HarBody {
  const content = isObject(holder) ? holder : {}
  const { _file: file, comment, text } = content
  const size = content['size'] ?? declaredSize
  const declared = headerValue(headers, 'content-length')
  const attached = typeof file === 'string' ? attachment(file) : undefined
  if (attached) return { state: 'whole', bytes: attached }
  if (typeof text !== 'string')
    return typeof file === 'string' ? elsewhere : declared === '0' ? noBody : missing
  // Browsers leave an empty text if they did not keep the body.
  if (text === '' && Number.parseInt(declared ?? '0') > 0) return missing
  const base64 = (content['encoding'] ?? content['_encoding']) === 'base64'
  const bytes = Buffer.from(text, base64 ? 'base64' : 'utf8')
  const isRemarked = typeof comment === 'string' && comment !== ''
  const isShort = typeof size === 'number' && size > bytes.length
  // Recorders count what came over the wire, or characters: a body that is whole JSON is whole.
  if (content['_cut'] === true || ((isRemarked || isShort) && !isWholeJson(bytes)))
    return { state: 'cut', bytes, ...wholeOf(content, size) }
  const coding = headerValue(headers, 'content-encoding') ?? ''
  if (!base64 || ['', 'identity'].includes(coding) || isUtf8(bytes))
    return { state: 'whole', bytes }
  // Some recorders keep a compressed body as it came.
  const decoded = decodedFrom(bytes, coding)
  return decoded ? { state: 'whole', bytes: decoded } : missing
}

/** Whether it is an object, an array or a text of JSON to its end: what lacks its end is none of them. */
function isWholeJson(bytes: Buffer): boolean {
  const text = bytes.toString('utf8')
  return /^\s*[{["]/.test(text) && parsedJson(text) !== undefined
}

/** Most bytes of a body that a recorder kept compressed. */
const mostDecoded = 64 * 1024 * 1024

function decodedFrom(bytes: Uint8Array, coding: string): Uint8Array | undefined {
  const limits = { maxOutputLength: mostDecoded }
  try {
    if (/^(x-)?gzip$/i.test(coding)) return gunzipSync(bytes, limits)
    if (/^deflate$/i.test(coding)) return inflateSync(bytes, limits)
    return /^br$/i.test(coding) ? brotliDecompressSync(bytes, limits) : undefined
  } catch {
    return undefined
  }
}

function wholeOf(
  content: Record<string, unknown>,
  size: unknown,
): Pick<HarBody, 'length' | 'sha256'> {
  const length = content['_bodyLength'] ?? size
  const sha256 = content['_bodySha256']
  return {
    ...(typeof length === 'number' && length >= 0 ? { length } : {}),
    ...(typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256) ? { sha256 } : {}),
  }
}
