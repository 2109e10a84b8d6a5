export {
  type FetchHandler,
  type HeaderValue,
  type HeaderValues,
  type Limits,
  type TargetFile,
  type KeyValue,
  type OperationValue,
  type ScenarioValue,
  type ApplicationValue,
  applicationNames,
  type OtherObject,
  otherApplications,
  type Scenario,
  type Target,
  type UploadContent,
  type HookRequest,
  type KeySource,
  type Secret,
} from './model.ts'
export {
  isModule,
  loadTargetFile,
  baseUrlProblem,
  checkTargetFile,
  didYouMean,
  idMeant,
  nearest,
} from './load.ts'
export { normalBaseUrl, resolveTarget, labels } from './resolve.ts'

export { declares, isDeclared, missingNeeds, missingReason, readsDeclared } from './declared.ts'
export { leavesOf, plainFile, fillRequest, fillTarget, readOnlyTarget } from './places.ts'
