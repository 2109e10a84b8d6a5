import { setMaxListeners } from 'node:events'
import { type Encoded, decode } from './decode.ts'
import { endpointOf } from './dispatcher.ts'
import { type RawAnswer, type Terms, deadlinePassed, exchange, interrupted } from './exchange.ts'
import { headerValue } from './headers.ts'
import { createLinePool } from './line-pool.ts'
import type { NoAnswer, SendOptions, Wire, WireAnswer, WireOptions, WireRequest, WireResult } from './message.ts'
import type { Reason } from './no-answer.ts'

/** Longest delay that a timer takes, in ms. */
const longestDelay = 2 ** 31 - 1

/**
 * The HTTP/1.1 client of the suite: one origin, at most `connections` sockets, no redirects, no retries of its own.
 * Nothing that a server sends makes `send` reject, hang or take more memory than a few times the body limit.
 *
 * Throws UserError where the base URL, a PEM text or a proxy variable cannot be used.
 */
export function createWire(wireOptions: WireOptions): Wire {
  const endpoint = endpointOf(wireOptions)
  const limit = wireOptions.bodyLimit
  const lines = createLinePool(endpoint, wireOptions.connections)
  const underWay = new Set<AbortController>()
  let isClosed = false

  async function send(
    request: WireRequest,
    { timeoutMs, signal: outer, ...options }: SendOptions,
  ): Promise<WireResult> {
    const calledAt = performance.now()
    const ending = new AbortController()
    const stop = () => ending.abort()
    const timer = setTimeout(() => ending.abort(deadlinePassed), Math.min(timeoutMs, longestDelay))
    underWay.add(ending)
    if (outer) {
      setMaxListeners(0, outer) // one signal serves the whole run
      outer.addEventListener('abort', stop, { once: true })
    }
    if (outer?.aborted || isClosed) stop()
    try {
      return await carry(request, { limit, timeoutMs, signal: ending.signal, mark: options.mark }, options)
    } catch {
      return noAnswer(ending.signal.reason === deadlinePassed ? noLine(timeoutMs) : interrupted, calledAt)
    } finally {
      clearTimeout(timer)
      underWay.delete(ending)
      outer?.removeEventListener('abort', stop)
    }
  }

  /** Rejects only with the reason of the signal, and only before an exchange began. */
  async function carry(
    request: WireRequest,
    terms: Terms,
    { fresh = false, after }: Pick<SendOptions, 'fresh' | 'after'>,
  ): Promise<WireResult> {
    const line = await lines.take(terms.signal, fresh || after !== undefined)
    if (after && !(await exchange(line, after, { ...terms, mark: undefined })).reusable) {
      lines.give(line, false)
      return carry(request, terms, { fresh: true })
    }
    const { outcome, reusable } = await exchange(line, request, terms)
    lines.give(line, reusable)
    if (outcome.kind === 'no-answer' && outcome.staleConnection) lines.dropFree()
    return outcome.kind === 'raw' ? read(outcome, terms) : outcome
  }

  async function close(): Promise<void> {
    isClosed = true
    for (const ending of underWay) ending.abort()
    await lines.close()
  }

  return { send, close }
}

/** Takes the content encoding off. */
async function read(raw: RawAnswer, terms: Terms): Promise<WireResult> {
  const { status, headers, body, cut, before, sentAt, endedAt } = raw
  const encoded: Encoded = { body, cut, encoding: headerValue(headers, 'content-encoding') ?? '' }
  try {
    const decoded = await decode(encoded, terms.limit, terms.signal)
    return { kind: 'answer', status, headers, ...decoded, before, sentAt, endedAt } satisfies WireAnswer
  } catch {
    return noAnswer(terms.signal.reason === deadlinePassed ? notDecoded(terms.timeoutMs) : interrupted, sentAt)
  }
}

const noAnswer = ({ cause, message }: Reason, sentAt: number): NoAnswer => ({
  kind: 'no-answer',
  cause,
  message,
  staleConnection: false,
  sentAt,
  endedAt: performance.now(),
})

const noLine = (timeoutMs: number): Reason => ({
  cause: 'timeout',
  message: `no connection became free within ${timeoutMs.toLocaleString('en-US')} ms`,
})

const notDecoded = (timeoutMs: number): Reason => ({
  cause: 'timeout',
  message: `the body could not be decoded within ${timeoutMs.toLocaleString('en-US')} ms`,
})
