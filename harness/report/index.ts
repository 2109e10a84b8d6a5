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

export { absentReason, leftOut, mistakeReason, targetReason } from './reason.ts'
export { undeclaredReason, unreachableReason } from './reason.ts'
export { commonReason, plainReason, type Reason, reasonIn } from './reason.ts'
export { isLeftOut, isLeftOutByOption, isMistake } from './reason.ts'
export { count, sayNeed, sayNeeds, sections } from './reason.ts'
export { rateOf, spokenRate } from './reason.ts'

export { type Baseline, type BaselineEntry, heldEntries, withBaseline } from './baseline.ts'
export { foreignBaseline, isExpectedFailure } from './baseline.ts'
export { readBaseline, readBaselineOrNone, reasonExpected, updateBaseline } from './baseline.ts'
