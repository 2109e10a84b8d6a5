import type { Report } from '../harness/report/model.ts'

/** What a test file hands to the reporter of each of its runs. */
export interface Handover {
  readonly report: Report
  /** Its exchanges, a line of JSON each; absent if no report needs them. */
  readonly exchangeLog?: string
  /** Why the exchanges could not be written down. */
  readonly recordingProblem?: string
}
