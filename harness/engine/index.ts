export { createRun, type RunParts } from './create-run.ts'
export type { Hooks, Interface, Plan, PlanEntry, Run, RunOptions } from './run.ts'
export { isOwnBreakdown, type GatedSend } from './client.ts'
export { isPlanned, mayGenerate, noHooks, perRun, runOptionsOf } from './run.ts'
export { keyRefusal, refusedSince } from './keys.ts'
export {
  createEventQueue,
  factsOf,
  type EndedEvent,
  type JudgedEvent,
  type PlannedEvent,
} from './events.ts'
export type { Judging, RunEvent, RunFacts, ThrottledEvent } from './events.ts'
export { createLog } from './log.ts'

export { allEnded, type EndCause, orElse, pause } from './outcome.ts'
export { NotExercised, Throttled } from './not-exercised.ts'

export type { Credential, Exchange, Probe, Purpose } from './exchange.ts'
export {
  differing,
  isNobodys,
  isRight,
  isThrottling,
  isWrong,
  jsonOf,
  kindOf,
  kindOfFailure,
  mayRepeat,
  pathOf,
  type PreviousRequest,
  probeOf,
  type Source,
  withHeader,
  withJson,
} from './exchange.ts'
export { effectOf, jsonType, draftOf, operationProbe, requestOf } from './request.ts'

export { cleanUp, sendHookRequest, setUp, tearDown } from './own-requests.ts'
export { createSemaphore } from './pace.ts'

export { type HttpResponse, jsonValue, responseOf, tpeOf } from './response.ts'
export {
  headBytes,
  isBlock,
  isBlocked,
  isBreakdown,
  isEnvelope,
  isGranted,
  isThrottled,
} from './response.ts'
export { describePairs, envelopeRemark, hasStatusOf, isExpected, matchPairs } from './response.ts'
export {
  describeProbe,
  describeResponse,
  familyRemark,
  isPage,
  onReusedConnection,
  rerunCommand,
  rerunLine,
  wasAnswered,
  withFinding,
} from './describe.ts'
