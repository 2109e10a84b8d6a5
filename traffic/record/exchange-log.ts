import { closeSync, openSync, readSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { RecordedBody } from '../../harness/recording/recorded.ts'
import type { RecordedExchange } from '../../harness/report/model.ts'
import { type HarBody, noBody } from '../har-bytes.ts'
import type { RecordedEntry } from '../recorded-entry.ts'

/** Exchanges written down as they come, a line of JSON each, of which any one can be read again. */
interface ExchangeLog {
  readonly count: number
  /** Folder and error code if it could not be written; no more exchanges are kept then. */
  readonly problem: string | undefined
  write(exchange: RecordedExchange): void
  read(index: number): RecordedEntry
  close(): void
}

export function createExchangeLog(path: string): ExchangeLog {
  let fd: number | undefined
  let problem: string | undefined
  /** Where each line begins, in bytes, and where the last one ends. */
  const starts = [0]
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      problem ??= `${dirname(path)}: ${(error as NodeJS.ErrnoException).code ?? 'error'}`
      return undefined
    }
  }
  return {
    get count() {
      return starts.length - 1
    },
    get problem() {
      return problem
    },
    write(exchange) {
      const line = Buffer.from(`${JSON.stringify(exchange)}\n`)
      // Each has its number, also if it could not be kept.
      starts.push(starts.at(-1)! + line.length)
      if (problem !== undefined) return
      attempt(() => {
        fd ??= openSync(path, 'a+', 0o600)
        writeFileSync(fd, line)
      })
    },
    read(index) {
      const from = starts[index]!
      const bytes = Buffer.alloc(starts[index + 1]! - from)
      const got = fd === undefined ? 0 : readSync(fd, bytes, 0, bytes.length, from)
      if (got < bytes.length) throw new Error(`exchange ${index} cannot be read again from ${path}`)
      return entryOf(JSON.parse(bytes.toString()) as RecordedExchange, index)
    },
    close() {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}

/** A line of the log as an entry of a recording: its keys are removed, its bodies may be cut. */
function entryOf(
  { request, response, startedAt, durationMs, httpVersion }: RecordedExchange,
  index: number,
): RecordedEntry {
  const lines = (headers: Readonly<Record<string, string>> = {}) =>
    Object.entries(headers).map(([name, value]) => ({ name, value }))
  return {
    index,
    startedAt: Date.parse(startedAt),
    durationMs,
    httpVersion: httpVersion ?? '1.1',
    method: request.method,
    url: request.url,
    requestHeaders: lines(request.headers),
    requestBody: bodyOf(request),
    status: response?.status ?? 0,
    headers: lines(response?.headers),
    body: response ? bodyOf(response) : noBody,
  }
}

function bodyOf({ body, bodyEncoding, bodyLength }: RecordedBody): HarBody {
  const bytes = Buffer.from(body, bodyEncoding ?? 'utf8')
  return bodyLength === undefined ? { state: 'whole', bytes } : { state: 'cut', bytes, length: bodyLength }
}
