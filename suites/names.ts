import { countsAsGranted } from '../harness/checks/control.ts'
import { NotExercised } from '../harness/engine/outcome.ts'
import { describeAnswer } from '../harness/engine/describe.ts'
import { refused } from '../harness/checks/conditions.ts'
import { condition } from '../harness/checks/refusals.ts'
import { at, ofOtherTypes } from '../harness/checks/roles.ts'

/** A name that is no string. Whether one may be absent is not shown. */
export const malformedName = at('name', ofOtherTypes(['number', 'boolean', 'array', 'object']))

/** The same creation twice: the second meets the name of the first. */
export const duplicateName = condition(async ({ context, valid, judge }) => {
  // A first creation that is sent once more takes another name: the last one sent is the one that exists.
  const first = await context.send(valid, { role: 'setup' })
  if (!countsAsGranted(first)) throw new NotExercised(`the first creation was answered ${describeAnswer(first)}`)
  await judge(refused(first.probe), 'with the name of an object that exists')
})
