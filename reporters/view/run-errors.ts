import type { Report } from '../../harness/report/model.ts'

/**
 * Why the run as a whole is no success although no requirement says so: it ended with 2 or 3, or the baseline has an entry
 * whose requirement did not fail. Formats that know only tests would otherwise show such a run as green.
 */
export function runErrors({ exit, requirements, run }: Report): string[] {
  const failed = new Set(requirements.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id))
  const stale = (run.baseline?.stale ?? []).filter(({ id }) => !failed.has(id))
  return [
    ...(exit.code > 1 ? [exit.because] : []),
    ...stale.map(({ id, why }) => `stale entry of the baseline: ${id}: ${why}`),
  ]
}
