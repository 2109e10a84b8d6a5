import { setImmediate as afterEvents } from 'node:timers/promises'
import { type Interrupts, exitProcess } from './guard.ts'
import { parseReportRequests, streamForPeople } from '../library/output/files.ts'
import type { RunArguments } from './run/arguments.ts'
import { baselineOf, oneRun } from './run/one-run.ts'
import { runOptions } from './run/options.ts'
import { findTarget, warn } from './run/find-target.ts'
import type { Target } from '../harness/target/index.ts'
import { roundly } from './output/progress.ts'
import { colorsFor, tell } from '../library/output/say.ts'
import type { Line } from '../reporters/terminal/lines.ts'
import type { Colors } from 'picocolors/types'
import { type Estimate, estimate } from '../suites/estimate.ts'
import { planRun } from '../suites/plan.ts'
import { spokenRate } from '../harness/report/index.ts'

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
  const run = runOptions(options, baseUrl, [])
  const { target } = found
  const unlimited = { ...target, limits: { ...target.limits, maxGenerations: 0 } }
  const rowsOf = (of: Target): Estimate[] => estimate(planRun(of, run), of, run)
  const rows = rowsOf(target)
  const { maxGenerations, requestsPerSecond } = target.limits
  const limit = limitNote(rowsOf(unlimited), maxGenerations)
  tell(people, [
    ...dryRunTable(rows, colorsFor(people)),
    '',
    ...rateNote(rows, requestsPerSecond),
    ...dryRunNotes,
    ...limit,
  ])
}

function rateNote(rows: readonly Estimate[], rate: number): Line[] {
  if (rate === 0) return []
  const takes = (column: 'typical' | 'requests'): string =>
    roundly((rows.reduce((sum, row) => sum + row[column], 0) / rate) * 1000)
  return [
    `At ${spokenRate(rate)}: typically ${takes('typical')}, at most ${takes('requests')}.`,
    '',
  ]
}

const dryRunNotes: readonly Line[] = [
  'Nothing was sent.',
  'Typical: measured with a conforming server and short jobs.',
  'At most: all cases, if the server accepts every valid request and every job takes its full time; with the objects that a conforming server would create or generate.',
]

function limitNote(rows: readonly Estimate[], limit: number): Line[] {
  const most = rows.reduce((sum, { generations }) => sum + generations, 0)
  if (limit === 0 || most <= limit) return []
  return [
    `limits.maxGenerations is ${limit}: if the target accepts everything that it may, cases are left out, and their requirements are not tested. ${most} is enough.`,
  ]
}

function dryRunTable(rows: readonly Estimate[], colors: Colors): Line[] {
  const counted = ['typical', 'requests', 'creations', 'generations'] as const
  const totals = counted.map((column) => rows.reduce((sum, row) => sum + row[column], 0))
  const table = [
    ['operation', 'typical', 'at most', 'creations', 'generations'],
    ...rows.map((row) => [row.operation, ...counted.map((column) => String(row[column]))]),
    ['total', ...totals.map(String)],
  ]
  const width = (column: number): number => Math.max(...table.map((line) => line[column]!.length))
  const cell = (text: string, column: number): string =>
    column === 0 ? text.padEnd(width(column)) : text.padStart(width(column))
  const paints = [colors.dim, ...rows.map(() => String), colors.bold]
  return table.map((line, at): Line => ({ whole: paints[at]!(line.map(cell).join('  ')) }))
}
