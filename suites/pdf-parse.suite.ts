import { unknown, changed, withBody } from '../harness/checks/conditions.ts'
import { missingBody } from '../harness/checks/bodies.ts'
import { controlExchange } from '../harness/checks/control.ts'
import { pdfId } from '../harness/checks/resource.ts'
import { type Probe, withJson } from '../harness/engine/probe.ts'
import { askSettled, uploadsOf } from '../harness/checks/settling.ts'
import { grantedRowOf } from '../harness/checks/granted.ts'
import { tpeOf } from '../harness/engine/answer.ts'
import type { Exchange } from '../harness/engine/exchange.ts'
import { type Condition, refusals, scenario } from '../harness/checks/refusals.ts'
import { judgeGranted } from '../harness/checks/judge.ts'
import { judgeShape } from '../harness/checks/shapes.ts'
import type { Story } from '../harness/engine/story.ts'
import { must, nothingMore } from '../harness/checks/registry.ts'
import type { Pairs } from '../harness/engine/pairs.ts'
import { malformedFormat, unsupportedFormat } from './pdf-parse/formats.ts'
import { judgeRemoved } from './pdf-parse/removed.ts'

// §4.1 Parse PDF (deprecated)

must('pdf.parse/200-text', judgeText, nothingMore)

async function judgeText(story: Story): Promise<void> {
  const exchange = await controlExchange(story.run, 'pdf.parse')
  judgeGranted(story, exchange, '200 with the content of the PDF', 'with format text', 200)
  judgeShape(story, exchange, 'pdf-content', 'with format text')
}

grantedRowOf(
  'pdf.parse',
  'pdf.parse/200-markdown',
  'with format markdown',
  (probe) => withJson(probe, { format: 'markdown' }),
  (story, exchange) => {
    if (exchange.answer?.status !== 200) story.fail(exchange, '200 with the content of the PDF', 'with format markdown')
    judgeShape(story, exchange, 'pdf-content', 'with format markdown')
  },
)

function isBadRequest({ answer }: Exchange): boolean {
  return answer?.status === 400 && tpeOf(answer) === 'BadRequest'
}

/** A file that cannot be parsed in place of the good one. */
function file(name: 'corruptedPdfFile' | 'encryptedPdfFile' | 'oversizedPdfFile', what: string): Condition {
  return async ({ valid, judge, story }) => {
    const id = await pdfId(story.run, name)
    const probe = { ...(await valid()), params: { file_id: id } }
    if (uploadsOf(story.run).at.has(id)) {
      const look = (again: Probe): Promise<Exchange> => story.ask(again, { role: 'setup' })
      await askSettled(story.run, await look(probe), look, isBadRequest)
    }
    await judge(probe, `with a valid body, for ${what}`)
  }
}

/** Which of the three names §7.2 has for a body that lacks something, or holds what is not supported: it does not say. */
const validation: Pairs = [[400, 'BadRequest', 'InvalidInputParameters', 'InvalidContentType']]

const unknownFile: Pairs = [
  [404, 'NotFound', 'ResourceNotFound'],
  [410, 'Gone', 'ResourceNotFound'],
  [400, 'BadRequest', 'InvalidInputParameters'],
  [403, 'InsufficientAccessRights'],
]

// prettier-ignore
refusals('pdf.parse', [
  { id: 'pdf.parse/400-missing-body',       when: missingBody,                                                   gives: validation },
  { id: 'pdf.parse/400-missing-format',     when: changed('with a body that has no format', (probe) => withBody(probe, {})), gives: validation },
  { id: 'pdf.parse/400-unsupported-format', when: unsupportedFormat,                                             gives: validation },
  { id: 'pdf.parse/400-malformed-format',   when: malformedFormat,                                               gives: validation },
  { id: 'pdf.parse/400-corrupted-pdf',      when: file('corruptedPdfFile', 'a corrupted PDF'),                   gives: [[400, 'BadRequest']] },
  { id: 'pdf.parse/400-encrypted-pdf',      when: file('encryptedPdfFile', 'a PDF that asks for a password'),    gives: [[400, 'BadRequest']] },
  { id: 'pdf.parse/400-oversized-pdf',      when: file('oversizedPdfFile', 'a PDF over the size limit'),         gives: [[400, 'InvalidInputParameters'], [413, 'BadRequest', 'PayloadTooLarge']] },
  { id: 'pdf.parse/403-file-access',        when: scenario,                                                      gives: [[403, 'InsufficientAccessRights']] },
  { id: 'pdf.parse/4xx-unknown-file',       when: unknown('file_id'),                                            gives: unknownFile },
])

must('pdf.parse/4xx-removed', judgeRemoved)
