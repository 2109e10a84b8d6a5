import { pathToFileURL } from 'node:url'
import type { Colors } from 'picocolors/types'
import { type Report, count, reasonExpected } from '../harness/report/index.ts'
import { terminalText } from './escape.ts'
import {
  laidOut,
  type Line,
  type Link,
  noLink,
  likelyLines,
  mapLines,
  notBuiltLines,
  reasonLines,
  stepLines,
  summaryTable,
} from './terminal/lines.ts'
import { failureBlock } from './terminal/failure-lines.ts'
import { byCause, shownFirst, likelyCauses } from './view/causes.ts'
import { capital, duration, firstOf, requirementPage } from './view/writing.ts'
import {
  exitLine,
  removedAgain,
  runNotes,
  seedLine,
  standingOf,
  type Tone,
  verdictBeforeExit,
} from './view/standing.ts'
import { failed, leftOutSentence, requiredButMissed, untested } from './view/groups.ts'
import { notBuilt } from './view/operation-map.ts'
import {
  jsonFile,
  type NextStep,
  nextSteps,
  type Shown,
  unexplained,
  isWithoutOutcome,
  notJudged,
} from './view/next-steps.ts'
import { groupBy } from '../harness/group-by.ts'

/** Colours of a verdict. */
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
  /** Further notes on the run, a line each. */
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
  const formats = written.map(({ format }) => format)
  const rest = isVerbose ? null : whereTheRestIs(formats)
  const json = jsonFile(written)
  const lines: Line[] = [
    headLine(target, colors),
    '',
    ...mapLines(report, colors),
    ...notBuiltLines(notBuilt(report), colors),
    ...failureLines(report, rest, colors, (id) => {
      const page = requirementPage(report.suite.site, id)
      return page === undefined ? terminalText(id) : link(terminalText(id), page)
    }),
    ...baselineLines(report, colors),
    ...(isWithoutOutcome(report) ? [] : outcomeLines(report, { rest, json }, colors)),
    ...createdLines(report, formats),
    ...runNotes(report).map((note) => terminalText(note)),
    ...causeLines(report, rest, colors),
    ...pathLines(written, link, colors),
    `${count(run.requests, 'request')} in ${duration(run.durationMs)}; ${seedLine(report)}`,
    ...nextLines(nextSteps(report, { ...options, json }), colors),
    colors.bold(colors[tones[standingOf(report).tone]](terminalText(verdictBeforeExit(report)))),
    ...notes.map((note) => terminalText(note)),
    ...missedLines(report, rest),
    colors.bold(terminalText(exitLine(report))),
  ]
  return `${laidOut(lines, width).join('\n')}\n`
}

function failureLines(
  report: Report,
  rest: string | null,
  colors: Colors,
  linked: (id: string) => string,
): Line[] {
  const failures = failed(report).unexpected
  const likely = likelyCauses(failures, report)
  const causes = byCause(failures)
  const isShort = rest === null || causes.length <= FEW_BLOCKS
  const shown = isShort ? causes : shownFirst(causes, likely).slice(0, MOST_BLOCKS)
  const named = shown.reduce((sum, { others }) => sum + 1 + others.length, 0)
  return [
    ...shown.flatMap((cause) => [...failureBlock(cause, rest, colors, linked), '']),
    ...(named < failures.length
      ? [colors.dim(`and ${count(failures.length - named, 'more failure')}: ${rest}`), '']
      : []),
  ]
}

interface Elsewhere {
  readonly rest: string | null
  readonly json: string | undefined
}

function outcomeLines(report: Report, { rest, json }: Elsewhere, colors: Colors): Line[] {
  const leftOut = leftOutSentence(report)
  const { notApplicable, notTested, steps } = notJudged(report)
  return [
    ...stepLines(steps, rest === null ? null : json, colors),
    ...reasonLines(capital(untested(report)), notTested, rest, colors),
    ...reasonLines('Not applicable', notApplicable, rest, colors),
    ...(leftOut === undefined ? [] : [colors.dim(`Left out: ${leftOut}`), '']),
    ...summaryTable(report, colors),
  ]
}

/** The target; one that was not given a name goes by its host. */
function headLine({ baseUrl, name }: Report['target'], colors: Colors): string {
  const address = colors.dim(terminalText(baseUrl))
  return baseUrl.endsWith(`//${name}`) ? address : `${colors.bold(terminalText(name))}  ${address}`
}

function causeLines(report: Report, rest: string | null, colors: Colors): Line[] {
  const { unexpected } = failed(report)
  const causes = likelyCauses(unexpected, report)
  const others = unexplained(report, causes)
  const most = rest === null ? Infinity : MOST_MISSED
  const lines = others.slice(0, most).map(({ id, level }) => {
    return `  ${level === 'must' ? colors.red('must  ') : colors.yellow('should')}  ${terminalText(id)}`
  })
  const more = others.length - lines.length
  const heading = causes.length > 0 ? 'Failed for another cause' : 'Failed'
  return [
    ...(unexpected.length < 2 ? [] : ['']),
    ...likelyLines(causes, unexpected.length, colors),
    ...(others.length === 0 || unexpected.length < 2
      ? []
      : [
          colors.bold(`${heading}: ${others.length}`),
          ...lines,
          ...(more > 0 ? [colors.dim(`  and ${more} more: ${rest}`)] : []),
          '',
        ]),
  ]
}

function pathLines(written: readonly WrittenReport[], link: Link, colors: Colors): Line[] {
  return written
    .filter(({ path }) => path !== '-')
    .map(({ path }) => ({
      whole: `${colors.dim('report')} ${link(terminalText(path), pathToFileURL(path).href)}`,
    }))
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

function whereTheRestIs(formats: readonly string[]): string {
  const isWritten = formats.includes('json') || formats.includes('html')
  return isWritten ? 'see the reports' : '--report json (or html) lists them'
}

function missedLines(report: Report, rest: string | null): string[] {
  const ids = requiredButMissed(report)
  if (ids.length === 0) return []
  const lines = firstOf(ids, rest === null ? Infinity : MOST_MISSED, `more: ${rest}`)
  return [`${untested(report)}, and required:`, ...lines.map((line) => `  ${terminalText(line)}`)]
}

function createdLines({ run }: Report, formats: readonly string[]): string[] {
  if (run.created.length === 0) return []
  const kinds = groupBy(run.created, ({ operation }) => operation)
  const each = [...kinds].map(([operation, all]) => `${all.length} by ${terminalText(operation)}`)
  const where = formats.includes('json') ? 'the JSON report' : '--report json'
  return [
    `created: ${count(run.created.length, 'object')} (${each.join(', ')})${removedAgain(run)}; ${where} names them`,
  ]
}

function baselineLines(report: Report, colors: Colors): string[] {
  const { baseline } = report.run
  if (baseline === null) return []
  const { expected, stale, notExercised } = baseline
  const named = (id: string): string => {
    const reason = reasonExpected(report, id)
    return terminalText(id) + (reason === undefined ? '' : `: ${terminalText(reason)}`)
  }
  const lines = [
    ...expected.map((id) => `  ${colors.dim('failed as expected')}  ${named(id)}`),
    ...notExercised.map((id) => `  ${colors.dim(untested(report).padEnd(18))}  ${named(id)}`),
    ...stale.map(
      ({ id, why }) =>
        `  ${colors.red('stale entry')}         ${terminalText(id)}: ${terminalText(why)}`,
    ),
  ]
  if (lines.length === 0) return []
  return [colors.bold(`Baseline ${terminalText(baseline.file)}`), ...lines, '']
}
