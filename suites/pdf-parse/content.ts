import { controlExchange } from '../../harness/checks/control.ts'
import { granted } from '../../harness/checks/granted.ts'
import { judgeGranted } from '../../harness/checks/judge.ts'
import { judgeShape } from '../../harness/checks/shapes.ts'
import { withJson } from '../../harness/engine/probe.ts'
import type { Judge } from '../../harness/engine/story.ts'

export const judgeText: Judge = async (story) => {
  const exchange = await controlExchange(story.run, 'pdf.parse')
  judgeGranted(story, exchange, '200 with the content of the PDF', 'with format text')
  judgeShape(story, exchange, 'pdf-content', 'with format text')
}

export const judgeMarkdown: Judge = granted(
  'with format markdown',
  (probe) => withJson(probe, { format: 'markdown' }),
  (story, exchange) => judgeShape(story, exchange, 'pdf-content', 'with format markdown'),
)
