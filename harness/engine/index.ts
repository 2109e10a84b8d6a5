export { createRun, type RunParts } from './create-run.ts'
export type { Hooks, Interface, Plan, PlanEntry, Run, RunOptions } from './run.ts'
export { isOwnBreakdown } from './client.ts'
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

export { allEnded, type EndCause, orElse, pause } from './outcome.ts'

export { effectOf, jsonType, draftOf, operationProbe, requestOf } from './request.ts'

export { cleanUp, sendHookRequest, setUp, tearDown } from './own-requests.ts'
export { createSemaphore } from './pace.ts'
