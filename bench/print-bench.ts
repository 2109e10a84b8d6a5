import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pc from 'picocolors'
import { loggedExchanges } from '../cli/output/run-folder.ts'
import { runConformance } from '../library/run-conformance.ts'
import { startReference } from '../reference/server.ts'
import { formats } from '../reporters/index.ts'
import { renderTerminal } from '../reporters/terminal.ts'
import { file } from './conform.ts'
import { median, type Measurings, ratiosOf, worse } from './ratios.ts'
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

interface BenchOptions {
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

interface Bench {
  readonly runs: number
  readonly measured: Measurings
  readonly ratios: Readonly<Record<string, number>>
  readonly installed?: InstallSize
  readonly reports?: readonly Rendered[]
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const head = (cells: readonly string[]): string[] => [row(cells), row(cells.map(() => '---'))]
const seconds = (ms: number | undefined): string => (ms === undefined ? '' : `${(ms / 1000).toFixed(2)} s`)

/** All figures as Markdown. */
function tableOf({ runs, measured, ratios, installed, reports }: Bench): string {
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
  if (installed) lines.push('', `Installed: ${installed.packages} packages, ${installed.mb.toFixed(1)} MB`)
  if (reports) {
    const sizes = reports.map(({ format, ms, kibibytes }) =>
      row([format, `${ms.toFixed(0)} ms`, `${kibibytes.toFixed(0)} KiB`]),
    )
    lines.push('', ...head(['report', 'time', 'size']), ...sizes)
  }
  return `${lines.join('\n')}\n`
}

interface InstallSize {
  readonly packages: number
  readonly mb: number
}

/** Packs the package, installs it into an empty project and looks at what came. Asks the package registry. */
function installSize(folder: string): InstallSize {
  const project = join(folder, 'installed')
  mkdirSync(project)
  const npm = (args: readonly string[], cwd: string): string =>
    execFileSync('npm', [...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const packed = npm(['pack', '--json', '--ignore-scripts', '--pack-destination', project], file('.'))
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  writeFileSync(join(project, 'package.json'), '{"private": true}')
  npm(['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', `./${filename}`], project)
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { peer?: boolean }>
  }
  const packages = Object.entries(lock.packages).filter(([path, { peer }]) => path !== '' && peer !== true)
  const modules = join(project, 'node_modules')
  const bytes = readdirSync(modules, { recursive: true, encoding: 'utf8' }).reduce((sum, path) => {
    const { size } = lstatSync(join(modules, path))
    return sum + size
  }, 0)
  return { packages: packages.length, mb: bytes / 1024 / 1024 }
}

interface Rendered {
  readonly format: string
  readonly ms: number
  readonly kibibytes: number
}

async function joined(text: string | AsyncIterable<string>): Promise<string> {
  if (typeof text === 'string') return text
  const pieces: string[] = []
  for await (const piece of text) pieces.push(piece)
  return pieces.join('')
}

/** Judges the reference once and renders each report several times. */
async function reportTimes(times: number): Promise<Rendered[]> {
  const dir = mkdtempSync(join(tmpdir(), 'conform-bench-'))
  const log = join(dir, 'exchanges.ndjson')
  const reference = await startReference()
  try {
    const run = runConformance(file('fixtures/reference.target.json'), {
      ...{ baseUrl: reference.url, seed: 1, exchangeLog: log },
    })
    const report = await run.report
    const terminal = { render: () => renderTerminal(report, pc.createColors(true)) }
    const rendered: Rendered[] = []
    for (const [format, { render }] of Object.entries({ terminal, ...formats })) {
      const taken: number[] = []
      let text = ''
      for (let time = 0; time < times; time++) {
        const started = performance.now()
        text = await joined(render(report, loggedExchanges(log)))
        taken.push(performance.now() - started)
      }
      rendered.push({ format, ms: median(taken), kibibytes: Buffer.byteLength(text) / 1024 })
    }
    return rendered
  } finally {
    await reference.close()
    rmSync(dir, { recursive: true, force: true })
  }
}
