import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as afterEvents } from 'node:timers/promises'
import pc from 'picocolors'
import type { Baseline } from '../harness/report/baseline.ts'
import { expectedIds } from '../harness/report/baseline.ts'
import { readBaseline, readBaselineOrNone } from '../harness/report/read-baseline.ts'
import type { Interrupts } from './interrupts.ts'
import type { RunArguments } from './run/arguments.ts'
import { findTarget, type FoundTarget } from './run/find-target.ts'
import { judge, type Judged } from './run/judge.ts'
import { runOptions } from './run/run-options.ts'
import { publish } from './run/publish.ts'
import { parseReportRequests, takesStdout } from './output/report-request.ts'
import { loadFormats } from './output/write-reports.ts'

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
  if (requests.length > 0) interrupts.onFirst(() => void loadFormats())
  const dir = mkdtempSync(join(tmpdir(), 'conform-run-'))
  const removeDir = (): void => rmSync(dir, { recursive: true, force: true })
  process.once('exit', removeDir)
  let left: Judged | undefined
  try {
    warn(found, options)
    const expected = baseline ? expectedIds(baseline, new Date()) : new Set<string>()
    const run = runOptions(options, baseUrl, expected, join(dir, 'exchanges.ndjson'))
    if (options.dryRun) {
      // The suites say what they would send; a run loads them in its worker instead.
      const { printDryRun } = await import('./run/dry-run.ts')
      return printDryRun(found.target, run, people)
    }
    left = await judge(found, run, { interrupts, stream: process.stderr, colors: pc })
    await publish(left.record, { options, requests, people, baseline })
  } finally {
    removeDir()
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

function warn({ warnings }: FoundTarget, options: RunArguments): void {
  const all = [...warnings]
  if (options.key !== undefined) {
    all.push(
      '--key: other users of this machine can see it in the process list; CONFORM_API_KEY or keys.full in the target file is not seen',
    )
  }
  for (const warning of all) process.stderr.write(`conform: warning: ${warning}\n`)
}
