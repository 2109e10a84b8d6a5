// npm run bench [-- --runs 5] [--side <part of a name>] [--json figures.json] [--check] [--accept]: what the suite costs, all sides in one run.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command, Option } from 'commander'
import { whole } from '../cli/run/arguments.ts'
import { allSides, type Figures, ratios, type Side } from './sides.ts'

/** Medians of all that was measured, by side. */
type Measured = ReadonlyMap<string, Figures>
type Ratios = Readonly<Record<string, number>>

const known = fileURLToPath(new URL('ratios.json', import.meta.url))
/** By so much a ratio may grow before it counts as worse. */
const tolerated = 1.25
/** A busy moment of the machine may fall on one side alone: with `--check` what is worse shows in so many turns. */
const mostTurns = 3

/** Measures the sides in turn, so that a busy moment of the machine meets all alike; gives the median of each figure. */
async function measure(sides: readonly Side[], runs: number): Promise<Measured> {
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

/** The middle value; of an even number of them the lower middle one. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
}

/** The ratios whose both halves were measured, in hundredths. */
function ratiosOf(measured: Measured): Ratios {
  const figureOf = (side: string, figure: string): number => measured.get(side)?.[figure] ?? Number.NaN
  const all = Object.entries(ratios).map(([name, [over, of, under, by]]): [string, number] => [
    name,
    Math.round((figureOf(over, of) / figureOf(under, by)) * 100) / 100,
  ])
  return Object.fromEntries(all.filter(([, ratio]) => Number.isFinite(ratio)))
}

/** Names of the ratios that grew by more than a quarter, or that nobody has accepted yet. */
function worse(now: Ratios, before: Ratios): string[] {
  return Object.keys(now).filter((name) => !(now[name]! <= (before[name] ?? Number.NaN) * tolerated))
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const head = (cells: readonly string[]): string[] => [row(cells), row(cells.map(() => '---'))]

function time(ms: number | undefined): string {
  if (ms === undefined) return ''
  return ms < 10 ? `${ms.toFixed(2)} ms` : `${(ms / 1000).toFixed(2)} s`
}

/** All figures as Markdown. */
function tableOf(runs: number, measured: Measured, now: Ratios): string {
  const sides = [...measured].map(([name, { wallMs, cpuMs, memoryMb, requests, idealMs }]) =>
    row([
      name,
      ...[wallMs, cpuMs].map(time),
      memoryMb === undefined ? '' : `${memoryMb.toFixed(0)} MB`,
      requests === undefined ? '' : requests.toFixed(0),
      time(idealMs),
    ]),
  )
  const lines = [
    `Whole processes; medians of ${runs}:`,
    '',
    ...head(['side', 'time', 'processor', 'peak memory', 'requests', 'ideal time']),
    ...sides,
    '',
    ...head(['ratio', '']),
    ...Object.entries(now).map(([name, ratio]) => row([name, ratio.toFixed(2)])),
  ]
  return `${lines.join('\n')}\n`
}

interface BenchArguments {
  readonly runs: number
  readonly side: string
  readonly json?: string
  readonly check?: boolean
  readonly accept?: boolean
}

const { accept, check, json, runs, side } = new Command('bench')
  .addOption(new Option('--runs <n>', 'how often each side is measured').argParser(whole(1, 1_000_000)).default(5))
  .option('--side <part>', 'only sides whose name has this part', '')
  .option('--json <file>', 'write the figures too')
  .option('--check', 'measure again what is worse, and fail if it stays so')
  .option('--accept', 'write the ratios as those that are held to')
  .parse()
  .opts<BenchArguments>()
const folder = mkdtempSync(join(tmpdir(), 'conform-bench-'))
try {
  const sides = allSides(folder).filter(({ name }) => name.includes(side))
  const measured = await measure(sides, runs)
  const now = ratiosOf(measured)
  process.stdout.write(tableOf(runs, measured, now))
  if (json !== undefined)
    writeFileSync(json, `${JSON.stringify({ runs, figures: Object.fromEntries(measured), ratios: now }, null, 2)}\n`)
  if (side === '') {
    if (accept) writeFileSync(known, `${JSON.stringify(now, null, 2)}\n`)
    const before = JSON.parse(readFileSync(known, 'utf8')) as Ratios
    let shown = now
    let problems = worse(now, before)
    for (let turn = 1; check && turn < mostTurns && problems.length > 0; turn++) {
      const concerned = problems.flatMap((name) => [ratios[name]![0], ratios[name]![2]])
      const again = sides.filter(({ name }) => concerned.includes(name))
      shown = ratiosOf(await measure(again, runs))
      const still = worse(shown, before)
      problems = problems.filter((name) => still.includes(name))
    }
    for (const name of problems)
      process.stderr.write(
        `worse by more than a quarter: ${name}: ${shown[name]}, was ${before[name] ?? 'not known'}\n`,
      )
    process.exitCode = problems.length > 0 ? 1 : 0
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
