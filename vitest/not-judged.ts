import { isMistake } from '../harness/report/reason.ts'
import type { Ended } from './suite-run.ts'

/**
 * Why the run as a whole is no success although each of its tests may only be skipped: the target was lost, its key is refused,
 * the suite itself went wrong, nothing could be judged. Undefined if vitest was stopped, or if the few tests that a filter
 * chose were all skipped, each with its reason.
 */
export function whyNotJudged({ facts, report }: Ended, all: boolean): string | undefined {
  const { ended, keyRefused = false } = facts ?? {}
  if (report.exit.code !== 3 || report.run.interrupted) return undefined
  const isOfTheRun = Boolean(ended) || keyRefused || report.requirements.some(isMistake)
  return all || isOfTheRun ? report.exit.because : undefined
}
