import { endpointOf } from './dispatcher.ts'
import { type Terms, exchange, interrupted, noAnswer, readAnswer } from './exchange.ts'
import { createLinePool } from './line-pool.ts'
import type { SendOptions, Transport, TransportOptions, HttpRequest, HttpResult } from './message.ts'
import type { Reason } from './no-answer.ts'
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
  const lines = createLinePool(endpoint, options.connections)
  const underWay = createUnderWay()

  async function send(request: HttpRequest, options: SendOptions): Promise<HttpResult> {
    const calledAt = performance.now()
    const { timeoutMs, fresh = false, mark, after } = options
    const { signal, settle } = underWay.begin(options)
    try {
      return await carry(request, { limit, timeoutMs, signal, mark }, { fresh, after })
    } catch {
      return noAnswer(signal.reason === deadlinePassed ? noLine(timeoutMs) : interrupted, calledAt)
    } finally {
      settle()
    }
  }

  /** Rejects only with the reason of the signal, and only before an exchange began. */
  async function carry(
    request: HttpRequest,
    terms: Terms,
    { fresh = false, after }: Pick<SendOptions, 'fresh' | 'after'>,
  ): Promise<HttpResult> {
    const line = await lines.take(terms.signal, fresh || after !== undefined)
    if (after && !(await exchange(line, after, { ...terms, mark: undefined })).reusable) {
      lines.give(line, false)
      return carry(request, terms, { fresh: true })
    }
    const { outcome, reusable } = await exchange(line, request, terms)
    lines.give(line, reusable)
    if (outcome.kind === 'no-answer' && outcome.staleConnection) lines.dropFree()
    return outcome.kind === 'raw' ? readAnswer(outcome, terms) : outcome
  }

  async function close(): Promise<void> {
    underWay.endAll()
    await lines.close()
  }

  return { send, close }
}

const noLine = (timeoutMs: number): Reason => ({
  cause: 'timeout',
  message: `no connection became free within ${timeoutMs.toLocaleString('en-US')} ms`,
})
