import { decisive } from '../../harness/report/exit-code.ts'
import type { Report } from '../../harness/report/model.ts'

/** The ids that decide the exit code because they were not exercised (`--require-exercised`). */
export function requiredButMissed(report: Report): string[] {
  return decisive(report)
    .filter(({ outcome }) => outcome === 'not-exercised')
    .map(({ id }) => id)
}
