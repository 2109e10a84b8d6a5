import { expect, test } from 'vitest'
import { judgeBehind, json } from './behind.ts'

test('a row that late visibility fails names settleMs', async () => {
  const none = json(404, { tpe: 'ResourceNotFound', errors: [], extras: {} })
  const reply = async (path: string, answer: () => Promise<Response>): Promise<Response> =>
    /\/pdf-parser\/|knowledge-graphs\/[^/]+\/files/.test(path) ? none.clone() : answer()
  const { report, texts } = await judgeBehind(
    reply,
    { only: ['pdf.parse/200-text', 'pdf.parse/400-missing-format', 'graphs.add-file/2xx-accepted'] },
    ({ resources, ...file }) => {
      const { pdfFile: _, ...others } = resources ?? {}
      return { ...file, resources: others }
    },
  )
  const of = (id: string) => report.requirements.find((result) => result.id === id)
  const remark = /if an upload takes longer than \d+ ms until it can be used, raise limits\.settleMs/
  expect(of('pdf.parse/200-text')?.failures[0]?.expected).toMatch(remark)
  expect(of('pdf.parse/400-missing-format')?.reason).toMatch(remark)
  expect(of('graphs.add-file/2xx-accepted')?.failures[0]?.expected).toMatch(remark)
  expect(texts.terminal).not.toContain('check resources.graph')
})
