import { setImmediate as afterEvents } from 'node:timers/promises'
import type { Interrupts } from './run/interrupts.ts'
import { parseReportRequests, takesStdout } from './output/report-request.ts'
import type { RunArguments } from './run/arguments.ts'
import { baselineOf, warn, oneRun } from './run/one-run.ts'
import { findTarget } from './run/find-target.ts'
import { runOptions } from './run/run-options.ts'

/** `conform [base_url]`: finds the target, judges it, writes the reports and sets the exit code. */
export async function runAction(
  baseUrl: string | undefined,
  options: RunArguments,
  interrupts: Interrupts,
): Promise<void> {
  const people = takesStdout(parseReportRequests(options.report)) ? process.stderr : process.stdout
  if (options.dryRun) {
    // It sends nothing and reports nothing: it can end anywhere.
    interrupts.restoreDefaultSignals()
    return dryRun(baseUrl, options, people)
  }
  // Whatever came while this was being loaded is heard first.
  await afterEvents()
  await oneRun(baseUrl, options, { interrupts, people, onLeftBehind: exitSoon })
}

async function dryRun(baseUrl: string | undefined, options: RunArguments, people: NodeJS.WriteStream): Promise<void> {
  const baseline = baselineOf(options)
  const found = await findTarget(baseUrl, options)
  warn(found, options, baseline)
  // The suites say what they would send.
  const { printDryRun } = await import('./run/dry-run.ts')
  printDryRun(found.target, runOptions(options, baseUrl, [], ''), people)
}

/** What did not end in time would keep the process alive. Whatever is still to be said is said first. */
function exitSoon(): void {
  // eslint-disable-next-line no-restricted-properties -- reports are written by now
  setImmediate(() => process.exit())
}
