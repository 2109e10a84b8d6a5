/** The library for programs: judge a target, type a target file, read the catalogue. */
export { catalogue } from '../catalogue/catalogue.ts'
export type {
  CatalogueRequirement as RequirementRow,
  RequirementId,
} from '../catalogue/catalogue.ts'
export type { OperationId } from '../catalogue/operations.ts'
export type { Plan, PlanEntry } from '../harness/client/index.ts'
export type {
  EndedEvent,
  JudgedEvent,
  PlannedEvent,
  RunEvent,
  RunFacts,
  ThrottledEvent,
} from '../harness/run/index.ts'
export type {
  CatalogueResult as Requirement,
  Failure,
  FailureExchange,
  Outcome,
  RecordedExchange,
  TpeMode,
  Verdict,
} from '../harness/report/index.ts'
export type { Report } from './start-run.ts'
export type { FetchHandler, Limits } from '../harness/target/index.ts'
export { UserError } from '../harness/user-error.ts'
export { defineTarget } from './define-target.ts'
export { fromNodeListener, type NodeListener } from './node-listener.ts'
export type { ConformanceEvent, WarnedEvent } from './options.ts'
export type { ConformanceOptions, IdPattern } from './options.ts'
export { type ConformanceRun, runConformance } from './run-conformance.ts'
export type { Target, TargetJson } from './options.ts'
