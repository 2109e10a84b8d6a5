export { startJudging } from './judging.ts'
export { ask, askHolding, knownOf } from './ask.ts'
export { askedIn, awaitAge, maxAtOnce, sendShared, settle } from './ask.ts'

export { answered, type CheckContext, createCheckContext, type Judge } from './check-context.ts'
export {
  type BodySchema,
  type Finding,
  fits,
  grantedFinding,
  judgeGranted,
  comparePairs,
  failureOf,
  judgePairs,
  judgeShape,
  judgeVerdict,
  shapeFault,
  shapeFinding,
  whySilent,
} from './judge-answer.ts'
