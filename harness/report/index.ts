export type * from './report-schema.ts'
export { basicDefinitions, conditions, results } from './report-schema.ts'
export {
  assembleReport,
  noRun,
  suiteVersion,
  summarize,
  isSame,
  responseOf,
  resultOf,
  sayAnswers,
  decided,
  howMuchUntested,
  decisive,
  inconsistencies,
  outsideCause,
  withProblems,
  isObserved,
  isSelected,
  matchesId,
} from './verdict.ts'
export { parseJson, parseReport, readBytes, readReport, type ReportFile } from './json-file.ts'

export {
  absentReason,
  leftOut,
  mistakeReason,
  targetReason,
  undeclaredReason,
  unreachableReason,
  commonReason,
  plainReason,
  type Reason,
  reasonIn,
  isLeftOut,
  isLeftOutByOption,
  isMistake,
  count,
  sayNeed,
  sayNeeds,
  sections,
  rateOf,
  spokenRate,
} from './reason.ts'

export {
  type Baseline,
  type BaselineEntry,
  heldEntries,
  withBaseline,
  foreignBaseline,
  isExpectedFailure,
  readBaseline,
  readBaselineOrNone,
  reasonExpected,
  updateBaseline,
} from './baseline.ts'
