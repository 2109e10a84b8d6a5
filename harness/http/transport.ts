import { type ConnectionSlot, createConnectionPool } from './connection-pool.ts'
import { endpointOf } from './endpoint.ts'
import { endedBefore, exchange, noResponse, withoutEncoding } from './exchange.ts'
import type { HttpRequest, HttpResult, PrecedingRequest, SendOptions } from './message.ts'
import type { Transport, TransportOptions } from './message.ts'
import { createUnderWay, type Ending } from './under-way.ts'

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
    const { fresh = false, tag, after } = sending
    const calledAt = performance.now()
    const ending = underWay.begin(sending)
    try {
      let slot = await slots.take(ending, fresh || after !== undefined)
      if (slot && after) slot = await usedFor(after, slot, ending)
      if (!slot) return noResponse(endedBefore(ending, 'no connection became free'), calledAt)
      const { result, reusable } = await exchange(slot, request, { limit, ending, tag })
      slots.give(slot, reusable)
      if (result.kind === 'no-answer' && result.staleConnection) slots.dropFree()
      return await withoutEncoding(result, limit, ending)
    } finally {
      underWay.settle(ending)
    }
  }

  /** Sends the other request first: gives its slot, or a fresh one if its connection can carry no more. */
  async function usedFor(
    { request, tag, ended }: PrecedingRequest,
    slot: ConnectionSlot,
    ending: Ending,
  ): Promise<ConnectionSlot | undefined> {
    const { result, reusable } = await exchange(slot, request, { limit, ending, tag })
    ended(await withoutEncoding(result, limit, ending))
    if (reusable) return slot
    slots.give(slot, false)
    return slots.take(ending, true)
  }

  async function close(): Promise<void> {
    underWay.endAll()
    await slots.close()
  }

  return { send, close, idle: slots.idle }
}
