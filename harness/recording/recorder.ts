import { closeSync, openSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { FailureExchange, RecordedExchange, RecordedHeaders } from '../report/model.ts'
import type { Purpose } from '../engine/exchange.ts'
import type { Redactor } from './redactor.ts'
import type { Probe, RequestHeader } from '../engine/probe.ts'
import type { WireRequest, WireResult } from '../http/message.ts'
import { recordBody } from './body.ts'
import { curlOf } from './curl.ts'
import { recordHead, recordHeaders, type Shown } from './headers.ts'

/** Writes each exchange down as it comes, keys removed, and gives its recorded form back. */
export interface Recorder {
  /** @param url the address in full, as it was asked */
  record(url: string, probe: Probe, request: WireRequest, result: WireResult, purpose: Purpose): FailureExchange
  readonly count: number
  /** Folder and error code (`/tmp: ENOSPC`) if the log could not be written; exchanges are then kept no more. */
  readonly problem: string | undefined
  close(): void
}

/** Request headers whose shown value differs from the one sent: a shell has to fill the key in. */
function expandedNames(lines: readonly RequestHeader[], shown: RecordedHeaders): ReadonlySet<string> {
  const names = lines
    .filter(({ name, value }) => shown[name.toLowerCase()] !== value)
    .map(({ name }) => name.toLowerCase())
  return new Set([...names, 'authorization'])
}

export function createRecorder(logFile: string, redactor: Redactor): Recorder {
  let fd: number | undefined
  let count = 0
  let problem: string | undefined
  const redact = (text: string): string => redactor.text(text)
  const shown: Shown = ({ name, value }) => ({ name: redact(name.toLowerCase()), value: redactor.header(name, value) })
  const write = (line: RecordedExchange): void => {
    if (problem !== undefined) return
    try {
      fd ??= openSync(logFile, 'a')
      // Unlike writeSync, it does not end in the middle of a line when the disk is nearly full.
      writeFileSync(fd, `${JSON.stringify(line)}\n`)
    } catch (error) {
      problem = `${dirname(logFile)}: ${(error as NodeJS.ErrnoException).code ?? 'error'}`
    }
  }
  return {
    get count() {
      return count
    },
    get problem() {
      return problem
    },
    record(url, probe, request, result, purpose) {
      const own = probe.credential.value !== undefined
      const shownAsSent = request.headers.filter(({ name }) => !own || name.toLowerCase() !== 'authorization')
      const headers = recordHeaders(shownAsSent, shown)
      if (own) headers['authorization'] = probe.credential.shown
      if (request.body !== undefined) headers['content-length'] = String(Buffer.byteLength(request.body))
      const sent = { method: request.method, url: redact(url), headers, ...recordBody(request.body, redact) }
      const exchange: FailureExchange = { request: sent, curl: curlOf(sent, expandedNames(request.headers, headers)) }
      if (result.kind === 'answer') {
        const body = recordBody(result.body, redact)
        exchange.response = { status: result.status, headers: recordHead(result.headers, shown), ...body }
        if (result.cut) exchange.response.bodyLength ??= result.body.length
      }
      const durationMs = Math.round((result.endedAt - result.sentAt) * 1000) / 1000
      write({
        n: count++,
        requirement: purpose.requirement,
        operation: probe.operation,
        role: purpose.role,
        startedAt: new Date(performance.timeOrigin + result.sentAt).toISOString(),
        durationMs,
        ...(result.kind === 'no-answer' ? { error: redact(result.message) } : { httpVersion: '1.1' }),
        ...exchange,
      })
      return exchange
    },
    close() {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}
