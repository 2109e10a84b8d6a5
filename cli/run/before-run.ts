import type { Baseline } from '../../harness/report/baseline.ts'
import { foreignBaseline, readBaseline, readBaselineOrNone } from '../../harness/report/read-baseline.ts'
import { checkOutputs, reportFiles } from '../output/check-outputs.ts'
import type { ReportRequest } from '../output/report-request.ts'
import type { RunArguments } from './arguments.ts'
import type { FoundTarget } from './find-target.ts'

/** The baseline that was asked for; throws UserError if it cannot be read. */
export function baselineOf({ baseline, updateBaseline, tpe }: RunArguments): Baseline | undefined {
  if (baseline === undefined) return undefined
  return updateBaseline ? readBaselineOrNone(baseline, tpe) : readBaseline(baseline, tpe)
}

/** Nothing is sent for a report that could not be written, or that would overwrite what it is made from. */
export function checkFiles(requests: readonly ReportRequest[], options: RunArguments, { inputs }: FoundTarget): void {
  const { baseline: path, updateBaseline } = options
  if (path === undefined) return checkOutputs(reportFiles(requests), inputs)
  checkOutputs(reportFiles(requests), [...inputs, { path, what: 'the baseline' }])
  if (updateBaseline) checkOutputs([{ path, option: `--update-baseline ${path}` }], inputs)
}

/** Says on stderr what may be meant otherwise. */
export function warn({ target, warnings }: FoundTarget, options: RunArguments, baseline: Baseline | undefined): void {
  const all = [...warnings, ...(baseline ? foreignBaseline(baseline, target) : [])]
  if (options.key !== undefined) {
    all.push(
      '--key: other users of this machine can see it in the process list; CONFORM_API_KEY or keys.full in the target file is not seen',
    )
  }
  for (const warning of all) process.stderr.write(`conform: warning: ${warning}\n`)
}
