import type { Pairs } from '../../catalogue/answers.ts'
import { withJson } from '../../harness/engine/probe.ts'
import { placeholderRequest } from '../../harness/checks/placeholder.ts'
import type { CheckContext } from '../../harness/engine/check-context.ts'
import { judgePairs } from '../../harness/engine/judge-answer.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'

const gone: Pairs = [[404], [410]]

/** §9: after its removal the path gives 404 or 410, whatever its body; the interface's envelope is not asked for there. */
export async function judgeRemoved(context: CheckContext): Promise<void> {
  const { pdfFile, file } = context.run.target.resources
  const existing = typeof pdfFile === 'string' ? pdfFile : file
  const placeholder = await placeholderRequest(context.run, 'pdf.parse')
  // A file that exists tells a parser that is still there from one that is gone: an unknown one gives 404 either way.
  const params = existing === undefined ? placeholder.params : { file_id: existing }
  const probe = { ...withJson(placeholder, { format: 'text' }), params }
  const exchange = await context.send(probe, { unobserved: true, expects: gone })
  if (!exchange.answer || exchange.throttled) throw new NotExercised('the removed operation gave no answer')
  judgePairs(context, exchange, gone, 'after the removal of PDF parsing')
}
