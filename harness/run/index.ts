export { startJudging } from './judging.ts'
export { ask, askHolding, knownOf } from './ask.ts'
export { awaitAge, maxAtOnce, sendShared, settle } from './ask.ts'

export {
  type CheckContext,
  createCheckContext,
  heldUntilEnd,
  type Judge,
  type Later,
} from './check-context.ts'
export { failureOf } from './failure.ts'
export {
  answered,
  type BodySchema,
  decisive,
  type Finding,
  fits,
  grantedFinding,
  comparePairs,
  shapeFault,
  shapeFinding,
  whySilent,
} from './judge-answer.ts'
