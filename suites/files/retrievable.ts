import { retryWhileSettling } from '../../harness/checks/retry-while-settling.ts'
import { inScenario } from '../../harness/checks/granted.ts'
import { judgeGranted } from '../../harness/engine/judge-answer.ts'
import { isGranted } from '../../harness/engine/answer.ts'
import { operationProbe } from '../../harness/engine/operation-probe.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Judge } from '../../harness/engine/check-context.ts'
import { createObject, ownCreation, settled } from '../created/created-object.ts'

/** The id that an upload gave is retrieved. */
export const judgeRetrievable: Judge = (context) =>
  inScenario(context, 'files.upload', async () => {
    const { run } = context
    const absence = run.target.absent['files.retrieve']
    if (absence !== undefined) throw new NotExercised(`files.retrieve is declared ${absence}`)
    const id = await createObject(context, 'files.upload', ownCreation(context, 'files.upload'))
    const attempt = async () => context.send(await operationProbe(run, 'files.retrieve', { params: { file_id: id } }))
    const exchange = await retryWhileSettling(run, attempt, ({ answer }) => answer !== undefined && isGranted(answer))
    judgeGranted(context, exchange, `a 2xx ${settled(run)}`, 'with the id that an upload gave')
  })
