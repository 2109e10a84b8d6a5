import type { Dispatcher } from 'undici'
import { type Collector, collect } from './collect.ts'
import { headerLines, headersOf, promisedLength, headerValue } from './headers.ts'
import type { Connection, Line } from './line.ts'
import type { HeaderLine, Mark, NoAnswer, HttpRequest, HttpAnswer, HttpResult } from './message.ts'
import { type Progress, type Reason, explain, timedOut, unaskedUpgrade } from './no-answer.ts'
import { deadlinePassed } from './under-way.ts'
import { type Encoded, decode } from './decode.ts'

export interface Terms {
  /** Most bytes of a body that are read, as they come. */
  readonly limit: number
  /** For the message; the signal keeps the time. */
  readonly timeoutMs: number
  /** Aborted at the deadline, with `deadlinePassed` as reason, or when the run is interrupted. */
  readonly signal: AbortSignal
  readonly mark?: Mark
}

const unmarked: Mark = {}

/** An answer as it came, its content encoding still on it. */
export interface RawAnswer {
  readonly kind: 'raw'
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly body: Uint8Array
  readonly cut: boolean
  readonly before?: Mark
  readonly sentAt: number
  readonly endedAt: number
}

export interface Exchanged {
  readonly outcome: RawAnswer | NoAnswer
  /** The line can carry another exchange. */
  readonly reusable: boolean
}

/** Sends one request on a free line and reads its answer. Never rejects. */
export function exchange(
  line: Line,
  request: HttpRequest,
  { limit, timeoutMs, signal, mark }: Terms,
): Promise<Exchanged> {
  return new Promise((resolve) => {
    const { endpoint } = line
    let sentAt = performance.now()
    let controller: Dispatcher.DispatchController | undefined
    let connection: Connection | undefined
    let before: Mark | undefined
    let head: { status: number; headers: readonly HeaderLine[]; length: number | undefined } | undefined
    let body: Collector | undefined
    let settled = false

    function settle(outcome: RawAnswer | NoAnswer, reusable: boolean): void {
      if (settled) return
      settled = true
      signal.removeEventListener('abort', interrupt)
      resolve({ outcome, reusable })
      if (!reusable) controller?.abort(new Error('the exchange is over'))
    }

    const progress = (): Progress => ({
      host: endpoint.host,
      secure: endpoint.secure,
      connected: connection !== undefined,
      bytes: connection?.watch.bytes ?? 0,
      status: head?.status,
      bodyBytes: body?.length ?? 0,
      bodyLength: head?.length,
    })

    function fail(reason: Reason): void {
      const staleConnection = reason.cause === 'reset' && before !== undefined && connection?.watch.bytes === 0
      settle({ kind: 'no-answer', ...reason, staleConnection, before, sentAt, endedAt: performance.now() }, false)
    }

    function finish({ cut, reusable }: { cut: boolean; reusable: boolean }): void {
      const { status, headers } = head!
      const read = { status, headers, body: body!.bytes(), cut }
      settle({ kind: 'raw', ...read, before, sentAt, endedAt: performance.now() }, reusable)
    }

    const interrupt = () => fail(signal.reason === deadlinePassed ? timedOut(timeoutMs, progress()) : interrupted)

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(given) {
        controller = given
        if (settled) return given.abort(new Error('the exchange is over'))
        connection = line.connection
        if (connection) {
          before = connection.exchanges > 0 ? (connection.mark ?? unmarked) : undefined
          connection.exchanges += 1
          connection.mark = mark
        }
        connection?.watch.begin()
        sentAt = performance.now()
      },
      onRequestUpgrade: () => fail(unaskedUpgrade),
      onResponseStart({ rawHeaders }, status) {
        if (status === 101) return fail(unaskedUpgrade)
        if (status < 100)
          return fail({ cause: 'malformed', message: 'the answer is not HTTP: its status is below 100' })
        if (status < 200) return
        const headers = headerLines(rawHeaders as Buffer[])
        head = { status, headers, length: promisedLength(headers) }
        body = collect(limit)
      },
      onResponseData(_, chunk) {
        if (!settled && !body!.add(chunk)) finish({ cut: true, reusable: false })
      },
      onResponseEnd: () => finish({ cut: false, reusable: true }),
      onResponseError(_, error) {
        if (head && isBodiless(head.status)) finish({ cut: false, reusable: false })
        else fail(explain(error, progress()))
      },
    }

    signal.addEventListener('abort', interrupt, { once: true })
    if (signal.aborted) return interrupt()
    line.dispatch(
      {
        origin: endpoint.origin,
        method: request.method,
        path: endpoint.prefix + request.path,
        headers: headersOf(request, endpoint.proxied),
        body: request.body,
      },
      handler,
    )
  })
}

export const interrupted: Reason = { cause: 'aborted', message: 'the run was interrupted before the answer was whole' }

/** An answer of such a status ends with its head (RFC 9112 §6.3), whatever length it names; undici complains of the length. */
const isBodiless = (status: number) => status === 204 || status === 304

/** Takes the content encoding off. */
export async function readAnswer(raw: RawAnswer, { limit, timeoutMs, signal }: Terms): Promise<HttpResult> {
  const { status, headers, body, cut, before, sentAt, endedAt } = raw
  const encoded: Encoded = { body, cut, encoding: headerValue(headers, 'content-encoding') ?? '' }
  try {
    const decoded = await decode(encoded, limit, signal)
    return { kind: 'answer', status, headers, ...decoded, before, sentAt, endedAt } satisfies HttpAnswer
  } catch {
    return noAnswer(signal.reason === deadlinePassed ? notDecoded(timeoutMs) : interrupted, sentAt)
  }
}

/** No answer, on a connection about which nothing more is known. */
export const noAnswer = ({ cause, message, detail }: Reason, sentAt: number): NoAnswer => ({
  kind: 'no-answer',
  cause,
  message,
  ...(detail && { detail }),
  staleConnection: false,
  sentAt,
  endedAt: performance.now(),
})

const notDecoded = (timeoutMs: number): Reason => ({
  cause: 'timeout',
  message: `the body could not be decoded within ${timeoutMs.toLocaleString('en-US')} ms`,
})
