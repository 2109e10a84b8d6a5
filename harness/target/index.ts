export type { FetchHandler, HeaderValue, HeaderValues, Limits, TargetFile } from './target-file.ts'
export type { KeyValue, OperationValue, ScenarioValue } from './target-file.ts'
export { loadTargetFile } from './load.ts'
export { baseUrlProblem, checkTargetFile } from './check.ts'
export { normalBaseUrl } from './http-values.ts'
export { didYouMean, idMeant, nearest } from './nearest.ts'

export { declares, isDeclared, missingNeeds, missingReason, readsDeclared } from './declared.ts'
export { exclusiveIds, isExclusive } from './declared.ts'

export { resolveTarget } from './resolve.ts'
export { leavesOf, plainFile } from './places.ts'
export {
  type ApplicationResource,
  applicationNames,
  type OtherObject,
  otherApplications,
  type Scenario,
  type Target,
  type UploadContent,
} from './model.ts'
export { fillRequest, fillTarget, readOnlyTarget } from './places.ts'
export type { HookRequest, SetupRequest } from './model.ts'

export { labels, redactorFor } from './keys.ts'
export type { KeySource, Secret } from './model.ts'
