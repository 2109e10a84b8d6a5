import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { randomFrom } from '../support/lossy-network.ts'
import type { SendOptions, Tag, Transport } from '../../harness/http/message.ts'
import type { TargetFile } from '../../harness/target-file/model.ts'
import { withoutCleanup } from './changed-targets.ts'
import { idsOf, judgeReference } from './judge-reference.ts'

/** ms that a request takes to the target, and its answer back. */
const halfWayMs = 20
/** Share of the exchanges whose connection is closed, before the request arrives or before its answer does. */
const lost = 0.04

/** A network that closes connections now and then; what is sent on one that has been used knows the request before it. */
function losesConnections(transport: Transport, seed: number): Transport {
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

/** PDFs of the suite's own, uploaded like any other file. */
function withoutPdfFiles(file: TargetFile): TargetFile {
  const { pdfFile, pdfText, corruptedPdfFile, encryptedPdfFile, ...resources } =
    file.resources ?? {}
  expect([pdfFile, pdfText, corruptedPdfFile, encryptedPdfFile]).not.toContain(undefined)
  return withoutCleanup({ ...file, resources })
}

/** A created graph is used by additions alone. */
function withoutQuery(file: TargetFile): TargetFile {
  return { ...file, operations: { ...file.operations, 'graphs.query': 'not-served' } }
}

const variants = ['settling/uploads', 'settling/graphs', 'settling/applications']

test.each([2, 3])(
  'connections that are lost accuse nobody whose uploads take a second, %i',
  async (seed) => {
    const { results } = await judgeReference(
      { variants, settleMs: 1000, jobMs: 300, slowJobMs: 1800 },
      {
        network: (transport) => losesConnections(transport, seed),
        change: (file) =>
          seed % 2 === 0 ? withoutQuery(withoutPdfFiles(file)) : withoutPdfFiles(file),
      },
    )
    const told = results.flatMap(({ id, failures: [first] }) =>
      first ? [`${id}: ${first.message} | ${first.actual}`] : [],
    )
    expect(idsOf(results, 'failed'), told.join('\n')).toEqual([])
  },
)
