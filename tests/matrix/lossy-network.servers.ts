import { expect, test } from 'vitest'
import { losesConnections } from './lossy-network.ts'
import type { TargetFile } from '../../harness/target/model.ts'
import { withoutCleanup } from './changed-targets.ts'
import { idsOf, judgeReference } from './judge-reference.ts'

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
