export {
  type CheckContext,
  createRun,
  type Judge,
  type Later,
  type RunParts,
  isPlanned,
  mayGenerate,
  perRun,
  type Hooks,
  type Prepared,
} from './run.ts'
export {
  type EndedEvent,
  factsOf,
  type JudgedEvent,
  type PlannedEvent,
  type RunEvent,
  type RunFacts,
  type ThrottledEvent,
  startJudging,
} from './judging.ts'
export { sendHookRequest } from './own-requests.ts'
export {
  send,
  awaitAge,
  maxAtOnce,
  sendAtOnce,
  sendShared,
  sendWhile,
  settle,
  takeConflict,
} from './ask.ts'

export {
  againAtEnd,
  type BodySchema,
  judgeEvidence,
  type Finding,
  fits,
  grantedFinding,
  misfitOf,
  comparePairs,
  shapeFinding,
  whySilent,
} from './check.ts'
