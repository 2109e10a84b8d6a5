import type { InstallSize } from './install-size.ts'
import type { Measurings } from './ratios.ts'
import type { Rendered } from './report-times.ts'

export interface Bench {
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
export function tableOf({ runs, measured, ratios, installed, reports }: Bench): string {
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
