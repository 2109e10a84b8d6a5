import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { file } from './conform.ts'
import { installSize } from './install-size.ts'
import { median } from './median.ts'
import { type Measurings, ratiosOf, worse } from './ratios.ts'
import { reportTimes } from './report-times.ts'
import {
  failureSides,
  familySides,
  type Figures,
  latencySides,
  manyCasesSides,
  runSides,
  type Side,
  startSides,
} from './sides.ts'
import { tableOf } from './table.ts'

export interface BenchOptions {
  /** How often each side is measured. */
  readonly runs: number
  /** Measures only the sides whose names hold this text; nothing is compared or accepted. */
  readonly side?: string
  /** File that gets all figures as JSON. */
  readonly json?: string
  /** Measures the quick sides alone and compares their ratios with `bench/ratios.json`. */
  readonly check: boolean
  /** Writes the ratios into `bench/ratios.json`. */
  readonly accept: boolean
}

const known = file('bench/ratios.json')

/** Measures the sides in turn, so that a busy moment of the machine meets all alike; gives the median of each figure. */
async function measureAll(sides: readonly Side[], runs: number): Promise<Measurings> {
  const all = sides.map((): Figures[] => [])
  for (let run = 0; run < runs; run++) {
    for (const [at, side] of sides.entries()) {
      process.stderr.write(`${run + 1}/${runs} ${side.name}\n`)
      for (let time = 0; time < (side.times ?? 1); time++) all[at]!.push(await side.measure())
    }
  }
  const medians = (figures: readonly Figures[]): Figures =>
    Object.fromEntries(Object.keys(figures[0]!).map((name) => [name, median(figures.map((one) => one[name]!))]))
  return new Map(sides.map(({ name }, at) => [name, medians(all[at]!)]))
}

/** Measures, prints, and sets the exit code: 1 if a ratio got worse by a quarter. */
export async function printBench({ runs, side, json, check, accept }: BenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'conform-bench-'))
  try {
    const quick = [...startSides(folder), ...runSides(folder), ...latencySides(folder, [20])]
    const slow = [
      ...manyCasesSides(folder),
      ...latencySides(folder, [100, 300]),
      ...familySides(folder),
      ...failureSides(folder),
    ]
    const chosen = (check ? quick : [...quick, ...slow]).filter(({ name }) => name.includes(side ?? ''))
    const measured = await measureAll(chosen, runs)
    const ratios = ratiosOf(measured)
    const rest = check || side !== undefined ? {} : { installed: installSize(folder), reports: await reportTimes(runs) }
    process.stdout.write(tableOf({ runs, measured, ratios, ...rest }))
    if (json !== undefined)
      writeFileSync(
        json,
        `${JSON.stringify({ runs, figures: Object.fromEntries(measured), ratios, ...rest }, null, 2)}\n`,
      )
    if (side !== undefined) return
    if (accept) writeFileSync(known, `${JSON.stringify(rounded(ratios), null, 2)}\n`)
    const before = JSON.parse(readFileSync(known, 'utf8')) as Record<string, number>
    const first = worse(ratios, before)
    // A busy moment of the machine may fall on one side alone: what is worse shows twice.
    const again = check && first.length > 0 ? ratiosOf(await measureAll(chosen, runs)) : ratios
    const problems = first.length > 0 ? worse(again, before) : first
    for (const problem of problems) process.stderr.write(`worse by more than a quarter: ${problem}\n`)
    process.exitCode = problems.length > 0 ? 1 : 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function rounded(ratios: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(ratios).map(([name, ratio]) => [name, Math.round(ratio * 100) / 100]))
}
