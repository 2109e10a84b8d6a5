import { isEmptyShard } from './counted-rows.ts'
import { isLeftOut } from './left-out.ts'
import type { Report, RequirementResult } from './model.ts'

export interface ExitOptions {
  /** `--require-exercised`: a `must` that was not exercised counts like a failed one, unless it was left out. */
  readonly requireExercised?: boolean
}

/**
 * The exit code of a run, `check` or `merge`, by the report's own `strict`, `tpe` and `baseline`: 3 where the target
 * could not be judged (an interrupt included), else 1 where something failed that was not expected to, else 0.
 */
export function exitCode(report: Report, options: ExitOptions = {}): 0 | 1 | 3 {
  if (report.run.interrupted) return 3
  if (report.verdict === 'not-judged' && !isEmptyShard(report)) return 3
  return decidingRows(report, options).length > 0 || hasStaleBaseline(report) ? 1 : 0
}

/** The requirements because of which the exit code is 1; a stale baseline makes it 1 too. */
export function decidingRows(report: Report, options: ExitOptions = {}): RequirementResult[] {
  const expected = new Set(report.run.baseline?.expected)
  return report.requirements.filter((result) => {
    if (result.outcome === 'failed') {
      return (result.level === 'must' || report.run.strict) && !expected.has(result.id)
    }
    const missed = result.outcome === 'not-exercised' && !isLeftOut(result)
    return options.requireExercised === true && missed && result.level === 'must'
  })
}

function hasStaleBaseline(report: Report): boolean {
  return (report.run.baseline?.stale.length ?? 0) > 0
}
