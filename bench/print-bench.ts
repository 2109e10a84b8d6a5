import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { file } from './conform.ts'
import { median, type Measurings, ratiosOf, worse } from './ratios.ts'
import { type Figures, latencySides, runSides, type Side, startSides } from './sides.ts'

interface BenchOptions {
  /** How often each side is measured. */
  readonly runs: number
  /** Measures only the sides whose names hold this text; nothing is compared or accepted. */
  readonly side?: string
  /** File that gets all figures as JSON. */
  readonly json?: string
  /** Measures once more before a ratio counts as worse. */
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
    const sides = [...startSides(folder), ...runSides(folder), ...latencySides(folder)]
    const chosen = sides.filter(({ name }) => name.includes(side ?? ''))
    const measured = await measureAll(chosen, runs)
    const ratios = ratiosOf(measured)
    process.stdout.write(tableOf({ runs, measured, ratios }))
    if (json !== undefined)
      writeFileSync(json, `${JSON.stringify({ runs, figures: Object.fromEntries(measured), ratios }, null, 2)}\n`)
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

interface Bench {
  readonly runs: number
  readonly measured: Measurings
  readonly ratios: Readonly<Record<string, number>>
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const head = (cells: readonly string[]): string[] => [row(cells), row(cells.map(() => '---'))]
const seconds = (ms: number | undefined): string => (ms === undefined ? '' : `${(ms / 1000).toFixed(2)} s`)

/** All figures as Markdown. */
function tableOf({ runs, measured, ratios }: Bench): string {
  const sides = [...measured].map(([name, { wallMs, cpuMs, memoryMb, requests, idealMs }]) =>
    row([
      name,
      ...[wallMs, cpuMs].map(seconds),
      memoryMb === undefined ? '' : `${memoryMb.toFixed(0)} MB`,
      requests === undefined ? '' : requests.toFixed(0),
      seconds(idealMs),
    ]),
  )
  const lines = [
    `Whole processes; medians of ${runs}:`,
    '',
    ...head(['side', 'time', 'processor', 'peak memory', 'requests', 'latency × requests ÷ concurrency']),
    ...sides,
    '',
    ...head(['ratio', '']),
    ...Object.entries(ratios).map(([name, ratio]) => row([name, ratio.toFixed(2)])),
  ]
  return `${lines.join('\n')}\n`
}
