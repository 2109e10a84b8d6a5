import type { BaselineEntry } from '../../harness/report/baseline.ts'
import { randomBytes, randomInt } from 'node:crypto'
import { shellWord } from '../../harness/recording/curl.ts'
import type { RunOptions } from '../../harness/engine/run.ts'
import type { RunArguments } from './arguments.ts'

const refusalRuns = 25
const grantedRuns = 5
const backoffMs = 250

/** The options that a failure needs to show again; the ids and the seed are put behind them. */
function rerunCommand(baseUrl: string | undefined, options: RunArguments): string {
  const words = ['conform', ...(baseUrl === undefined ? [] : [baseUrl])]
  if (options.target !== undefined) words.push('--target', options.target)
  if (options.runs !== undefined) words.push('--runs', String(options.runs))
  if (options.tpe !== 'exact') words.push('--tpe', options.tpe)
  if (options.readOnly) words.push('--read-only')
  if (options.insecure) words.push('--insecure')
  return words.map(shellWord).join(' ')
}

/** Whether a report is asked for that shows every exchange: the others show those of failures, which the failures keep. */
function keepsExchanges({ report }: RunArguments): boolean {
  return report.some((value) => /^(har|html)(=|$)/.test(value))
}

/** What the command line decided, in the form that a run takes. A seed that is not given is drawn, and always printed. */
export function runOptions(
  options: RunArguments,
  baseUrl: string | undefined,
  expected: readonly BaselineEntry[],
  exchangeLog: string,
): RunOptions {
  return {
    seed: options.seed ?? randomInt(0, 2 ** 31),
    refusalRuns: options.runs ?? refusalRuns,
    grantedRuns: options.runs ?? grantedRuns,
    nonce: [...randomBytes(4)].map((byte) => (byte % 36).toString(36)).join(''),
    tpe: options.tpe,
    strict: options.strict ?? false,
    readOnly: options.readOnly ?? false,
    bail: options.bail ?? false,
    insecure: options.insecure ?? false,
    only: options.only,
    skip: options.skip,
    shard: options.shard ?? null,
    expected,
    rerun: rerunCommand(baseUrl, options),
    ...(keepsExchanges(options) ? { exchangeLog } : {}),
    backoffMs,
  }
}
