import { decided } from './exit-code.ts'
import type { Report } from './model.ts'
import { summarize, bothVerdicts } from './verdict.ts'

/** What is told of a run or a recording, and everything that follows from it left out. */
export type Told = Pick<Report, 'format' | 'suite' | 'target' | 'run' | 'requirements'>

/**
 * The report with what follows from its results: verdicts, summary, exit code.
 * @param judged what the verdicts depend on besides the results
 * @param notJudged why the target could not be judged, if it could not
 */
export function computed(told: Told, judged: Parameters<typeof bothVerdicts>[1], notJudged?: string): Report {
  const { run, requirements } = told
  const verdicts = bothVerdicts(requirements, judged)
  const summary = summarize(requirements, run.tpe)
  return decided({ ...told, verdict: verdicts[run.tpe], verdicts, summary }, { notJudged })
}
