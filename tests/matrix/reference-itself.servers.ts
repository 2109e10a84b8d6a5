import { describe, expect, test } from 'vitest'
import type { Transport } from '../../harness/http/message.ts'
import { network } from '../support/lossy-network.ts'
import { createReference } from '../../reference/server.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { inVirtualTime } from '../support/virtual-time.ts'
import {
  idsOf,
  judgeOnSocket,
  judgeReference,
  judgeUrl,
  reasons,
  transportTo,
  type Judged,
} from './judge-reference.ts'

/** Jobs of the slow application last long enough for the requests beside them, on a busy machine too. */
const pace = { jobMs: 15, slowJobMs: 1000 }

const ids: readonly string[] = catalogue.map(({ id }) => id)

/** Every requirement passed but the removal of PDF parsing, which the target file does not declare. */
function expectConformant({ results, verdict }: Judged): void {
  expect(idsOf(results, 'failed'), reasons(results)).toEqual([])
  expect(idsOf(results, 'not-exercised'), reasons(results)).toEqual([])
  expect(idsOf(results, 'not-applicable')).toEqual(['pdf.parse/4xx-removed'])
  expect(idsOf(results, 'passed')).toHaveLength(ids.length - 1)
  expect(verdict).toBe('conformant')
}

describe('the reference is conformant, with no exception', () => {
  test('with as many generated cases as usual', async () => {
    expectConformant(await judgeReference(pace, { options: { refusalRuns: 25, grantedRuns: 5 } }))
  })

  test('asked for family names only', async () => {
    expectConformant(await judgeReference(pace, { options: { tpe: 'family', strict: true } }))
  })

  test('a second time, of the same server', async () => {
    await inVirtualTime(async () => {
      const reference = createReference(pace)
      for (const nonce of ['one', 'two']) {
        const transport = transportTo(reference)
        expectConformant(await judgeUrl(reference.url, { transport, options: { nonce } }))
      }
    })
  })

  // As `conform serve` has it: its jobs are over long before the first answer about them has come back.
  test('over a network that takes half a second, and up to another one', async () => {
    const far = (transport: Transport) => network(transport, { seed: 1, latencyMs: 500, lost: 0 })
    expectConformant(await judgeReference({}, { latencyMs: 500, network: far }))
  })

  test('when jobs take no time', async () => {
    expectConformant(await judgeReference({ jobMs: 0, slowJobMs: 0 }))
  })

  test('over sockets, in real time', async () => {
    expectConformant(await judgeOnSocket(pace))
  })
})
