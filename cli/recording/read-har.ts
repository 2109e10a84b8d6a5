import { buffer } from 'node:stream/consumers'
import { parseJson, readBytes } from '../../harness/report/index.ts'
import { UserError } from '../../harness/user-error.ts'
import { getAt, isObject, member, parsedJson } from '../../schemas/json.ts'
import { isUtf8 } from 'node:buffer'
import { type HeaderLine, headerValue } from '../../harness/http/index.ts'

/** Reads a HAR 1.2 file of up to 256 MiB; `-` is stdin. Throws UserError if it is not one. */
export async function readHar(path: string) {
  const name = path === '-' ? 'the standard input' : path
  const bytes = await bytesOf(path, name)
  const found = getAt(parseJson(bytes.toString('utf8'), name), '/log/entries')
  if (!Array.isArray(found)) throw new UserError(`${name}: is not a HAR 1.2: it has no log.entries`)
  const all = (found as unknown[]).map(recordedEntry)
  const entries = all.filter((entry) => entry !== undefined)
  const unreadable = all.flatMap((entry, at) => (entry ? [] : [`log.entries[${at}]`]))
  if (entries.every((entry) => entry.startedAt !== undefined))
    entries.sort((a, b) => a.startedAt! - b.startedAt!)
  /** `entries`: in sending order, as far as known; `unreadable`: the places of invalid ones. */
  return { entries, unreadable }
}

const mostBytes = 256 * 1024 * 1024

async function bytesOf(path: string, name: string): Promise<Buffer> {
  const bytes = path === '-' ? await buffer(process.stdin) : readBytes(path)
  if (bytes.length <= mostBytes) return bytes
  throw new UserError(`${name}: has more than 256 MiB; record the requests to the interface alone`)
}

export interface RecordedEntry {
  readonly index: number
  /** False for an answer of a service worker (whose own requests are other entries), of a cache, or of a mock. */
  readonly isOfServer: boolean
  readonly startedAt: number | undefined
  readonly durationMs: number
  readonly httpVersion: string
  readonly method: string
  readonly url: string
  readonly requestHeaders: readonly HeaderLine[]
  readonly requestBody: HarBody
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly body: HarBody
}

/**
 * A body in a HAR. `whole`: complete; `cut`: truncated, according to the recorder or the length; `missing`: not
 * recorded, compressed, or in another file.
 */
export interface HarBody {
  readonly state: 'whole' | 'cut' | 'missing'
  readonly bytes: Uint8Array
  readonly length?: number
}

/** Undefined if it is not one of HAR 1.2. Recorders write null for unknown values, and no response without an answer. */
export function recordedEntry(value: unknown, index: number): RecordedEntry | undefined {
  const request = member(value, 'request')
  const response = member(value, 'response') ?? { status: 0 }
  if (!isObject(value) || !isObject(request) || !isObject(response)) return undefined
  const { startedDateTime, time } = value
  const { method, postData, url } = request
  const { content } = response
  const status = response['status'] ?? 0
  const requestHeaders = headersOf(request['headers'])
  const headers = headersOf(response['headers'])
  const isStatus = typeof status === 'number' && Number.isInteger(status) && status <= 999
  if (typeof method !== 'string' || method === '' || typeof url !== 'string') return undefined
  if (!isStatus || !requestHeaders || !headers) return undefined
  const type = member(content, 'mimeType')
  // Some recorders keep only the media type of the content.
  if (headers.length === 0 && typeof type === 'string' && type !== '' && type !== 'x-unknown')
    headers.push({ name: 'content-type', value: type })
  // A browser also writes a size of 0 for a body that it did not keep.
  const isLabelled = requestHeaders.some((one) => /^content-(?:length|type)$/i.test(one.name))
  const isEmptyRequest = method === 'GET' || (request['bodySize'] === 0 && !isLabelled)
  const isEmptyResponse = status < 200 || [204, 205, 304].includes(status)
  return {
    index,
    // Written by Chrome, Chrome and Playwright.
    isOfServer: !(
      response['_fetchedViaServiceWorker'] ||
      value['_fromCache'] ||
      value['_wasFulfilled']
    ),
    startedAt: instantOf(startedDateTime),
    durationMs: typeof time === 'number' && time > 0 && Number.isFinite(time) ? time : 0,
    httpVersion: /^HTTP\/(\d(?:\.\d)?)$/i.exec(String(response['httpVersion']))?.[1] ?? '1.1',
    method: method.toUpperCase(),
    url,
    requestHeaders,
    requestBody:
      isEmptyRequest && (postData ?? null) === null
        ? noBody
        : harBody(postData, requestHeaders, request['bodySize']),
    // Recorders write 0 or -1 if a request was refused, blocked or cut off.
    status: Math.max(0, status),
    headers,
    body: isEmptyResponse ? noBody : harBody(content, headers),
  }
}

function headersOf(lines: unknown): HeaderLine[] | undefined {
  if (!Array.isArray(lines ?? [])) return undefined
  const all = ((lines ?? []) as unknown[]).flatMap((line) => {
    const [name, value = ''] = [member(line, 'name'), member(line, 'value')]
    if (typeof name !== 'string') return []
    return { name, value: typeof value === 'string' ? value : JSON.stringify(value ?? '') }
  })
  // HTTP/2 sends the request line and the status as headers whose names begin with a colon.
  return all.filter((one) => !one.name.startsWith(':'))
}

/** Recorders are looser than RFC 3339 (for example an offset without colon); in a report a year has four digits. */
function instantOf(value: unknown): number | undefined {
  const epochMs = typeof value === 'string' ? Date.parse(value) : NaN
  return Number.isNaN(epochMs) || !/^\d{4}-/.test(new Date(epochMs).toISOString())
    ? undefined
    : epochMs
}

const noBody: HarBody = { state: 'whole', bytes: new Uint8Array() }

function harBody(holder: unknown, headers: readonly HeaderLine[], bodySize?: unknown): HarBody {
  const content = isObject(holder) ? holder : {}
  const { _cut: cut, comment, text } = content
  const declared = Number.parseInt(headerValue(headers, 'content-length') ?? '')
  if (typeof text !== 'string') return declared === 0 ? noBody : { ...noBody, state: 'missing' }
  // Browsers leave an empty text if they did not keep the body.
  if (text === '' && declared > 0) return { ...noBody, state: 'missing' }
  const isBase64 = (content['encoding'] ?? content['_encoding']) === 'base64'
  const bytes = Buffer.from(text, isBase64 ? 'base64' : 'utf8')
  const size = content['_bodyLength'] ?? content['size'] ?? bodySize
  const isCoded = !['', 'identity'].includes(headerValue(headers, 'content-encoding') ?? '')
  const length = Math.max(typeof size === 'number' ? size : 0, isCoded ? 0 : declared || 0)
  const isShort = length > bytes.length
  const isRemarked = typeof comment === 'string' && comment !== ''
  // Recorders count bytes on the wire, or characters: a body of valid JSON is complete.
  const written = isRemarked || isShort ? bytes.toString('utf8') : '{}'
  const isJson = /^\s*[{["]/.test(written) && parsedJson(written) !== undefined
  if (cut === true || !isJson) return { state: 'cut', bytes, ...(isShort && { length }) }
  const isStillCoded = isBase64 && isCoded && !isUtf8(bytes)
  return isStillCoded ? { ...noBody, state: 'missing' } : { state: 'whole', bytes }
}
