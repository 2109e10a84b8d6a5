import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import pc from 'picocolors'
import { expectedIds } from '../harness/report/baseline.ts'
import { readBaseline, readBaselineOrNone } from '../harness/report/read-baseline.ts'
import { addArguments, type RunArguments } from './run/arguments.ts'
import { checkArguments } from './run/checked-arguments.ts'
import { findTarget, type FoundTarget } from './run/find-target.ts'
import { judge } from './run/judge.ts'
import { runOptions } from './run/run-options.ts'
import { publish } from './run/publish.ts'
import { parseReportRequests, takesStdout } from './output/report-request.ts'

export function addRunOptions(command: Command): Command {
  return addArguments(command)
}

/** `conform [base_url]`: finds the target, judges it, writes the reports and sets the exit code. */
export async function runAction(baseUrl: string | undefined, options: RunArguments): Promise<void> {
  checkArguments(options)
  const requests = parseReportRequests(options.report)
  const people = takesStdout(requests) ? process.stderr : process.stdout
  const baseline = baselineOf(options)
  const found = await findTarget(baseUrl, options)
  const dir = mkdtempSync(join(tmpdir(), 'conform-run-'))
  try {
    warn(found, options)
    const expected = baseline ? expectedIds(baseline, new Date()) : new Set<string>()
    const run = runOptions(options, baseUrl, expected, join(dir, 'exchanges.ndjson'))
    if (options.dryRun) {
      // The suites say what they would send; a run loads them in its worker instead.
      const { printDryRun } = await import('./run/dry-run.ts')
      return printDryRun(found.target, run, people)
    }
    const record = await judge(found, run, process.stderr, pc)
    await publish(record, { options, requests, people, baseline })
  } finally {
    rmSync(dir, { recursive: true, force: true })
    await found.close()
  }
}

function baselineOf({ baseline, updateBaseline, tpe }: RunArguments) {
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
