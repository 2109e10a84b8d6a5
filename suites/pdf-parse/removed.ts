import { withJson } from '../../harness/engine/probe.ts'
import { placeholderRequest } from '../../harness/checks/placeholder.ts'
import type { Story } from '../../harness/engine/story.ts'
import { judgePairs } from '../../harness/checks/judge.ts'
import type { Pairs } from '../../harness/engine/pairs.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'

const gone: Pairs = [[404], [410]]

/** §9: after its removal the path gives 404 or 410, whatever its body; the interface's envelope is not asked for there. */
export async function judgeRemoved(story: Story): Promise<void> {
  const { pdfFile, file } = story.run.target.resources
  const existing = typeof pdfFile === 'string' ? pdfFile : file
  const placeholder = await placeholderRequest(story.run, 'pdf.parse')
  // A file that exists tells a parser that is still there from one that is gone: an unknown one gives 404 either way.
  const params = existing === undefined ? placeholder.params : { file_id: existing }
  const probe = { ...withJson(placeholder, { format: 'text' }), params }
  const exchange = await story.send(probe, { unseen: true, expects: gone })
  if (!exchange.answer || exchange.throttled) throw new NotExercised('the removed operation gave no answer')
  judgePairs(story, exchange, gone, 'after the removal of PDF parsing')
}
