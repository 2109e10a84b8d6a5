import { setImmediate as afterEvents } from 'node:timers/promises'
import { spokenRate } from '../harness/report/index.ts'
import { parseReportRequests, streamForPeople } from '../library/output/files.ts'
import { colorsFor, tell } from '../library/output/say.ts'
import type { Line } from '../reporters/terminal/lines.ts'
import { duration } from '../reporters/view/writing.ts'
import { estimate } from '../suites/estimate.ts'
import { planRun } from '../suites/plan.ts'
import { type Interrupts, exitProcess } from './guard.ts'
import { type RunArguments, runOptions } from './run/arguments.ts'
import { findTarget, warn } from './run/find-target.ts'
import { baselineOf, oneRun } from './run/one-run.ts'

export async function runAction(
  baseUrl: string | undefined,
  options: RunArguments,
  interrupts: Interrupts,
): Promise<void> {
  const people = streamForPeople(parseReportRequests(options.report))
  if (options.dryRun) {
    // Nothing to send or report: it can end at any time.
    interrupts.restoreDefaultSignals()
    return dryRun(baseUrl, options, people)
  }
  // Handles signals that arrived during loading first.
  await afterEvents()
  // Whatever did not end in time would keep the process alive; pending output is written first.
  const exitSoon = (): void => void setImmediate(() => exitProcess())
  await oneRun(baseUrl, options, { interrupts, people, onLeftBehind: exitSoon })
}

async function dryRun(
  baseUrl: string | undefined,
  options: RunArguments,
  people: NodeJS.WriteStream,
): Promise<void> {
  const baseline = baselineOf(options)
  const found = await findTarget(baseUrl, options)
  warn(found, options, baseline)
  const { target } = found
  const run = runOptions(options, baseUrl, [])
  const rows = estimate(planRun(target, run), target, run)
  const counted = ['typical', 'requests', 'creations', 'generations'] as const
  const [typical = 0, most = 0, ...objects] = counted.map((column) =>
    rows.reduce((sum, row) => sum + row[column], 0),
  )
  const table = [
    ['operation', 'typical', 'at most', 'creations', 'generations'],
    ...rows.map((row) => [row.operation, ...counted.map((column) => row[column])]),
    ['total', typical, most, ...objects],
  ]
  const widths = table[0]!.map((_, at) => Math.max(...table.map((row) => String(row[at]).length)))
  const colors = colorsFor(people)
  const paints = [colors.dim, ...rows.map(() => String), colors.bold]
  const rate = target.limits.requestsPerSecond
  const takes = (requests: number): string => duration((requests / rate) * 1000)
  tell(people, [
    ...table.map(([name, ...numbers], at): Line => {
      const cells = numbers.map((number, column) => String(number).padStart(widths[column + 1]!))
      return { whole: paints[at]!([String(name).padEnd(widths[0]!), ...cells].join('  ')) }
    }),
    '',
    ...(rate === 0
      ? []
      : [`At ${spokenRate(rate)}: typically ${takes(typical)}, at most ${takes(most)}.`, '']),
    'Nothing was sent.',
    'Typical: measured with a conforming server and short jobs.',
    'At most: all cases, if the server accepts every valid request and every job takes its full time; with the objects that a conforming server would create or generate.',
  ])
}
