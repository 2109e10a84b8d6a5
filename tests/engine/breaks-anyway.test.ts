import { expect, test } from 'vitest'
import type { HttpResult, Transport } from '../../harness/http/message.ts'
import type { PreviousRequest } from '../../harness/engine/exchange.ts'
import { idsOf, judgeReference } from '../matrix/judge-reference.ts'

const row = 'translate.run/bad-input-no-5xx'
const broken = {
  kind: 'answer',
  status: 500,
  headers: [{ name: 'content-type', value: 'application/json' }],
  body: Buffer.from('{"tpe":"InternalError","errors":[],"extras":{}}'),
} as const
const reset = {
  kind: 'no-answer',
  cause: 'reset',
  message: 'the connection was reset before any byte of an answer',
} as const

/** What comes to a request for translation, which is for its row or for another; undefined: the answer of the reference. */
type Instead = (isForRow: boolean) => typeof broken | typeof reset | undefined

async function failedIf(instead: Instead): Promise<string[]> {
  const network = (transport: Transport): Transport => ({
    ...transport,
    async send(request, options) {
      const { probe, purpose } = options.tag as PreviousRequest
      const came =
        probe.operation === 'translate.run' ? instead(purpose.requirement === row) : undefined
      const times = { sentAt: performance.now(), endedAt: performance.now() }
      return came
        ? ({ ...times, cut: false, staleConnection: false, ...came } as unknown as HttpResult)
        : transport.send(request, options)
    },
  })
  const { results } = await judgeReference(
    {},
    { network, options: { only: ['translate.run/2*', row], backoffMs: 250 } },
  )
  return idsOf(results, 'failed')
}

test('bad input breaks the server', async () => {
  expect(await failedIf((isForRow) => (isForRow ? broken : undefined))).toEqual([row])
})

test('bad input breaks the server, which answers no valid request after that: the breakdown is told', async () => {
  let isDown = false
  const failed = await failedIf((isForRow) => {
    isDown ||= isForRow
    return isForRow ? broken : isDown ? reset : undefined
  })
  expect(failed).toContain(row)
})
