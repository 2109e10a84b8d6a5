import { endpointOf } from './dispatcher.ts'
import { type ExchangeOptions, exchange, interrupted, noResponse, readResponse } from './exchange.ts'
import { createConnectionPool } from './connection-pool.ts'
import type { SendOptions, Transport, TransportOptions, HttpRequest, HttpResult } from './message.ts'
import type { Reason } from './no-response.ts'
import { createUnderWay, deadlinePassed } from './under-way.ts'

/**
 * The HTTP/1.1 client of the suite: one origin, at most `connections` sockets, no redirects, no retries of its own.
 * Nothing that a server sends makes `send` reject, hang or take more memory than a few times the body limit.
 *
 * Throws UserError if the base URL, a PEM text or a proxy variable cannot be used.
 */
export function createTransport(options: TransportOptions): Transport {
  const endpoint = endpointOf(options)
  const limit = options.bodyLimit
  const slots = createConnectionPool(endpoint, options.connections)
  const underWay = createUnderWay()

  async function send(request: HttpRequest, sending: SendOptions): Promise<HttpResult> {
    const calledAt = performance.now()
    const { timeoutMs, fresh = false, tag, after } = sending
    const { ending, settle } = underWay.begin(sending)
    try {
      return await carry(request, { limit, timeoutMs, ending, tag }, { fresh, after })
    } catch {
      return noResponse(ending.reason === deadlinePassed ? noLine(timeoutMs) : interrupted, calledAt)
    } finally {
      settle()
    }
  }

  /** Rejects only with the reason of the ending, and only before an exchange began. */
  async function carry(
    request: HttpRequest,
    options: ExchangeOptions,
    { fresh = false, after }: Pick<SendOptions, 'fresh' | 'after'>,
  ): Promise<HttpResult> {
    const slot = await slots.take(options.ending, fresh || after !== undefined)
    if (after) {
      const first = await exchange(slot, after.request, { ...options, tag: after.tag })
      after.ended(first.outcome.kind === 'raw' ? await readResponse(first.outcome, options) : first.outcome)
      if (!first.reusable) {
        slots.give(slot, false)
        return carry(request, options, { fresh: true })
      }
    }
    const { outcome, reusable } = await exchange(slot, request, options)
    slots.give(slot, reusable)
    if (outcome.kind === 'no-answer' && outcome.staleConnection) slots.dropFree()
    return outcome.kind === 'raw' ? readResponse(outcome, options) : outcome
  }

  async function close(): Promise<void> {
    underWay.endAll()
    await slots.close()
  }

  return { send, close, idle: slots.idle }
}

const noLine = (timeoutMs: number): Reason => ({
  cause: 'timeout',
  message: `no connection became free within ${timeoutMs.toLocaleString('en-US')} ms`,
})
