import type { HttpResult, NoResponse, Transport } from '../../harness/http/message.ts'
import { randomFrom } from '../support/lossy-network.ts'

interface Losing {
  readonly seed: number
  /** Share of the answers that are lost. */
  readonly lost: number
  /** Share of these whose request did not arrive; of the others the answer was cut. */
  readonly before?: number
  /** What is lost each time. */
  always?(body: string): boolean
}

/** A network that resets connections and cuts answers off by chance: before a request has arrived, or when it has had its effect. */
export const losing =
  ({ seed, lost, before = 0.5, always = () => false }: Losing) =>
  (transport: Transport): Transport => {
    const random = randomFrom(seed)
    let sent = 0
    return {
      ...transport,
      async send(request, options): Promise<HttpResult> {
        const number = sent++
        const isLost = random.of(`lost ${number}`) < lost || always(String(request.body))
        if (!isLost) return transport.send(request, options)
        const sentAt = performance.now()
        if (random.of(`before ${number}`) >= before) await transport.send(request, options)
        const isReused = before > 0 && !options.fresh && random.of(`reused ${number}`) < 0.8
        return {
          ...{ kind: 'no-answer', cause: 'reset', message: 'the connection was reset' },
          ...{ staleConnection: isReused, sentAt, endedAt: performance.now() },
          ...(isReused && { previousTag: {} }),
        } satisfies NoResponse
      },
    }
  }
