import type { Report, TpeMode } from './model.ts'
import { holdAgainst } from './baseline.ts'
import { decided, outsideCause } from './exit-code.ts'
import { readBaseline } from './read-baseline.ts'
import { bothVerdicts, summarize } from './verdict.ts'
import { inMode } from './mode.ts'

/** What decides the exit code of a report besides the report. */
export interface Gates {
  readonly tpe?: TpeMode
  readonly strict?: boolean
  /** File of the baseline. */
  readonly baseline?: string
}

/** The report as these options decide it; if one is not given, the report's own counts. Throws UserError for a bad baseline. */
export function applyGates(report: Report, gates: Gates, now: Date): Report {
  return decided(withGates(report, gates, now), { notJudged: outsideCause(report) })
}

function withGates(report: Report, { tpe, strict, baseline }: Gates, now: Date): Report {
  const moded = tpe === undefined || tpe === report.run.tpe ? report : applyMode(report, tpe)
  const { run, requirements } = moded
  const held =
    baseline === undefined ? run.baseline : holdAgainst(readBaseline(baseline, run.tpe), requirements, run.tpe, now)
  const gated = { ...run, strict: strict ?? run.strict, baseline: held }
  // What could not be judged is not judged, however strictly it is looked at.
  if (gated.strict === run.strict || moded.verdict === 'not-judged') return { ...moded, run: gated }
  const verdicts = bothVerdicts(requirements, gated)
  return { ...moded, run: gated, verdicts, verdict: verdicts[run.tpe] }
}

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
