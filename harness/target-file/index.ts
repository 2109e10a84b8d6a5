// A target file as it is written.
export type { FetchHandler, HeaderValue, HeaderValues, Limits, TargetFile } from './target-file.ts'
export type { KeyValue, OperationValue, ScenarioValue } from './target-file.ts'
export { loadTargetFile } from './load.ts'
export { checkTargetFile } from './check.ts'
export { baseUrlProblem, headerProblems, normalBaseUrl } from './http-values.ts'
export { didYouMean, idMeant, nearest } from './nearest.ts'

// What it declares.
export {
  declares,
  exclusiveIds,
  isDeclared,
  isExclusive,
  missingNeeds,
  missingReason,
} from './declared.ts'
export { readsDeclared } from './declared.ts'

// The target that it becomes.
export { canonicalTarget, mapKeys, resolveTarget } from './resolve.ts'
export type { ApplicationResource, Scenario, Target, UploadContent } from './model.ts'
export { fillRequest, fillTarget, readOnlyTarget } from './saved.ts'
export type { HookRequest, SetupRequest } from './model.ts'

// Its keys.
export { labels, redactorFor } from './resolve-key.ts'
export type { KeySource, Secret } from './model.ts'

// What its schema is made from (build/target-schema/), besides target-file.ts: no run needs that.
export { contentExample, keyExamples, resourceExamples } from './declared.ts'
export { defaultPointer, memberOf, rolesOf } from './roles.ts'
export { defaultLimits } from './model.ts'
