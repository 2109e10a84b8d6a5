import { lookWhileSettling } from '../../harness/checks/look-again.ts'
import { inScenario } from '../../harness/checks/granted.ts'
import { judgeGranted } from '../../harness/checks/judge.ts'
import { isGranted } from '../../harness/engine/answer.ts'
import { operationProbe } from '../../harness/engine/operation-probe.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Judge } from '../../harness/engine/story.ts'
import { createObject, ownCreation, settled } from '../created/created-object.ts'

/** The id that an upload gave is retrieved. */
export const judgeRetrievable: Judge = (story) =>
  inScenario(story, 'files.upload', async () => {
    const { run } = story
    const absence = run.target.absent['files.retrieve']
    if (absence !== undefined) throw new NotExercised(`files.retrieve is declared ${absence}`)
    const id = await createObject(story, 'files.upload', ownCreation(story, 'files.upload'))
    const look = async () => story.send(await operationProbe(run, 'files.retrieve', { params: { file_id: id } }))
    const exchange = await lookWhileSettling(run, look, ({ answer }) => answer !== undefined && isGranted(answer))
    judgeGranted(story, exchange, `a 2xx ${settled(run)}`, 'with the id that an upload gave')
  })
