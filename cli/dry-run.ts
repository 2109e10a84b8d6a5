import { spokenRate } from '../harness/report/index.ts'
import { parseReportRequests, streamForPeople, tell, warnOf } from '../library/output.ts'
import { duration } from '../reporters/text.ts'
import { estimate } from '../suites/estimate.ts'
import { planRun } from '../suites/plan.ts'
import { type RunArguments, runOptions } from './run/arguments.ts'
import { findTarget } from './run/find-target.ts'

const columns = ['requests', 'creations', 'generations'] as const

/** Prints, per operation, what a run would send. */
export async function dryRun(baseUrl: string | undefined, options: RunArguments): Promise<void> {
  const { target, warnings } = await findTarget(baseUrl, options)
  for (const warning of warnings) warnOf(warning)
  const run = runOptions(options, baseUrl)
  const rows = estimate(planRun(target, run), target, run)
  const totals = columns.map((column) => rows.reduce((sum, row) => sum + row[column], 0))
  const table = [
    ['operation', ...columns],
    ...rows.map((row) => [row.operation, ...columns.map((column) => row[column])]),
    ['total', ...totals],
  ].map((row) => row.map(String))
  const widths = table[0]!.map((_, at) => Math.max(...table.map((row) => row[at]!.length)))
  const lines = table.map(([name, ...numbers]) =>
    [
      name!.padEnd(widths[0]!),
      ...numbers.map((number, at) => number.padStart(widths[at + 1]!)),
    ].join('  '),
  )
  const rate = target.limits.requestsPerSecond
  const [requests = 0] = totals
  const more = rows.reduce((sum, row) => sum + row.most, -requests)
  const time = duration((requests / rate) * 1000)
  tell(streamForPeople(parseReportRequests(options.report)), [
    ...lines.map((whole) => ({ whole })),
    '',
    'Nothing was sent.',
    `A run sends about ${requests} requests, up to ${more} more if answers are wrong.`,
    ...(rate === 0 ? [] : [`At ${spokenRate(rate)} it takes about ${time}.`]),
  ])
}
