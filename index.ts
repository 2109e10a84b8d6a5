/** What a program gets: judge a target, type a target file, read the catalogue. */
export { catalogue } from './catalogue/catalogue.ts'
export type { CatalogueRow as RequirementRow, RequirementId } from './catalogue/catalogue.ts'
export type { OperationId } from './catalogue/operations.ts'
export type { RunEvent } from './harness/engine/events.ts'
export type { RunFacts } from './harness/engine/facts.ts'
export type {
  Failure,
  FailureExchange,
  Outcome,
  Report,
  RequirementResult as Requirement,
  TpeMode,
  Verdict,
} from './harness/report/model.ts'
export type { TargetFile as Target } from './harness/target/target-file.ts'
export { defineTarget } from './library/define-target.ts'
export { type ConformanceOptions, type ConformanceRun, runConformance } from './library/run-conformance.ts'
