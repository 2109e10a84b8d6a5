import { median } from './median.ts'
import { reportTimes } from './report-times.ts'
import { type Measured, measureRun } from './whole-process.ts'

const settings: readonly (readonly string[])[] = [[], ['--runs', '5'], ['--runs', '200']]

function row(args: readonly string[], measured: readonly Measured[]): string {
  const of = (name: keyof Measured): number => median(measured.map((one) => one[name]))
  const rate = (of('requests') * 1000) / of('judgingMs')
  const cells = [
    `conform ${args.join(' ')}`.trim(),
    `${(of('wallMs') / 1000).toFixed(1)} s`,
    `${(of('cpuMs') / 1000).toFixed(1)} s`,
    `${of('maxRssMiB').toFixed(0)} MiB`,
    of('requests').toFixed(0),
    `${rate.toFixed(0)}/s`,
  ]
  return `| ${cells.join(' | ')} |`
}

/** Prints medians of `runs` runs each, the settings in turn, so that a busy moment of the machine meets all alike. */
export async function printBench(runs: number): Promise<void> {
  const all = settings.map((): Measured[] => [])
  for (let run = 0; run < runs; run++) {
    for (const [at, args] of settings.entries()) all[at]?.push(await measureRun(args))
  }
  const lines = [
    `The embedded reference, judged by the whole command line; medians of ${runs}:`,
    '',
    '| command | time | processor | peak memory | requests | requests while judging |',
    '| --- | --- | --- | --- | --- | --- |',
    ...settings.map((args, at) => row(args, all[at] ?? [])),
    '',
    '| report | time | size |',
    '| --- | --- | --- |',
    ...(await reportTimes(runs)).map(
      ({ format, ms, kibibytes }) => `| ${format} | ${ms.toFixed(0)} ms | ${kibibytes.toFixed(0)} KiB |`,
    ),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
