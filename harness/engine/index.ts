// A run: its options, its plan, its events.
export { createRun, type RunParts } from './create-run.ts'
export { startJudging } from './judging.ts'
export type { Interface, Plan, PlanEntry, Run, RunHook, RunOptions, GatedSend } from './run.ts'
export { isPlanned, mayGenerate, perRun, runOptionsOf } from './run.ts'
export { createEventQueue, type EndedEvent, type JudgedEvent, type PlannedEvent } from './events.ts'
export type { Judging, RunEvent, RunFacts, ThrottledEvent } from './events.ts'
export { createLog } from './log.ts'

// What a check is given, and how it ends.
export { answered, type CheckContext, type Judge } from './check-context.ts'
export { allEnded, type EndCause, Failed, NotExercised, orElse } from './outcome.ts'
export { pause, Throttled } from './outcome.ts'
export {
  type BodySchema,
  fits,
  judgeGranted,
  judgePairs,
  judgeShape,
  shapeFault,
} from './judge-answer.ts'

// A request.
export type { Credential, Exchange, Probe, Purpose } from './exchange.ts'
export { differing, isThrottling, jsonOf, pathOf, withHeader, withJson } from './exchange.ts'
export {
  effectOf,
  jsonType,
  livenessProbe,
  operationName,
  draftOf,
  operationProbe,
  probeOf,
  type Source,
} from './request.ts'

// Sending it.
export { ask, askHolding, throughGate } from './client.ts'
export { pastBlocks, waitUntilSettled } from './second-look/later.ts'
export { holdPlaces, type SendHeld, sendOnce, sendWithStaleRetry } from './send.ts'
export { isOwnBreakdown } from './retry.ts'
export { sendHookRequest } from './own-requests.ts'
export { createSemaphore } from './pace.ts'

// A response, and words for it.
export { type HttpResponse, jsonValue, responseOf, tpeOf } from './response.ts'
export { isBlock, isBlocked, isBreakdown, isEnvelope, isGranted, isThrottled } from './response.ts'
export { describePairs, envelopeRemark, isExpected, matchPairs } from './response.ts'
export {
  describeProbe,
  describeResponse,
  rerunCommand,
  wasAnswered,
  withFinding,
} from './describe.ts'
