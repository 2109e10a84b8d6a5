import type { Counts, Outcome } from '../../harness/report/model.ts'

/** How something is shown: never by its colour alone. `tone` is its class in the style sheet. */
export interface Mark {
  readonly sign: string
  readonly word: string
  readonly tone: string
}

/** How an outcome is shown: one sign means one thing in every report, on the terminal and on every page. */
export const outcomes = {
  passed: { sign: '✓', word: 'Passed', tone: 'p', member: 'passed' },
  failed: { sign: '✗', word: 'Failed', tone: 'f', member: 'failed' },
  'not-exercised': { sign: '○', word: 'Not tested', tone: 'm', member: 'notExercised' },
  'not-applicable': { sign: '–', word: 'Not applicable', tone: 'n', member: 'notApplicable' },
} as const satisfies Record<Outcome, Mark & { member: keyof Counts }>
