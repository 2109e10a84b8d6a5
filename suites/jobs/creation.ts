import { controlExchange } from '../../harness/checks/control.ts'
import { judgeGranted } from '../../harness/checks/judge.ts'
import { judgeShape } from '../../harness/checks/shapes.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import type { Story } from '../../harness/engine/story.ts'
import { mainLifecycle } from './lifecycle.ts'
import { faultlessCreations } from './every-job.ts'

const valid = 'with a valid body'

/** Every creation of the run that should be granted gives 202 and the shape shown. */
export async function judgeCreated(story: Story): Promise<void> {
  const { run } = story
  judgeCreation(story, await controlExchange(run, 'jobs.create'))
  for (const exchange of faultlessCreations(run)) {
    story.shownBy = exchange.purpose.requirement
    judgeCreation(story, exchange)
  }
}

function judgeCreation(story: Story, exchange: Exchange): void {
  judgeGranted(story, exchange, '202 with the id, status and created_at of the new job', valid)
  judgeShape(story, exchange, 'created-job', valid)
}

/** One of the first looks at the new job finds it. */
export async function judgeRetrievable(story: Story): Promise<void> {
  const { first } = await mainLifecycle(story.run)
  for (const { exchange } of first) {
    if (exchange.answer?.status === 200) {
      story.cases++
      return
    }
  }
  const last = first.at(-1)
  if (!last) return
  const expected = `200: the id that the creation returned can be retrieved, at the latest ${story.run.target.limits.settleMs} ms later (limits.settleMs)`
  judgeGranted(story, last.exchange, expected, '')
}
