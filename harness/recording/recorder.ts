import { closeSync, openSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Redactor, redacted } from './redactor.ts'
import type { HeaderLine, HttpRequest, HttpResult } from '../http/index.ts'
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type {
  FailureExchange,
  RecordedBody,
  RecordedExchange,
  RecordedHeaders,
  RecordedRequest,
} from '../../schemas/exchange.ts'
import { doubleQuoted, singleQuoted } from '../shell-word.ts'

interface EndedExchange extends Pick<RecordedExchange, 'requirement' | 'operation' | 'role'> {
  readonly url: string
  readonly request: HttpRequest
  readonly result: HttpResult
  readonly credential: {
    readonly value?: string
    readonly shown: string
    readonly inShell?: string
  }
}

const always =
  <T>(value: T) =>
  (): T =>
    value

/** Headers whose shown value differs from the sent one: a shell fills in the key. */
function expandedNames(lines: readonly HeaderLine[], shown: RecordedHeaders): Set<string> {
  const names = lines
    .filter((line) => shown[line.name.toLowerCase()] !== line.value)
    .map((line) => line.name.toLowerCase())
  return new Set([...names, 'authorization'])
}

/** Largest answer to record at once, in bytes; larger ones are kept until needed, up to `maxHeld` in all. */
const longestAtOnce = 16 * 1024
const maxHeld = 1024 * 1024

/** @param logFile receives exchanges as lines of JSON */
export function createRecorder(logFile: string | undefined, redactor: Redactor) {
  let fd: number | undefined
  let held = 0
  const redact = (text: string): string => redactor.text(text)
  const shown: Shown = (one) => ({
    name: redact(one.name.toLowerCase()),
    value: redactor.header(one.value),
  })
  const formOf = ({ url, request, result, credential }: EndedExchange): FailureExchange => {
    const own = credential.value !== undefined
    const shownAsSent = request.headers.filter(
      (header) => !own || header.name.toLowerCase() !== 'authorization',
    )
    const { 'user-agent': userAgent, ...headers } = recordHeaders(shownAsSent, shown)
    if (userAgent) headers['user-agent'] = userAgent
    if (own) headers['authorization'] = credential.shown
    if (request.body !== undefined)
      headers['content-length'] = String(Buffer.byteLength(request.body))
    const sent = {
      method: request.method,
      url: redact(url),
      headers,
      ...recordBody(request.body, redact),
    }
    const expanded = expandedNames(request.headers, headers)
    if (sent.url !== url) expanded.add(':url')
    const { inShell } = credential
    const inCurl = { ...headers, ...(own && inShell !== undefined && { authorization: inShell }) }
    const curl = curlOf({ ...sent, headers: inCurl }, expanded, userAgent === '')
    const exchange: FailureExchange = { request: sent, curl }
    if (result.kind === 'answer') {
      const body = recordBody(result.body, redact, !result.cut)
      exchange.response = {
        status: result.status,
        headers: recordHeaders(result.headers, shown),
        ...body,
      }
      if (result.cut) exchange.response.bodyLength ??= result.body.length
    }
    return exchange
  }
  const recorder = {
    redact,
    count: 0,
    /** How long the requests of each requirement took, in ms. */
    tookMs: new Map<string, number>(),
    /** Folder and error code (`/tmp: ENOSPC`) if writing failed; no more exchanges are logged then. */
    problem: undefined as string | undefined,
    record(ended: EndedExchange): () => FailureExchange {
      const n = recorder.count++
      const { requirement, operation, role, result } = ended
      if (requirement !== null) {
        const before = recorder.tookMs.get(requirement) ?? 0
        recorder.tookMs.set(requirement, before + result.endedAt - result.sentAt)
      }
      let made: FailureExchange | undefined
      // Recorded lazily: most exchanges are never shown, and removing keys costs more than sending.
      const recorded = (): FailureExchange => (made ??= formOf(ended))
      if (logFile !== undefined && recorder.problem === undefined) {
        const logged: RecordedExchange = {
          n,
          requirement,
          operation,
          role,
          startedAt: new Date(performance.timeOrigin + result.sentAt).toISOString(),
          durationMs: Math.round((result.endedAt - result.sentAt) * 1000) / 1000,
          ...(result.kind === 'no-answer'
            ? { error: redact(result.message) }
            : { httpVersion: '1.1' }),
          ...recorded(),
        }
        try {
          fd ??= openSync(logFile, 'a', 0o600)
          // Unlike writeSync, this writes whole lines even when the disk is nearly full.
          writeFileSync(fd, `${JSON.stringify(logged)}\n`)
        } catch (error) {
          const { code = 'error' } = error as NodeJS.ErrnoException
          recorder.problem = `${dirname(logFile)}: ${code}`
        }
      } else if (result.kind === 'answer' && result.body.length > longestAtOnce) {
        held += result.body.length
        if (result.cut || held > maxHeld) recorded()
      }
      return made ? always(made) : recorded
    },
    close(): void {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
  return recorder
}

export type Recorder = ReturnType<typeof createRecorder>

export type Shown = (line: HeaderLine) => HeaderLine

export function recordHeaders(lines: readonly HeaderLine[], shown: Shown): RecordedHeaders {
  const recorded: RecordedHeaders = Object.create(null) as RecordedHeaders
  for (const line of lines) {
    const { name, value } = shown(line)
    recorded[name] = name in recorded ? `${recorded[name]}, ${value}` : value
  }
  return { ...recorded }
}

/** Recorded part of a body in bytes; length and SHA-256 of the whole are kept. */
export const recordedBytes = 16 * 1024

/**
 * Keys are searched in the recorded part and this many characters after it: one that begins in that part is found to
 * its end, and the megabytes that follow need not be read.
 */
const overlap = 64 * 1024
const lookedAt = recordedBytes + overlap

/** The longest prefix of at most `limit` bytes that splits no character. */
function cutText(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  return new TextDecoder().decode(bytes.subarray(0, limit), { stream: true })
}

/**
 * Records a body: keys removed, then truncated; bytes that are not UTF-8 as base64.
 * @param isWhole whether all of it was read, so that it has a digest
 */
export function recordBody(
  body: string | Uint8Array | undefined,
  redact: (text: string) => string,
  isWhole = true,
): RecordedBody {
  if (body === undefined || body.length === 0) return { body: '' }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const isCut = bytes.length > lookedAt
  const start = Buffer.from(isCut ? bytes.subarray(0, lookedAt) : bytes)
  const whole = (): Pick<RecordedBody, 'bodyLength' | 'bodySha256'> => ({
    bodyLength: bytes.length,
    ...(isWhole && { bodySha256: createHash('sha256').update(bytes).digest('hex') }),
  })
  if (isUtf8(bytes)) {
    const shown = redact(
      new TextDecoder('utf-8', { ignoreBOM: true }).decode(start, { stream: isCut }),
    )
    const kept = cutText(shown, recordedBytes)
    return kept.length < shown.length || isCut ? { body: kept, ...whole() } : { body: kept }
  }
  // With one character per byte, keys among other bytes are found and replaced as in text.
  const shown = Buffer.from(redact(start.toString('latin1')), 'latin1')
  const kept = shown.subarray(0, recordedBytes)
  const recorded: RecordedBody = { body: kept.toString('base64'), bodyEncoding: 'base64' }
  return kept.length < shown.length || isCut ? { ...recorded, ...whole() } : recorded
}

const longestText = 2000

/** Reasons and failures may quote the target: keys are removed, and the text is truncated. */
export function shownText(text: string, redact: (text: string) => string): string {
  const kept = redact(text.slice(0, overlap))
  return kept.length > longestText ? `${kept.slice(0, longestText)}…` : kept
}

export const inProcessUrl = 'http://in-process.localhost'

type Expanded = ReadonlySet<string>

/**
 * A one-line shell command that resends the request: keys come from the environment; bytes and invisible characters go
 * through base64. Headers that curl sets by itself are omitted.
 * @param isNameless the request was sent without a User-Agent, which curl would add
 */
export function curlOf(request: RecordedRequest, expanded: Expanded, isNameless = false): string {
  const url = expanded.has(':url') ? doubleQuoted(request.url) : singleQuoted(request.url)
  const parts = ['curl', '-sS', '-i', '-X', request.method, '--path-as-is', url]
  if (request.headers['accept-encoding']) parts.push('--compressed')
  for (const [name, value] of Object.entries(request.headers)) {
    if (['host', 'content-length', 'accept-encoding'].includes(name)) continue
    const line = value === '' ? `${name};` : `${name}: ${value}`
    parts.push('-H', expanded.has(name) ? doubleQuoted(line) : singleQuoted(line))
  }
  if (isNameless) parts.push('-H', 'user-agent:')
  const remarks = remarksOn(request)
  const isText = request.bodyEncoding === undefined
  if (!isText || /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(request.body)) {
    const bytes = isText ? Buffer.from(request.body).toString('base64') : request.body
    return `printf %s ${singleQuoted(bytes)} | base64 -d | ${parts.join(' ')} --data-binary @-${remarks}`
  }
  if (request.body !== '' || request.headers['content-length'] === '0') {
    parts.push('--data-binary', singleQuoted(request.body))
  }
  return parts.join(' ') + remarks
}

export const remarkMark = '  # '

function remarksOn({ bodyLength, headers, body, url }: RecordedRequest): string {
  const remarks = [
    bodyLength !== undefined && `the body is truncated here: ${bodyLength} bytes in all`,
    /\[.*\]/.test(headers['authorization'] ?? '') &&
      'its key is not available: the words in brackets describe it',
    url.startsWith(`${inProcessUrl}/`) &&
      'the target is a handler in the same process: no port is open',
    `${url} ${body}`.includes(redacted) && `${redacted} replaces a key`,
  ]
  const shown = remarks.filter((remark) => remark !== false)
  return shown.length > 0 ? remarkMark + shown.join('; ') : ''
}

export function curlOfBoth(first: FailureExchange, second: FailureExchange): string {
  const isPlain = (exchange: FailureExchange): boolean =>
    exchange.curl.startsWith('curl ') && !exchange.curl.includes(remarkMark)
  if (isPlain(first) && isPlain(second))
    return `${first.curl} --next ${second.curl.slice('curl '.length)}`
  const { method, url } = first.request
  return `${second.curl}${remarkMark}this request alone does not reproduce it: send it after ${method} ${url} on one connection`
}
