import { isGranted } from '../../harness/engine/answer.ts'
import { countsAsGranted } from '../../harness/checks/control.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { describeAnswer } from '../../harness/engine/describe.ts'
import { refused } from '../../harness/checks/conditions.ts'
import { condition } from '../../harness/checks/refusals.ts'
import { laterAttempts } from '../../harness/checks/retry-while-settling.ts'
import { pause } from '../../harness/engine/pause.ts'

const what = 'with a file that is in the graph already'

/** Adds the same file twice. */
export const addSameFileTwice = condition(async ({ context, valid, judge, judgeAnswer }) => {
  const { run } = context
  const probe = await valid()
  const first = await context.send(probe, { role: 'setup' })
  if (!countsAsGranted(first)) throw new NotExercised(`the first addition was answered ${describeAnswer(first)}`)
  const added = performance.now()
  // An addition may be processed for a while.
  for (const ms of laterAttempts(run)) {
    const again = await context.send(refused(probe), { expects: [[409, 'BadRequest']], badInput: true })
    if (!again.answer || (!isGranted(again.answer) && !again.throttled)) return judgeAnswer(again, what)
    await pause(run, Math.max(0, added + ms - performance.now()))
  }
  await judge(refused(probe), what)
})
