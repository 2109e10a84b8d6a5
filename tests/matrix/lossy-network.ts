import { setTimeout as sleep } from 'node:timers/promises'
import type { SendOptions, Tag, Transport } from '../../harness/http/message.ts'
import { randomFrom } from '../support/lossy-network.ts'

/** ms that a request takes to the target, and its answer back. */
const halfWayMs = 20
/** Share of the exchanges whose connection is closed, before the request arrives or before its answer does. */
const lost = 0.04

/** A network that closes connections now and then; what is sent on one that has been used knows the request before it. */
export function losesConnections(transport: Transport, seed: number): Transport {
  const random = randomFrom(seed)
  let sent = 0
  let last: Tag | undefined
  const lose = (options: SendOptions, sentAt: number) => {
    const staleConnection = !options.fresh && random.of(`stale ${sent}`) < 0.5
    const endedAt = performance.now()
    return {
      kind: 'no-answer',
      cause: 'reset',
      message: 'lost',
      staleConnection,
      sentAt,
      endedAt,
    } as const
  }
  return {
    ...transport,
    async send(request, options) {
      // None is lost twice in a row: a target that gives no answer on two connections may be failed for it.
      const isLost = !options.fresh && random.of(`lost ${++sent}`) < lost
      const isBefore = random.of(`before ${sent}`) < 0.5
      const previousTag = options.fresh ? undefined : last
      last = options.tag
      const sentAt = performance.now()
      await sleep(halfWayMs)
      if (isLost && isBefore) return lose(options, sentAt)
      const result = await transport.send(request, options)
      await sleep(halfWayMs)
      if (isLost) return lose(options, sentAt)
      return { ...result, ...(previousTag ? { previousTag } : {}) }
    },
  }
}
