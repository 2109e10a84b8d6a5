import { stripVTControlCharacters } from 'node:util'
import type { Colors } from 'picocolors/types'
import { type Report, count } from '../harness/report/index.ts'
import { terminalText } from './escape.ts'
import { failureBlock, shortBlock } from './terminal/failure-lines.ts'
import {
  jsonLines,
  laidOut,
  type Line,
  mapLines,
  reasonLines,
  stepLines,
} from './terminal/lines.ts'
import { byCause, type Distinct, failuresOf } from './view/causes.ts'
import { baselineEntries, leftOutSentence, requiredButMissed } from './view/groups.ts'
import { isWithoutOutcome, type NextStep, nextSteps, notJudged } from './view/next-steps.ts'
import {
  exitLine,
  interruptedNote,
  isNothingWorking,
  createdObjects,
  runNotes,
  seedLine,
  standingOf,
  type Tone,
  verdictBeforeExit,
} from './view/standing.ts'
import { capital, duration, firstOf } from './view/writing.ts'

export const tones = { good: 'green', warning: 'yellow', bad: 'red' } as const satisfies Record<
  Tone,
  keyof Colors
>

export interface TerminalOptions {
  readonly notes?: readonly string[]
  readonly written?: readonly { readonly format: string; readonly path: string }[]
  /** Columns of the terminal, at which lines are broken; Infinity, the default, for a pipe. */
  readonly width?: number
  readonly isVerbose?: boolean
}

const SCREEN = { rows: 40, columns: 80 }

/** How much of the failures one screen has room for, the most first. */
const sizes = [
  { most: 5, rows: Infinity },
  { most: 5, rows: 2 },
  { most: 5, rows: 1 },
  ...[4, 3, 2, 1].map((most) => ({ most, rows: 1 })),
]

type Size = (typeof sizes)[number]

/**
 * The report for a terminal, on one screen of 40 lines of 80 columns: what decided, failures with their evidence, what to do
 * next, the verdict, and why the exit code is what it is. With `isVerbose` everything, however long.
 */
export function renderTerminal(
  report: Report,
  colors: Colors,
  options: TerminalOptions = {},
): string {
  const { isVerbose = false, width = Infinity } = options
  const shown = { report, colors, options }
  if (isVerbose) return textOf(allLines(shown), width)
  const columns = Math.min(width, SCREEN.columns)
  const screens = sizes.map((size) => screenLines(shown, size))
  const fitting = screens.find((lines) => rowsOf(lines, columns) <= SCREEN.rows)
  return textOf(fitting ?? screens.at(-1)!, width)
}

function textOf(lines: readonly Line[], width: number): string {
  return `${laidOut(lines, width).join('\n')}\n`
}

function rowsOf(lines: readonly Line[], columns: number): number {
  return laidOut(lines, columns)
    .map((line) => Math.ceil(stripVTControlCharacters(line).length / columns))
    .reduce((sum, rows) => sum + Math.max(1, rows), 0)
}

interface Showing {
  readonly report: Report
  readonly colors: Colors
  readonly options: TerminalOptions
}

function screenLines(shown: Showing, size: Size): Line[] {
  return [
    ...headLines(shown),
    ...problemLines(shown, size),
    ...baselineLines(shown, size.most),
    ...endLines(shown, size.most),
  ]
}

function allLines(shown: Showing): Line[] {
  const { colors, report } = shown
  const { notApplicable, notTested, steps } = notJudged(report)
  return [
    ...headLines(shown),
    ...byCause(failuresOf(report).unexpected).flatMap((group) => [
      ...failureBlock(group, colors),
      '',
    ]),
    ...baselineLines(shown, Infinity),
    ...(isWithoutOutcome(report)
      ? []
      : [
          ...stepLines(steps, colors),
          ...reasonLines('Not tested', notTested, colors),
          ...reasonLines('Not applicable', notApplicable, colors),
        ]),
    ...endLines(shown, Infinity),
  ]
}

function headLines(showing: Showing): Line[] {
  const { baseUrl, name } = showing.report.target
  const address = showing.colors.dim(terminalText(baseUrl))
  const note = interruptedNote(showing.report)
  return [
    ...(note === undefined ? [] : [showing.colors.bold(showing.colors.yellow(capital(note)))]),
    // A target that was not given a name goes by its host.
    baseUrl.endsWith(`//${name}`)
      ? address
      : `${showing.colors.bold(terminalText(name))}  ${address}`,
    ...(showing.report.run.hints ?? []).map((hint) =>
      showing.colors.bold(showing.colors.yellow(terminalText(capital(hint), 300))),
    ),
    ...mapLines(showing.report, showing.colors),
    '',
  ]
}

function problemLines({ colors, options, report }: Showing, size: Size): Line[] {
  const { distinct, unexpected } = failuresOf(report)
  if (distinct.length === 0) return []
  // One answer to everything is seen in one failure.
  const isOne =
    report.verdict === 'not-judged' || (isNothingWorking(report) && report.run.hints !== undefined)
  const groups = distinct.slice(0, isOne ? 1 : size.most)
  const { baseUrl } = report.target
  const reproducible = groups
    .filter((group) => group.example.failures[0]?.takes === undefined)
    .toSorted((one, other) => curlOf(one).length - curlOf(other).length)
    .at(0)
  const blocks =
    size.rows === Infinity && !isOne
      ? groups.map((group) => [...failureBlock(group, colors), ''])
      : groups.map((group) =>
          shortBlock(group, colors, {
            rows: Math.min(size.rows, 2),
            baseUrl,
            hasCurl: group === (reproducible ?? groups[0]),
          }),
        )
  const more = unexpected.length - groups.reduce((sum, group) => sum + group.results.length, 0)
  return [
    ...blocks.flat(),
    ...(more > 0
      ? [
          colors.dim(
            `and ${count(more, 'more failure')}: ${options.written?.some((one) => one.format === 'html') ? 'in the HTML report' : '--verbose or --report html'}`,
          ),
        ]
      : []),
    ...(blocks.at(-1)?.at(-1) === '' && more === 0 ? [] : ['']),
  ]
}

function curlOf(distinct: Distinct): string {
  return distinct.example.failures[0]?.exchange?.curl ?? ''
}

function endLines(shown: Showing, most: number): Line[] {
  const { colors, options, report } = shown
  const { notes = [], written = [] } = options
  const { run } = report
  const leftOut = leftOutSentence(report)
  const tone = tones[standingOf(report).tone]
  return [
    ...(leftOut === undefined ? [] : [`Left out: ${leftOut}`]),
    ...runNotes(report).map((note) => terminalText(note)),
    ...reportsLine(written, colors),
    colors.dim(
      `${count(run.requests, 'request')} in ${duration(run.durationMs)}; ${[createdObjects(run), seedLine(report)].filter(Boolean).join('; ')}`,
    ),
    '',
    ...nextLines(nextSteps(report), colors),
    colors.bold(colors[tone](terminalText(verdictBeforeExit(report)))),
    ...notes.map((note) => terminalText(note)),
    ...missedLines(report, most),
    colors.bold(terminalText(exitLine(report))),
  ]
}

function reportsLine(written: NonNullable<TerminalOptions['written']>, colors: Colors): Line[] {
  const paths = written.flatMap((one) => (one.path === '-' ? [] : [terminalText(one.path)]))
  if (paths.length === 0) return []
  return [{ whole: `${colors.dim(paths.length === 1 ? 'report' : 'reports')} ${paths.join(', ')}` }]
}

function nextLines(steps: readonly NextStep[], colors: Colors): Line[] {
  if (steps.length === 0) return []
  const lines = steps.flatMap(({ command, paste, text }, at): Line[] => [
    { lead: `  ${colors.bold(`${at + 1}.`)} `, width: 5, text: terminalText(text, 400) },
    ...(paste === undefined ? [] : jsonLines(paste)),
    ...(command === undefined
      ? []
      : [{ whole: `     ${colors.cyan(terminalText(command, Infinity))}` }]),
  ])
  return [colors.bold('Next'), ...lines, '']
}

function missedLines(report: Report, most: number): string[] {
  if (report.exit.requireExercised !== true) return []
  const ids = firstOf(requiredButMissed(report), most, 'more: --verbose')
  return [`not tested, and required: ${terminalText(ids.join(', '), Infinity)}`]
}

function baselineLines(showing: Showing, most: number): string[] {
  const entries = baselineEntries(showing.report)
  if (entries.length === 0) return []
  const lines = entries.map(({ id, state, why }) => {
    const paint = state === 'stale entry' ? showing.colors.red : showing.colors.dim
    const reason = why === undefined ? '' : `: ${terminalText(why)}`
    return `  ${paint(state)}${' '.repeat(20 - state.length)}${terminalText(id)}${reason}`
  })
  const more = lines.length - most
  const rest = more > 0 ? [`  and ${more} more: --verbose`] : []
  const file = terminalText(showing.report.run.baseline!.file)
  return [showing.colors.bold(`Baseline ${file}`), ...lines.slice(0, most), ...rest, '']
}
