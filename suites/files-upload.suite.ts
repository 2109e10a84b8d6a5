import { retryWhileSettling, laterAttempts } from '../harness/checks/settling.ts'
import { inScenario, judgeTries } from '../harness/checks/granted.ts'
import { judgeGranted } from '../harness/engine/judge-answer.ts'
import { isGranted } from '../harness/engine/answer.ts'
import { operationProbe } from '../harness/engine/operation-probe.ts'
import { NotExercised } from '../harness/engine/outcome.ts'
import type { Judge, CheckContext } from '../harness/engine/check-context.ts'
import { createObject, ownCreation, settled, eachAccepted } from './created/created-object.ts'
import type { Exchange } from '../harness/engine/exchange.ts'
import { isDeclared } from '../harness/checks/apply-scenario.ts'
import { createdId } from '../harness/checks/created.ts'
import { uploadProbe } from '../harness/checks/upload.ts'
import { additionOf, contentOf } from '../harness/checks/valid-request.ts'
import { pointerOf } from '../harness/checks/roles.ts'
import { describeAnswer } from '../harness/engine/describe.ts'
import { control } from '../harness/checks/control.ts'
import { pause } from '../harness/engine/lifetime.ts'
import { suite } from '../harness/checks/suite.ts'

/** The id that an upload gave is retrieved. */
const judgeRetrievable: Judge = (context) =>
  inScenario(context, 'files.upload', async () => {
    const { run } = context
    const absence = run.target.absent['files.retrieve']
    if (absence !== undefined) throw new NotExercised(`files.retrieve is declared ${absence}`)
    const id = await createObject(context, 'files.upload', ownCreation(context, 'files.upload'))
    const attempt = async () => context.send(await operationProbe(run, 'files.retrieve', { params: { file_id: id } }))
    const exchange = await retryWhileSettling(run, attempt, ({ answer }) => answer !== undefined && isGranted(answer))
    const what = 'with the id that an upload gave'
    // A key that may retrieve the declared file lacks no right: then a 403 is about the upload.
    if (exchange.answer?.status === 403 && isDeclared(run, 'files.retrieve')) {
      const { state } = await control(run, 'files.retrieve')
      if (state === 'granted') context.fail(exchange, `a 2xx ${settled(run)}`, what)
    }
    judgeGranted(context, exchange, `a 2xx ${settled(run)}`, what)
  })

/**
 * A file that is uploaded with graphId is in that graph: adding it once more gives 409. It may be processed for a while:
 * each attempt takes a fresh upload, and adds it only once, after a longer pause each time.
 */
async function judgeAttached(context: CheckContext): Promise<void> {
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

// Upload a file (§2.8, §4.4, §7.3)

export const filesUpload = suite('files.upload', {
  '2xx-accepted': eachAccepted,
  '2xx-attached-to-graph': judgeAttached,
  '2xx-retrievable': judgeRetrievable,
})
