import { join } from 'node:path'
import { setImmediate as afterEvents } from 'node:timers/promises'
import type { Baseline } from '../harness/report/baseline.ts'
import { expectedIds } from '../harness/report/baseline.ts'
import { foreignBaseline } from '../harness/report/foreign-baseline.ts'
import { readBaseline, readBaselineOrNone } from '../harness/report/read-baseline.ts'
import type { Interrupts } from './run/interrupts.ts'
import { checkOutputs, reportFiles } from './output/check-outputs.ts'
import { colorsFor } from './output/colors.ts'
import { parseReportRequests, type ReportRequest, takesStdout } from './output/report-request.ts'
import { loadFormats } from './output/write-reports.ts'
import type { RunArguments } from './run/arguments.ts'
import { findTarget, type FoundTarget } from './run/find-target.ts'
import { judge, type Judged } from './run/judge.ts'
import { publish } from './run/publish.ts'
import { makeRunFolder } from './output/run-folder.ts'
import { runOptions } from './run/run-options.ts'

/** `conform [base_url]`: finds the target, judges it, writes the reports and sets the exit code. */
export async function runAction(
  baseUrl: string | undefined,
  options: RunArguments,
  interrupts: Interrupts,
): Promise<void> {
  // It sends nothing and reports nothing: it can end anywhere.
  if (options.dryRun) interrupts.standAside()
  const requests = parseReportRequests(options.report)
  const people = takesStdout(requests) ? process.stderr : process.stdout
  const baseline = baselineOf(options)
  // Whatever came while this was being loaded is heard first.
  await afterEvents()
  const found = await findTarget(baseUrl, options)
  const folder = makeRunFolder()
  let left: Judged | undefined
  try {
    warn(found, options, baseline)
    const expected = baseline ? expectedIds(baseline, new Date()) : new Set<string>()
    const run = runOptions(options, baseUrl, expected, join(folder.path, 'exchanges.ndjson'))
    if (options.dryRun) {
      // The suites say what they would send; a run loads them in its worker instead.
      const { printDryRun } = await import('./run/dry-run.ts')
      return printDryRun(found.target, run, people)
    }
    checkFiles(requests, options, found)
    if (requests.length > 0) await loadFormats()
    const stream = process.stderr
    left = await judge(found, run, { interrupts, stream, colors: colorsFor(stream) })
    await publish(left.record, { options, requests, people, baseline })
  } finally {
    folder.remove()
    await found.close()
    if (left?.done === false) exitSoon()
  }
}

/** A worker that did not end in time would keep the process alive. Whatever is still to be said is said first. */
function exitSoon(): void {
  // eslint-disable-next-line no-restricted-properties -- reports are written by now
  setImmediate(() => process.exit())
}

function baselineOf({ baseline, updateBaseline, tpe }: RunArguments): Baseline | undefined {
  if (baseline === undefined) return undefined
  return updateBaseline ? readBaselineOrNone(baseline, tpe) : readBaseline(baseline, tpe)
}

/** Nothing is sent for a report that could not be written, or that would overwrite what it is made from. */
function checkFiles(requests: readonly ReportRequest[], options: RunArguments, { inputs }: FoundTarget): void {
  const { baseline: path, updateBaseline } = options
  if (path === undefined) return checkOutputs(reportFiles(requests), inputs)
  checkOutputs(reportFiles(requests), [...inputs, { path, what: 'the baseline' }])
  if (updateBaseline) checkOutputs([{ path, option: `--update-baseline ${path}` }], inputs)
}

function warn({ target, warnings }: FoundTarget, options: RunArguments, baseline: Baseline | undefined): void {
  const all = [...warnings, ...(baseline ? foreignBaseline(baseline, target) : [])]
  if (options.key !== undefined) {
    all.push(
      '--key: other users of this machine can see it in the process list; CONFORM_API_KEY or keys.full in the target file is not seen',
    )
  }
  for (const warning of all) process.stderr.write(`conform: warning: ${warning}\n`)
}
