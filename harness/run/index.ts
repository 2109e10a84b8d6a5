// What goes on in a run.
export { startJudging } from './judging.ts'
export { ask, askHolding, pastBlocks } from './ask.ts'

// What a check is given, and how it ends.
export { answered, type CheckContext, type Judge } from './check-context.ts'
export {
  type BodySchema,
  fits,
  judgeGranted,
  judgePairs,
  judgeShape,
  shapeFault,
} from './judge-answer.ts'
