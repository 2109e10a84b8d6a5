import { pathToFileURL } from 'node:url'
import type { Colors } from 'picocolors/types'
import type { Report } from '../harness/report/index.ts'
import { count, reasonExpected } from '../harness/report/index.ts'
import { groupBy } from '../harness/group-by.ts'
import { terminalText } from './escape.ts'
import { failureBlock } from './terminal/failure-lines.ts'
import { laidOut, likelyLines, type Line, type Link, mapLines, noLink } from './terminal/lines.ts'
import { notBuiltLines, reasonLines, stepLines, summaryTable } from './terminal/lines.ts'
import { failuresOf } from './view/causes.ts'
import { isAllWell, leftOutSentence, requiredButMissed } from './view/groups.ts'
import { jsonFile, isWithoutOutcome, type NextStep, nextSteps } from './view/next-steps.ts'
import { notJudged, type Shown } from './view/next-steps.ts'
import { notBuilt } from './view/operation-map.ts'
import { exitLine, removedAgain, runNotes, seedLine, standingOf } from './view/standing.ts'
import { type Tone, verdictBeforeExit } from './view/standing.ts'
import { duration, firstOf } from './view/writing.ts'

export const tones = { good: 'green', warning: 'yellow', bad: 'red' } as const satisfies Record<
  Tone,
  keyof Colors
>

const MOST_MISSED = 30
const MOST_BLOCKS = 15
/** Failures up to this number are all shown whole, whatever they have in common. */
const FEW_BLOCKS = 8

interface WrittenReport {
  readonly format: string
  readonly path: string
}

export interface TerminalOptions extends Omit<Shown, 'json'> {
  readonly notes?: readonly string[]
  /** The reports that are written besides: what is too much for a terminal is said to be there. */
  readonly written?: readonly WrittenReport[]
  /** Columns of the terminal, to which lines are broken; Infinity, the default, for what is none. */
  readonly width?: number
  /** Makes links of ids and paths, in a terminal that knows them. */
  readonly link?: Link
  /** Every reason of what was not exercised, and every case of a failure. */
  readonly isVerbose?: boolean
}

/**
 * The report for a terminal: failures with their evidence, what was not judged and why, counts, the verdict, and last why the
 * exit code is what it is.
 */
export function renderTerminal(
  report: Report,
  colors: Colors,
  options: TerminalOptions = {},
): string {
  const { run, target } = report
  const { notes = [], written = [], isVerbose = false, link = noLink, width = Infinity } = options
  const isKept = written.some(({ format }) => format === 'json' || format === 'html')
  const elsewhere = isKept ? 'see the reports' : '--report json (or html) lists them'
  const shown: Showing = {
    ...{ report, colors, link, json: jsonFile(written), rest: isVerbose ? null : elsewhere },
    isAllWell: isAllWell(report),
  }
  const tone = tones[standingOf(report).tone]
  const lines: Line[] = [
    headLine(target, colors),
    '',
    ...mapLines(report, colors),
    ...(shown.isAllWell ? [] : problemLines(shown)),
    ...baselineLines(report, colors),
    ...(isWithoutOutcome(report) ? [] : outcomeLines(shown)),
    ...createdLines(
      report,
      written.some(({ format }) => format === 'json'),
    ),
    ...runNotes(report).map((note) => terminalText(note)),
    ...(shown.isAllWell ? [] : causeLines(shown)),
    ...written.flatMap(({ path }) => pathLines(path, shown)),
    `${count(run.requests, 'request')} in ${duration(run.durationMs)}; ${seedLine(report)}`,
    ...(shown.isAllWell
      ? []
      : nextLines(nextSteps(report, { ...options, json: shown.json }), colors)),
    colors.bold(colors[tone](terminalText(verdictBeforeExit(report)))),
    ...notes.map((note) => terminalText(note)),
    ...(report.exit.requireExercised ? missedLines(shown) : []),
    colors.bold(terminalText(exitLine(report))),
  ]
  return `${laidOut(lines, width).join('\n')}\n`
}

interface Showing {
  readonly report: Report
  readonly colors: Colors
  readonly link: Link
  readonly json: string | undefined
  /** Where that is which is not shown; null: all is. */
  readonly rest: string | null
  readonly isAllWell: boolean
}

/** The target; one that was not given a name goes by its host. */
function headLine({ baseUrl, name }: Report['target'], colors: Colors): string {
  const address = colors.dim(terminalText(baseUrl))
  return baseUrl.endsWith(`//${name}`) ? address : `${colors.bold(terminalText(name))}  ${address}`
}

function problemLines({ colors, report, rest }: Showing): Line[] {
  const { causes, shownFirst, unexpected } = failuresOf(report)
  const isShort = rest === null || causes.length <= FEW_BLOCKS
  const shown = isShort ? causes : shownFirst.slice(0, MOST_BLOCKS)
  const named = shown.reduce((sum, { others }) => sum + 1 + others.length, 0)
  return [
    ...notBuiltLines(notBuilt(report), colors),
    ...shown.flatMap((cause) => [...failureBlock(cause, rest, colors), '']),
    ...(named < unexpected.length
      ? [colors.dim(`and ${count(unexpected.length - named, 'more failure')}: ${rest}`), '']
      : []),
  ]
}

function outcomeLines({ colors, isAllWell, json, report, rest }: Showing): Line[] {
  const leftOut = leftOutSentence(report)
  const table = [
    ...(leftOut === undefined ? [] : [colors.dim(`Left out: ${leftOut}`), '']),
    ...summaryTable(report, colors),
  ]
  if (isAllWell) return table
  const { notApplicable, notTested, steps } = notJudged(report)
  return [
    ...stepLines(steps, rest === null ? null : json, colors),
    ...reasonLines('Not tested', notTested, rest, colors),
    ...reasonLines('Not applicable', notApplicable, rest, colors),
    ...table,
  ]
}

/** Likely causes, and each failed requirement that none explains on a line: they are still seen when the evidence has scrolled away. */
function causeLines({ colors, report, rest }: Showing): Line[] {
  const { heading, likely, unexpected, unexplained: others } = failuresOf(report)
  if (unexpected.length === 0) return []
  if (unexpected.length === 1) return likelyLines(heading, likely, colors)
  const lines = others.slice(0, rest === null ? Infinity : MOST_MISSED).map(({ id, level }) => {
    const mark = level === 'must' ? colors.red('must  ') : colors.yellow('should')
    return `  ${mark}  ${terminalText(id)}`
  })
  const more = others.length - lines.length
  const title = likely.length > 0 ? 'Failed for another cause' : 'Failed'
  return [
    '',
    ...likelyLines(heading, likely, colors),
    ...(others.length === 0
      ? []
      : [
          colors.bold(`${title}: ${others.length}`),
          ...lines,
          ...(more > 0 ? [colors.dim(`  and ${more} more: ${rest}`)] : []),
          '',
        ]),
  ]
}

function pathLines(path: string, { colors, link }: Showing): Line[] {
  if (path === '-') return []
  return [
    { whole: `${colors.dim('report')} ${link(terminalText(path), pathToFileURL(path).href)}` },
  ]
}

function nextLines(steps: readonly NextStep[], colors: Colors): Line[] {
  if (steps.length === 0) return []
  const lines = steps.flatMap(({ command, text }, at): Line[] => [
    { lead: `  ${colors.bold(`${at + 1}.`)} `, width: 5, text: terminalText(text, Infinity) },
    ...(command === undefined
      ? []
      : [{ whole: `      ${colors.cyan(terminalText(command, Infinity))}` }]),
  ])
  return ['', colors.bold('Next'), ...lines, '']
}

function missedLines({ report, rest }: Showing): string[] {
  const ids = requiredButMissed(report)
  const lines = firstOf(ids, rest === null ? Infinity : MOST_MISSED, `more: ${rest}`)
  return ['not tested, and required:', ...lines.map((line) => `  ${terminalText(line)}`)]
}

function createdLines({ run }: Report, isNamed: boolean): string[] {
  if (run.created.length === 0) return []
  const kinds = groupBy(run.created, ({ operation }) => operation)
  const each = [...kinds].map(([operation, all]) => `${all.length} by ${terminalText(operation)}`)
  const where = isNamed ? 'the JSON report' : '--report json'
  return [
    `created: ${count(run.created.length, 'object')} (${each.join(', ')})${removedAgain(run)}; ${where} names them`,
  ]
}

function baselineLines(report: Report, colors: Colors): string[] {
  const { baseline } = report.run
  if (baseline === null) return []
  const { expected, file, stale, notExercised } = baseline
  const named = (id: string, why = reasonExpected(report, id)): string =>
    terminalText(id) + (why === undefined ? '' : `: ${terminalText(why)}`)
  const lines = [
    ...expected.map((id) => `  ${colors.dim('failed as expected')}  ${named(id)}`),
    ...notExercised.map((id) => `  ${colors.dim('not tested'.padEnd(18))}  ${named(id)}`),
    ...stale.map(({ id, why }) => `  ${colors.red('stale entry')}         ${named(id, why)}`),
  ]
  return lines.length === 0 ? [] : [colors.bold(`Baseline ${terminalText(file)}`), ...lines, '']
}
