import { isEmptyShard } from '../../harness/report/counted-rows.ts'
import type { Report } from '../../harness/report/model.ts'
import { verdictSentence } from './verdict-sentence.ts'

/**
 * Why the run as a whole is no success although no requirement says so: it was interrupted, the target could not be
 * judged, the baseline is stale. Formats that know only tests would otherwise show such a run as green.
 */
export function runErrors(report: Report): string[] {
  const { run, verdict } = report
  const stale = run.baseline?.stale ?? []
  return [
    ...(run.interrupted ? ['the run was interrupted'] : []),
    ...(verdict === 'not-judged' && !isEmptyShard(report) ? [verdictSentence(report)] : []),
    ...stale.map(({ id, why }) => `stale entry of the baseline: ${id}: ${why}`),
  ]
}
