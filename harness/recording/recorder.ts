import { closeSync, openSync, readSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { FailureExchange, RecordedExchange, RecordedHeaders, Shown } from './recorded.ts'
import { curlOf } from './curl.ts'
import { recordBody, recordHead, recordHeaders } from './recorded.ts'
import type { Redactor } from './redactor.ts'
import type { HeaderLine, HttpRequest, HttpResult } from '../http/index.ts'

interface EndedExchange extends Pick<RecordedExchange, 'requirement' | 'operation' | 'role'> {
  readonly url: string
  readonly request: HttpRequest
  readonly result: HttpResult
  /** The credential of the request, how it is written wherever it is shown, and what a shell makes it of. */
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

/** Request headers whose shown value differs from the one sent: a shell has to fill the key in. */
function expandedNames(lines: readonly HeaderLine[], shown: RecordedHeaders): Set<string> {
  const names = lines
    .filter(({ name, value }) => shown[name.toLowerCase()] !== value)
    .map(({ name }) => name.toLowerCase())
  return new Set([...names, 'authorization'])
}

/** Longest answer that is recorded at once, in bytes; longer ones are held until somebody asks, up to `maxHeld` in all. */
const longestAtOnce = 16 * 1024
const maxHeld = 1024 * 1024

/** Writes exchanges down as they come, a line of JSON each, of which any one can be read again. */
function createExchangeLog(path: string) {
  let fd: number | undefined
  let problem: string | undefined
  /** Offsets in bytes at which each line begins, and the last one ends. */
  const starts = [0]
  return {
    get count(): number {
      return starts.length - 1
    },
    /** Folder and error code (`/tmp: ENOSPC`) if it could not be written; no more exchanges are kept then. */
    get problem(): string | undefined {
      return problem
    },
    write(exchange: RecordedExchange): void {
      const line = Buffer.from(`${JSON.stringify(exchange)}\n`)
      // Each has its number, also if it could not be kept.
      starts.push(starts.at(-1)! + line.length)
      if (problem !== undefined) return
      try {
        fd ??= openSync(path, 'a+', 0o600)
        // Unlike writeSync, it does not end in the middle of a line when the disk is nearly full.
        writeFileSync(fd, line)
      } catch (error) {
        problem = `${dirname(path)}: ${(error as NodeJS.ErrnoException).code ?? 'error'}`
      }
    },
    read(index: number): RecordedExchange {
      const from = starts[index]!
      const bytes = Buffer.alloc(starts[index + 1]! - from)
      const got = fd === undefined ? 0 : readSync(fd, bytes, 0, bytes.length, from)
      if (got < bytes.length) throw new Error(`exchange ${index} cannot be read again from ${path}`)
      return JSON.parse(bytes.toString()) as RecordedExchange
    },
    close(): void {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}

/** @param logFile file that gets each exchange as a line of JSON; without one they are not kept */
export function createRecorder(logFile: string | undefined, redactor: Redactor) {
  const log = logFile === undefined ? undefined : createExchangeLog(logFile)
  let count = 0
  let held = 0
  const times = new Map<string, number>()
  const redact = (text: string): string => redactor.text(text)
  const shown: Shown = ({ name, value }) => ({
    name: redact(name.toLowerCase()),
    value: redactor.header(value),
  })
  const formOf = ({ url, request, result, credential }: EndedExchange): FailureExchange => {
    const own = credential.value !== undefined
    const shownAsSent = request.headers.filter(
      ({ name }) => !own || name.toLowerCase() !== 'authorization',
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
    // Other programs take the form of a shell for one of their own.
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
    /** Text of a target or of a target file as it may be shown: without any key. */
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
      // Most exchanges are never shown: taking keys out of them costs more than sending them.
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
        // The bytes of one that was cut are let go.
        if (result.cut || held > maxHeld) recorded()
      }
      return made ? always(made) : recorded
    },
    /** ms that the exchanges of that requirement took, one after the other; what they waited for is not counted. */
    tookMs: (requirement: string): number => times.get(requirement) ?? 0,
    close: () => log?.close(),
  }
}

export type Recorder = ReturnType<typeof createRecorder>
