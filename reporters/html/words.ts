import type { Counts, Outcome, Verdict } from '../../harness/report/model.ts'

/** How something is shown: never by its colour alone. `tone` is its class in the style sheet. */
export interface Mark {
  readonly sign: string
  readonly word: string
  readonly tone: string
}

/** How an outcome is shown. */
export const outcomes = {
  passed: { sign: '✓', word: 'Passed', tone: 'p', member: 'passed' },
  failed: { sign: '✕', word: 'Failed', tone: 'f', member: 'failed' },
  'not-exercised': { sign: '○', word: 'Not exercised', tone: 'm', member: 'notExercised' },
  'not-applicable': { sign: '–', word: 'Not applicable', tone: 'n', member: 'notApplicable' },
} as const satisfies Record<Outcome, Mark & { member: keyof Counts }>

export const verdicts = {
  conformant: { sign: '✓', word: 'Conformant', tone: 'p' },
  passing: { sign: '✓', word: 'Passing', tone: 'p' },
  'non-conformant': { sign: '✕', word: 'Non-conformant', tone: 'f' },
  'not-judged': { sign: '?', word: 'Not judged', tone: 'm' },
} as const satisfies Record<Verdict, Mark>
