import { estimate } from '../../harness/engine/estimate.ts'
import { planRun } from '../../harness/engine/plan.ts'
import type { RunOptions } from '../../harness/engine/run.ts'
import type { Target } from '../../harness/target/model.ts'

/** Prints, per operation, how many requests, creations and generations a run would send at most; sends nothing. */
export function printDryRun(target: Target, options: RunOptions, stream: NodeJS.WritableStream): void {
  const rows = estimate(planRun(target, options), target, options)
  const total = rows.reduce(
    (sum, row) => ({
      requests: sum.requests + row.requests,
      creations: sum.creations + row.creations,
      generations: sum.generations + row.generations,
    }),
    { requests: 0, creations: 0, generations: 0 },
  )
  const table = [
    ['operation', 'requests', 'creations', 'generations'],
    ...rows.map((row) => [row.operation, ...[row.requests, row.creations, row.generations].map(String)]),
    ['total', ...[total.requests, total.creations, total.generations].map(String)],
  ]
  const widths = table[0]?.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0))) ?? []
  const lines = table.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  )
  stream.write(`at most, as if each control were granted; nothing was sent\n${lines.join('\n')}\n`)
}
