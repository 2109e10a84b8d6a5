// A run: its options, its plan, its events.
export { createRun, type RunParts } from './create-run.ts'
export { type Judging, startJudging } from './judging.ts'
export type { Interface, Plan, PlanEntry, Run, RunHook, RunOptions, GatedSend } from './run.ts'
export { isPlanned, mayGenerate, perRun, runOptionsOf } from './run.ts'
export {
  createEventQueue,
  type EndedEvent,
  hintsOf,
  type JudgedEvent,
  type PlannedEvent,
} from './events.ts'
export type { RunEvent, RunFacts, ThrottledEvent } from './events.ts'
export { answersDiffer, createAnswers } from './answers.ts'
export { keyRefused } from './keys.ts'

// What a check is given, and how it ends.
export { answered, type CheckContext, type Judge } from './check-context.ts'
export { type EndCause, Failed, NotExercised, orElse, pause, Throttled } from './outcome.ts'
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
export type { Counterpart, SendAgain } from './second-look/asked.ts'
export { pastBlocks, waitUntilSettled } from './second-look/later.ts'
export { kindOfRequest } from './grant-rate.ts'
export { holdPlaces, type SendHeld, sendOnce, sendWithStaleRetry } from './send.ts'
export { gatewayErrorsOf, isOwnBreakdown } from './retry.ts'
export { sendHookRequest } from './hook-request.ts'
export { createSemaphore } from './semaphore.ts'
export { retryAfter } from './throttle.ts'
export { lookAtCreation, poisonedResponses } from './second-look/reused-connection.ts'

// A response, and words for it.
export { type HttpResponse, jsonValue, responseOf, tpeOf } from './response.ts'
export { isBlock, isBreakdown, isEnvelope, isGranted, isThrottled } from './response.ts'
export { isBlocked, isExpected } from './pairs.ts'
export { describePairs, envelopeRemark, matchPairs } from './pairs.ts'
export {
  describeProbe,
  describeResponse,
  rerunCommand,
  wasAnswered,
  withFinding,
} from './describe.ts'
