import { isGranted } from '../../harness/engine/answer.ts'
import { countsAsGranted } from '../../harness/checks/control.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { describeAnswer } from '../../harness/engine/describe.ts'
import { refused } from '../../harness/checks/conditions.ts'
import { condition } from '../../harness/checks/refusals.ts'
import { pause } from '../../harness/engine/pause.ts'

/** Additions may be processed up to 5 s later: one more 1 s, and one more 5 s after the first, in ms. */
const later = [1000, 4000] as const

const what = 'with a file that is in the graph already'

/** The same file added twice. */
export const twice = condition(async ({ story, valid, judge, judgeAnswer }) => {
  const { run } = story
  const probe = await valid()
  const first = await story.ask(probe, { role: 'setup' })
  if (!countsAsGranted(first)) throw new NotExercised(`the first addition was answered ${describeAnswer(first)}`)
  for (const ms of later) {
    const again = await story.ask(refused(probe), { expects: [[409, 'BadRequest']], badInput: true })
    if (!again.answer || (!isGranted(again.answer) && !again.throttled)) return judgeAnswer(again, what)
    await pause(run, ms)
  }
  await judge(refused(probe), what)
})
