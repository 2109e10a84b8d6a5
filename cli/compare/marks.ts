import type { Outcome } from '../../harness/report/model.ts'

/** How a cell shows an outcome: never by colour alone. */
export const marks: Readonly<Record<Outcome | 'absent', { sign: string; word: string }>> = {
  passed: { sign: '✓', word: 'passed' },
  failed: { sign: '✗', word: 'failed' },
  'not-exercised': { sign: '–', word: 'not exercised' },
  'not-applicable': { sign: '·', word: 'not applicable' },
  absent: { sign: ' ', word: 'not in this report' },
}
