import { expect, test } from 'vitest'
import { judgeBehind, json } from './behind.ts'

test('a row that late visibility fails names settleMs', async () => {
  const none = json(404, { tpe: 'ResourceNotFound', errors: [], extras: {} })
  const reply = async (path: string, answer: () => Promise<Response>): Promise<Response> =>
    path.includes('/pdf-parser/') ? none.clone() : answer()
  const { report } = await judgeBehind(
    reply,
    { only: ['pdf.parse/200-text', 'pdf.parse/400-missing-format'] },
    ({ resources, ...file }) => {
      const { pdfFile: _, ...others } = resources ?? {}
      return { ...file, resources: others }
    },
  )
  const of = (id: string) => report.requirements.find((result) => result.id === id)
  const remark = /if an upload takes longer than \d+ ms until it can be used, raise limits\.settleMs/
  expect(of('pdf.parse/200-text')?.failures[0]?.expected).toMatch(remark)
  expect(of('pdf.parse/400-missing-format')?.reason).toMatch(remark)
})
