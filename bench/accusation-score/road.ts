import { setTimeout as sleep } from 'node:timers/promises'
import type { NoAnswer, SendOptions, Transport, HttpRequest } from '../../harness/http/message.ts'
import { randomFrom } from '../random.ts'
import type { Draw } from './draw.ts'

/**
 * A road that takes another time for each request and loses some: those that cannot have had an effect may also be lost
 * without a word, but no request twice in a row, since a target that does not answer twice may be failed for it.
 */
export function road(
  transport: Transport,
  { seed, latencyMs, lost }: Pick<Draw, 'seed' | 'latencyMs' | 'lost'>,
): Transport {
  const random = randomFrom(seed)
  const justLost = new Set<string>()
  let sent = 0

  function loses(request: HttpRequest, { fresh }: SendOptions): NoAnswer | undefined {
    const name = `${request.method} ${request.path}`
    if (justLost.delete(name) || fresh || random.of(`lost ${sent}`) >= lost) return undefined
    justLost.add(name)
    // A connection that had been open for a while was closed; else, the request itself got no answer.
    const staleConnection = request.method !== 'GET' || random.of(`stale ${sent}`) < 0.5
    const now = performance.now()
    return { kind: 'no-answer', cause: 'reset', message: 'lost', staleConnection, sentAt: now, endedAt: now }
  }

  return {
    ...transport,
    async send(request, options) {
      sent++
      const wait = sleep(Math.ceil(random.of(`late ${sent}`) * latencyMs))
      const loss = loses(request, options)
      await wait
      return loss ?? transport.send(request, options)
    },
  }
}
