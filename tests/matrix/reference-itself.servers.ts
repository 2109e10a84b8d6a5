import { expect, test } from 'vitest'
import type { Transport } from '../../harness/http/message.ts'
import { network } from '../support/lossy-network.ts'
import { createReference } from '../../reference/server.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { inVirtualTime } from '../support/virtual-time.ts'
import {
  idsOf,
  judgeOnSocket,
  judgeReference,
  type JudgeSettings,
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

const far = (transport: Transport) => network(transport, { seed: 1, latencyMs: 500, lost: 0 })

test.each<[how: string, Parameters<typeof judgeReference>[0], JudgeSettings?]>([
  ['as many generated cases as usual', pace, { options: { refusalRuns: 25, grantedRuns: 5 } }],
  ['family names only', pace, { options: { tpe: 'family', strict: true } }],
  // As `conform serve` has it: its jobs are over long before the first answer about them has come back.
  [
    'a network that takes half a second, and up to another one',
    {},
    { latencyMs: 500, network: far },
  ],
  ['jobs that take no time', { jobMs: 0, slowJobMs: 0 }],
])('the reference is conformant, with %s', async (_, reference, settings) => {
  expectConformant(await judgeReference(reference, settings))
})

test('the reference is conformant a second time, and over sockets, in real time', async () => {
  await inVirtualTime(async () => {
    const reference = createReference(pace)
    for (const nonce of ['one', 'two']) {
      const transport = transportTo(reference)
      expectConformant(await judgeUrl(reference.url, { transport, options: { nonce } }))
    }
  })
  expectConformant(await judgeOnSocket(pace))
})
