/** The library for programs: judge a target, type a target file, read the catalogue. */
export { catalogue, isRequirementId } from './catalogue/catalogue.ts'
export type {
  CatalogueRequirement as RequirementRow,
  RequirementId,
} from './catalogue/catalogue.ts'
export type { OperationId } from './catalogue/operations.ts'
export type {
  EndedEvent,
  JudgedEvent,
  Plan,
  PlanEntry,
  PlannedEvent,
  RunEvent,
  RunFacts,
  ThrottledEvent,
} from './harness/engine/index.ts'
export type {
  CatalogueResult as Requirement,
  Failure,
  FailureExchange,
  Outcome,
  RecordedExchange,
  TpeMode,
  Verdict,
} from './harness/report/index.ts'
export type { Report } from './library/start-run.ts'
export type { FetchHandler, Limits } from './harness/target-file/index.ts'
export { UserError } from './harness/user-error.ts'
export { defineTarget } from './library/options.ts'
export { fromNodeListener, type NodeListener } from './library/node-listener.ts'
export type { ConformanceEvent, WarnedEvent } from './library/options.ts'
export type { ConformanceOptions, IdPattern } from './library/options.ts'
export {
  type ClientExchange,
  type ClientFault,
  type ClientFinding,
  type ClientReport,
  type HarLike,
  judgeClient,
  type JudgeClientOptions,
} from './library/judge-client.ts'
export { type ConformanceRun, runConformance } from './library/run-conformance.ts'
export type { Target, TargetJson } from './library/options.ts'
