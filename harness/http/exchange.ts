import type { Dispatcher } from 'undici'
import { type Collector, collect, type Encoded, decode } from './decode.ts'
import { dispatchOptions } from './dispatcher.ts'
import type { HeaderLine, Tag, NoResponse, HttpRequest, WireResponse, HttpResult } from './message.ts'
import { headerLines, promisedLength, sentLines, headerValue } from './message.ts'
import type { Connection, ConnectionSlot } from './connection-pool.ts'
import { type Progress, type Reason, explain, proxyWantsCredentials, timedOut, unaskedUpgrade } from './no-response.ts'
import { deadlinePassed, onAbort } from './under-way.ts'

export interface ExchangeOptions {
  /** Most bytes of a body that are read, as they come. */
  readonly limit: number
  /** For the message; the signal keeps the time. */
  readonly timeoutMs: number
  /** At the deadline, with `deadlinePassed` as reason, or when the run is interrupted. */
  readonly ending: AbortSignal
  readonly tag?: Tag
}

const untagged: Tag = {}

const closedAsIdle: Reason = { cause: 'reset', message: 'the connection was closed as idle, by a 408' }

/** An answer as it came, its content encoding still on it. */
interface RawResponse {
  readonly kind: 'raw'
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly body: Uint8Array
  readonly cut: boolean
  readonly previousTag?: Tag
  readonly sentAt: number
  readonly endedAt: number
}

interface Exchanged {
  readonly outcome: RawResponse | NoResponse
  /** The slot can carry another exchange. */
  readonly reusable: boolean
}

/** The members of a slot by which an exchange goes. */
export type ExchangeSlot = Pick<ConnectionSlot, 'endpoint' | 'connection' | 'dispatch'>

/** Sends one request on a free slot and reads its answer. Rejects only if the slot takes no such request. */
export function exchange(
  slot: ExchangeSlot,
  request: HttpRequest,
  { limit, timeoutMs, ending, tag }: ExchangeOptions,
): Promise<Exchanged> {
  return new Promise((resolve) => {
    const { endpoint } = slot
    let sentAt = performance.now()
    let controller: Dispatcher.DispatchController | undefined
    let connection: Connection | undefined
    let previousTag: Tag | undefined
    let head: { status: number; headers: readonly HeaderLine[]; length: number | undefined } | undefined
    let body: Collector | undefined
    let settled = false

    function settle(outcome: RawResponse | NoResponse, reusable: boolean): void {
      if (settled) return
      settled = true
      forget()
      resolve({ outcome, reusable })
      if (!reusable) controller?.abort(new Error('the exchange is over'))
    }

    const progress = (): Progress => ({
      host: endpoint.host,
      secure: endpoint.secure,
      proxy: endpoint.proxy,
      connected: connection !== undefined,
      bytes: connection?.watch.bytes ?? 0,
      status: head?.status,
      bodyBytes: body?.length ?? 0,
      bodyLength: head?.length,
    })

    function fail(reason: Reason, isStale = connection?.watch.bytes === 0): void {
      const staleConnection = reason.cause === 'reset' && previousTag !== undefined && isStale
      settle({ kind: 'no-answer', ...reason, staleConnection, previousTag, sentAt, endedAt: performance.now() }, false)
    }

    function finish({ cut, reusable }: { cut: boolean; reusable: boolean }): void {
      const { status, headers } = head!
      const read = { status, headers, body: body!.bytes(), cut }
      settle({ kind: 'raw', ...read, previousTag, sentAt, endedAt: performance.now() }, reusable)
    }

    const interrupt = () => fail(ending.reason === deadlinePassed ? timedOut(timeoutMs, progress()) : interrupted)

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(given) {
        controller = given
        if (settled) return given.abort(new Error('the exchange is over'))
        connection = slot.connection
        if (connection) {
          previousTag = connection.exchanges > 0 ? (connection.tag ?? untagged) : undefined
          connection.exchanges += 1
          connection.tag = tag
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
        // Only a proxy answers so; one that opens tunnels has answered to CONNECT.
        if (status === 407 && endpoint.proxy && !endpoint.secure) return fail(proxyWantsCredentials(endpoint.proxy))
        const headers = headerLines(rawHeaders as Buffer[])
        // Said to a connection that was idle for too long, not to the request that has just come on it (RFC 9110 §15.5.9).
        if (status === 408 && previousTag !== undefined && /\bclose\b/i.test(headerValue(headers, 'connection') ?? ''))
          return fail(closedAsIdle, true)
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

    const forget = onAbort(ending, interrupt)
    if (ending.aborted) return interrupt()
    slot.dispatch(dispatchOptions(endpoint, request, sentLines(request)), handler)
  })
}

export const interrupted: Reason = { cause: 'aborted', message: 'the run was interrupted before the answer was whole' }

/** An answer of such a status ends with its head (RFC 9112 §6.3), whatever length it names; undici complains of the length. */
const isBodiless = (status: number) => status === 204 || status === 304

/** Takes the content encoding off. */
export async function readResponse(
  raw: RawResponse,
  { limit, timeoutMs, ending }: ExchangeOptions,
): Promise<HttpResult> {
  const { status, headers, body, cut, previousTag, sentAt, endedAt } = raw
  const encoded: Encoded = { body, cut, encoding: headerValue(headers, 'content-encoding') ?? '' }
  try {
    const decoded = await decode(encoded, limit, ending)
    return { kind: 'answer', status, headers, ...decoded, previousTag, sentAt, endedAt } satisfies WireResponse
  } catch {
    return noResponse(ending.reason === deadlinePassed ? notDecoded(timeoutMs) : interrupted, sentAt)
  }
}

/** No answer, on a connection about which nothing more is known. */
export const noResponse = ({ cause, message, detail }: Reason, sentAt: number): NoResponse => ({
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
