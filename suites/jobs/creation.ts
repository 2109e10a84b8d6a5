import { controlExchange } from '../../harness/checks/control.ts'
import { judgeGranted } from '../../harness/engine/judge-answer.ts'
import { judgeShape } from '../../harness/checks/shapes.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import type { CheckContext } from '../../harness/engine/check-context.ts'
import { mainLifecycle } from './lifecycle.ts'
import { faultlessCreations } from './every-job.ts'

const valid = 'with a valid body'

/** Every creation of the run that should be granted gives 202 and the shape shown. */
export async function judgeCreated(context: CheckContext): Promise<void> {
  const { run } = context
  judgeCreation(context, await controlExchange(run, 'jobs.create'))
  for (const exchange of faultlessCreations(run)) {
    context.shownBy = exchange.purpose.requirement
    judgeCreation(context, exchange)
  }
}

function judgeCreation(context: CheckContext, exchange: Exchange): void {
  judgeGranted(context, exchange, '202 with the id, status and created_at of the new job', valid)
  judgeShape(context, exchange, 'created-job', valid)
}

/** One of the first readings of the new job finds it. */
export async function judgeRetrievable(context: CheckContext): Promise<void> {
  const { first } = await mainLifecycle(context.run)
  for (const { exchange } of first) {
    if (exchange.answer?.status === 200) {
      context.cases++
      return
    }
  }
  const last = first.at(-1)
  if (!last) return
  const expected = `200: the id that the creation returned can be retrieved, at the latest ${context.run.target.limits.settleMs} ms later (limits.settleMs)`
  judgeGranted(context, last.exchange, expected, '')
}
