import { closeSync, openSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { curlOf } from './curl.ts'
import {
  type FailureExchange,
  type RecordedExchange,
  type RecordedHeaders,
  type Shown,
  recordBody,
  recordHead,
  recordHeaders,
} from './recorded.ts'
import type { Redactor } from './redactor.ts'
import type { HeaderLine, HttpRequest, HttpResult } from '../http/index.ts'

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

/** Logs exchanges as lines of JSON. */
function createExchangeLog(path: string) {
  let fd: number | undefined
  let problem: string | undefined
  return {
    /** Folder and error code (`/tmp: ENOSPC`) if writing failed; no more exchanges are kept then. */
    get problem(): string | undefined {
      return problem
    },
    write(exchange: RecordedExchange): void {
      try {
        fd ??= openSync(path, 'a', 0o600)
        // Unlike writeSync, this writes whole lines even when the disk is nearly full.
        writeFileSync(fd, `${JSON.stringify(exchange)}\n`)
      } catch (error) {
        problem = `${dirname(path)}: ${(error as NodeJS.ErrnoException).code ?? 'error'}`
      }
    },
    close(): void {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}

export function createRecorder(logFile: string | undefined, redactor: Redactor) {
  const log = logFile === undefined ? undefined : createExchangeLog(logFile)
  let count = 0
  let held = 0
  const times = new Map<string, number>()
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
        headers: recordHead(result.headers, shown),
        ...body,
      }
      if (result.cut) exchange.response.bodyLength ??= result.body.length
    }
    return exchange
  }
  return {
    redact,
    get count(): number {
      return count
    },
    get problem(): string | undefined {
      return log?.problem
    },
    record(ended: EndedExchange): () => FailureExchange {
      const n = count++
      const { requirement, operation, role, result } = ended
      if (requirement !== null)
        times.set(requirement, (times.get(requirement) ?? 0) + result.endedAt - result.sentAt)
      let made: FailureExchange | undefined
      // Recorded lazily: most exchanges are never shown, and removing keys costs more than sending.
      const recorded = (): FailureExchange => (made ??= formOf(ended))
      if (log && log.problem === undefined) {
        log.write({
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
        })
      } else if (result.kind === 'answer' && result.body.length > longestAtOnce) {
        held += result.body.length
        if (result.cut || held > maxHeld) recorded()
      }
      return made ? always(made) : recorded
    },
    tookMs: (requirement: string): number => times.get(requirement) ?? 0,
    close: () => log?.close(),
  }
}

export type Recorder = ReturnType<typeof createRecorder>
