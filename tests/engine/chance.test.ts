import { expect, test } from 'vitest'
import type { HttpResult, NoResponse, Transport } from '../../harness/http/message.ts'
import { idsOf, judgeReference, reasons } from '../matrix/judge-reference.ts'
import { randomFrom } from '../support/lossy-network.ts'

/** A network that resets connections and cuts answers off by chance: before a request has arrived, or when it has had its effect. */
const losing =
  (seed: number, lost: number, always: (body: string) => boolean = () => false) =>
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
        if (random.of(`before ${number}`) < 0.5) await transport.send(request, options)
        const isReused = !options.fresh && random.of(`reused ${number}`) < 0.8
        return {
          ...{ kind: 'no-answer', cause: 'reset', message: 'the connection was reset' },
          ...{ staleConnection: isReused, sentAt, endedAt: performance.now() },
          ...(isReused && { previousTag: {} }),
        } satisfies NoResponse
      },
    }
  }

const only = ['graphs.*', 'files.*', 'translate.run/*', 'applications.*', 'envelope/large-body']

test.each([
  [0.02, 1],
  [0.1, 14],
  [0.1, 17],
  [0.1, 23],
])('a network that loses %d of all answers fails no requirement, seed %i', async (lost, seed) => {
  const options = { only, seed, backoffMs: 250 }
  const { results, facts } = await judgeReference({}, { network: losing(seed, lost), options })
  expect(reasons(results.filter(({ outcome }) => outcome === 'failed'))).toBe('')
  expect(facts.retried).toBeGreaterThan(10)
})

test('what is lost each time is told apart from chance', async () => {
  const network = losing(1, 0.1, (body) => body.includes('"text":""'))
  const options = { only: ['translate.run/*'], backoffMs: 250 }
  const { results } = await judgeReference({}, { network, options })
  expect(idsOf(results, 'failed')).toEqual(['translate.run/400-empty-text'])
})
