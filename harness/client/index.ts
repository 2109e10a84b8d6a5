export { Client, type ClientHooks, isOwnBreakdown } from './client.ts'
export {
  createKeys,
  type DeclaredKeys,
  keyRefusal,
  refusedSince,
  allEnded,
  createLifetime,
  type EndCause,
  pause,
  RunEnded,
  createSigns,
  type Given,
  type Plan,
  type PlanEntry,
  type RunOptions,
  runOptionsOf,
} from './state.ts'
export { createSemaphore, longestPauseMs, retryAfter, type Turn } from './pace.ts'
export { draftOf, effectOf, jsonType, operationProbe } from './request.ts'
