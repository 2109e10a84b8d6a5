import { isGranted } from '../../harness/engine/answer.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { isDeclared } from '../../harness/checks/apply-scenario.ts'
import { operationProbe } from '../../harness/engine/operation-probe.ts'
import { createdId } from '../../harness/checks/created.ts'
import { uploadProbe } from '../../harness/checks/upload.ts'
import { additionOf, contentOf } from '../../harness/checks/valid-request.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { judgeGranted } from '../../harness/engine/judge-answer.ts'
import { laterAttempts } from '../../harness/checks/retry-while-settling.ts'
import { judgeTries } from '../../harness/checks/granted.ts'
import { pointerOf } from '../../harness/checks/roles.ts'
import { describeAnswer } from '../../harness/engine/describe.ts'
import type { CheckContext } from '../../harness/engine/check-context.ts'
import { pause } from '../../harness/engine/pause.ts'

/**
 * A file that is uploaded with graphId is in that graph: adding it once more gives 409. It may be processed for a while:
 * each attempt takes a fresh upload, and adds it only once, after a longer pause each time.
 */
export async function judgeAttached(context: CheckContext): Promise<void> {
  const { run, row } = context
  const { graph = '' } = run.target.resources
  const attached = (): ReturnType<typeof uploadProbe> => uploadProbe(run, contentOf(run), { graphId: graph })
  if (run.target.scenarios[row.id]) return judgeTries(context, { make: attached, what: 'with graphId' })
  const pointer = pointerOf(run, 'graphs.add-file', 'file')
  const canAdd =
    isDeclared(run, 'graphs.add-file') && pointer !== undefined && run.target.absent['graphs.add-file'] === undefined
  let granted: Exchange | undefined
  let refused: Exchange | undefined
  for (const ms of [0, ...laterAttempts(run)]) {
    const upload = await context.send(attached)
    judgeGranted(context, upload, 'a 2xx', 'with graphId')
    if (!canAdd) return
    const id = createdId(run, upload)
    if (id === undefined)
      throw new NotExercised(`the upload names no id at operations.files.upload.fields.id: ${describeAnswer(upload)}`)
    await pause(run, ms)
    const addition = await operationProbe(run, 'graphs.add-file', {
      params: { graph_id: graph },
      json: additionOf(run, id, pointer),
      effect: 'creates',
    })
    const exchange = await context.send(addition)
    context.cases++
    const { answer } = exchange
    if (answer?.status === 409) return
    // A file that is not processed yet may be refused: the next attempt waits longer.
    if (answer && isGranted(answer)) granted = exchange
    else refused = exchange
  }
  if (refused) throw new NotExercised(`the addition of the file was answered ${describeAnswer(refused)}`)
  if (granted)
    context.fail(
      granted,
      '409: the file was uploaded with graphId, and is in that graph already',
      'for that graph and file',
    )
}
