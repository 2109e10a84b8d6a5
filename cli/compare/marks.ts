import type { Colors } from 'picocolors/types'
import type { Column, Comparison, Outcome } from '../../harness/report/index.ts'
import { type Mark, outcomes } from '../../reporters/view/writing.ts'

/** How a cell shows an outcome: never by colour alone. */
export const marks: Readonly<Record<Outcome | 'absent', Mark>> = {
  ...outcomes,
  absent: { sign: ' ', word: 'Not in this report', tone: 'w' },
}

export const paints = {
  passed: 'green',
  failed: 'red',
  'not-exercised': 'yellow',
  'not-applicable': 'dim',
  absent: 'dim',
} as const satisfies Record<Outcome | 'absent', keyof Colors>

/** Name that tells a report from the others. */
export function columnName({ baseUrl, name, startedAt }: Column, { of }: Comparison): string {
  return of === 'time' ? startedAt : `${name}  ${baseUrl}`
}
