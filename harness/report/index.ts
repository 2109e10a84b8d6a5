// A report.
export type {
  AnswersDiffer,
  Counts,
  Created,
  Depth,
  NotServed,
  PageCount,
  Report,
} from './model.ts'
export type { Absence, TpeMode, Verdict } from './model.ts'
export type {
  CatalogueResult,
  Failure,
  LeftOutBy,
  Outcome,
  RequirementResult,
  TakesState,
} from './model.ts'
export type {
  ExchangeRole,
  FailureExchange,
  RecordedBody,
  RecordedExchange,
  RecordedHeaders,
} from './model.ts'
export type { RecordedRequest, RecordedResponse, Story, StoryStep } from './model.ts'
export { basicDefinitions, conditions } from './report-schema.ts'
export { rateOf, rateText, spokenRate } from './rate.ts'
export { assembleReport, noRun, suiteSite, suiteVersion } from './assemble-report.ts'
export { keyWasRefused, withResults } from './assemble-report.ts'
export {
  doubledMember,
  firstError,
  parseJson,
  parseReport,
  readBytes,
  readReport,
  refuseDoubled,
} from './json-file.ts'

// Why something was not judged, and words that all who tell of results use.
export {
  absentReason,
  leftOut,
  mistakeReason,
  targetReason,
  undeclaredReason,
  unreachableReason,
} from './reason.ts'
export { commonReason, plainReason, type Reason, reasonIn } from './reason.ts'
export { isLeftOut, isLeftOutByOption, isMistake } from './reason.ts'
export { count, sayNeed, sayNeeds, sections, sectionsIn } from './reason.ts'

// Verdict and exit code.
export { countOutcomes, familyNamesOnly, inMode, isEmptyShard, summarize } from './verdict.ts'
export {
  applyGates,
  decided,
  decisive,
  type Gates,
  inconsistencies,
  outsideCause,
  withClient,
  withProblems,
} from './exit-code.ts'

// Baselines.
export {
  type Baseline,
  type BaselineEntry,
  foreignBaseline,
  foreignBaselineFile,
  heldEntries,
} from './baseline.ts'
export { holdAgainst, isExpectedFailure, readBaseline, readBaselineOrNone } from './baseline.ts'
export { updateBaseline } from './update-baseline.ts'

// Which response failed.
export { type HttpResponse, isSame, reasonExpected, responseOf, sayAnswers } from './baseline.ts'

// A part of the requirements, and several reports.
export {
  isAssignedTo,
  isObserved,
  isSelected,
  matchesId,
  maxPatterns,
  parseShard,
} from './selection.ts'
export { patternProblem, type Shard } from './selection.ts'
export { mergeReports } from './merge.ts'
export {
  changeOf,
  compareReports,
  differingRows,
  newlyFailingMusts,
  notableRows,
  suiteNote,
} from './compare.ts'
export type { Column, Comparison, Row } from './compare.ts'
