import type { Report, TpeMode } from './model.ts'
import { inMode } from './mode.ts'
import { summarize } from './summary.ts'

/** The same report as that mode decides it: outcomes, verdict and summary. It has both verdicts already. */
export function applyMode(report: Report, mode: TpeMode): Report {
  return {
    ...report,
    run: { ...report.run, tpe: mode },
    verdict: report.verdicts[mode],
    summary: summarize(report.requirements, mode),
    requirements: report.requirements.map((result) => inMode(result, mode)),
  }
}
