import type { BaselineEntry } from '../../harness/report/baseline.ts'
import type { RunOptions } from '../../harness/engine/run.ts'
import { rerunCommand, runOptionsOf } from '../../harness/engine/run-options.ts'
import type { RunArguments } from './arguments.ts'

/** Whether a report is asked for that shows every exchange: the others show those of failures, which the failures keep. */
function keepsExchanges({ report }: RunArguments): boolean {
  return report.some((value) => /^(har|html)(=|$)/.test(value))
}

/** What the command line decided, in the form that a run takes. */
export function runOptions(
  options: RunArguments,
  baseUrl: string | undefined,
  expected: readonly BaselineEntry[],
  exchangeLog: string,
): RunOptions {
  const log = keepsExchanges(options) ? { exchangeLog } : {}
  return runOptionsOf(
    { ...options, expected, ...log },
    rerunCommand({ ...options, baseUrl, ...(options.header && { headers: options.header }) }),
  )
}
