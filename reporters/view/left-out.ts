import type { Report } from '../../spec/report.ts'

/** Whether nothing was asked of the target because options left it all out, as in a shard to which nothing was dealt. */
export function nothingWasAsked(report: Report): boolean {
  return report.requirements.every(
    ({ operation, outcome, reason }) =>
      operation === 'envelope' || outcome === 'not-applicable' || reason?.startsWith('left out:') === true,
  )
}
