import { standInRequest } from '../../harness/request/stand-in.ts'
import type { Story } from '../../harness/words/story.ts'
import { judgePairs } from '../../harness/words/judge.ts'
import { NotExercised } from '../../harness/run/outcome.ts'

/** §9: after its removal the path gives 404 or 410, whatever its body; the interface's envelope is not asked for there. */
export async function judgeRemoved(story: Story): Promise<void> {
  const probe = { ...(await standInRequest(story.run, 'pdf.parse')), body: JSON.stringify({ format: 'text' }) }
  const exchange = await story.ask(probe, { unjudged: true })
  if (!exchange.answer || exchange.throttled) throw new NotExercised('the removed operation gave no answer')
  judgePairs(story, exchange, [[404], [410]], 'after the removal of PDF parsing')
}
