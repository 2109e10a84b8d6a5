import type { Figures } from './sides.ts'

/** Medians of all that was measured, by side. */
export type Measurings = ReadonlyMap<string, Figures>

/** What is compared between two states of the suite: a machine that is slow or busy changes both halves alike. */
export function ratiosOf(measured: Measurings): Record<string, number> {
  const of = (side: string, figure: string): number => measured.get(side)?.[figure] ?? Number.NaN
  const cpu = (side: string): number => of(side, 'cpuMs')
  const only = [...measured.keys()].find((name) => name.startsWith('--only')) ?? ''
  const near = '20 ms away, --concurrency 16'
  const leastMs = Math.max(of(near, 'idealMs'), of('20 ms away, --concurrency 256', 'wallMs'))
  const all = {
    'external / bare undici, processor time': cpu('external') / cpu('bare undici, the same requests'),
    'embedded / external, processor time': cpu('embedded') / cpu('external'),
    'embedded / node alone, memory': of('embedded', 'memoryMb') / of('node alone', 'memoryMb'),
    '--version / node alone, processor time': cpu('--version') / cpu('node alone'),
    'list / node alone, processor time': cpu('list') / cpu('node alone'),
    '--only one / embedded, processor time': cpu(only) / cpu('embedded'),
    '20 ms away / ideal, time': of(near, 'wallMs') / leastMs,
  }
  return Object.fromEntries(Object.entries(all).filter(([, ratio]) => Number.isFinite(ratio)))
}

/** By so much a ratio may grow before it counts as worse. */
const tolerated = 1.25

/** One sentence for each ratio that got worse by more than a quarter. */
export function worse(now: Readonly<Record<string, number>>, known: Readonly<Record<string, number>>): string[] {
  return Object.entries(now).flatMap(([name, ratio]) => {
    const before = known[name]
    if (before === undefined) return [`${name}: ${ratio.toFixed(2)} is not in bench/ratios.json`]
    return ratio > before * tolerated ? [`${name}: ${ratio.toFixed(2)}, was ${before.toFixed(2)}`] : []
  })
}

/** The middle value; of an even number of them the lower middle one. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
}
