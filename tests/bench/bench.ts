// npm run bench [-- --runs 5] [--side <part of a name>] [--json figures.json] [--check] [--accept]: what the suite costs, all sides in one run.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { allSides, type Figures, ratios, type Side } from './sides.ts'

type Ratios = Readonly<Record<string, number>>

const known = new URL('ratios.json', import.meta.url)
/** By so much a ratio may grow before it counts as worse. */
const tolerated = 1.25
/** A busy moment of the machine may fall on one side alone: with `--check` what is worse shows in so many turns. */
const mostTurns = 3

/** The median of each figure, by side: measured in turn, so that a busy moment of the machine meets all alike. */
async function measure(sides: readonly Side[], runs: number): Promise<Record<string, Figures>> {
  const all = new Map(sides.map((side) => [side, [] as Figures[]]))
  for (let run = 1; run <= runs; run++) {
    for (const [side, figures] of all) {
      process.stderr.write(`${run}/${runs} ${side.name}\n`)
      for (let time = 0; time < (side.times ?? 1); time++) figures.push(await side.measure())
    }
  }
  const medians = (figures: readonly Figures[]): Figures =>
    Object.fromEntries(
      Object.keys(figures[0]!).map((name) => [name, median(figures.map((one) => one[name]!))]),
    )
  return Object.fromEntries([...all].map(([{ name }, figures]) => [name, medians(figures)]))
}

const median = (values: readonly number[]): number =>
  hundredths(values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)]!)

const hundredths = (value: number): number => Math.round(value * 100) / 100

function ratiosOf(measured: Readonly<Record<string, Figures>>): Ratios {
  const all = Object.entries(ratios).map(([name, [over, of, under, by]]): [string, number] => [
    name,
    hundredths((measured[over]?.[of] ?? Number.NaN) / (measured[under]?.[by] ?? Number.NaN)),
  ])
  return Object.fromEntries(all.filter(([, ratio]) => Number.isFinite(ratio)))
}

const { values: given } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    side: { type: 'string', default: '' },
    json: { type: 'string' },
    check: { type: 'boolean', default: false },
    accept: { type: 'boolean', default: false },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'conform-bench-'))
try {
  const sides = allSides(folder).filter(({ name }) => name.includes(given.side))
  const figures = await measure(sides, Number(given.runs))
  let now = ratiosOf(figures)
  console.table(figures)
  if (Object.keys(now).length > 0) console.table(now)
  if (given.json !== undefined)
    writeFileSync(given.json, `${JSON.stringify({ figures, ratios: now }, null, 2)}\n`)
  if (given.accept) writeFileSync(known, `${JSON.stringify(now, null, 2)}\n`)
  const before = JSON.parse(readFileSync(known, 'utf8')) as Ratios
  // A ratio that nobody has accepted yet is worse, too.
  const isWorse = (name: string): boolean =>
    !(now[name]! <= (before[name] ?? Number.NaN) * tolerated)
  let worse = Object.keys(now).filter(isWorse)
  for (let turn = 1; given.check && turn < mostTurns && worse.length > 0; turn++) {
    const concerned = worse.flatMap((name) => ratios[name]!)
    now = ratiosOf(
      await measure(
        sides.filter(({ name }) => concerned.includes(name)),
        Number(given.runs),
      ),
    )
    worse = worse.filter(isWorse)
  }
  for (const name of worse)
    console.error(
      `worse by more than a quarter: ${name}: ${now[name]}, was ${before[name] ?? 'not known'}`,
    )
  process.exitCode = worse.length > 0 ? 1 : 0
} finally {
  rmSync(folder, { recursive: true, force: true })
}
