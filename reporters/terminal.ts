import { stripVTControlCharacters } from 'node:util'
import type { Colors } from 'picocolors/types'
import { type Report, count, sections, type RequirementResult } from '../harness/report/index.ts'
import {
  terminalText,
  shortened,
  duration,
  firstOf,
  levels,
  outcomes,
  compactJson,
} from './text.ts'
import { byCause, type Distinct, failuresOf, nextSteps, notJudged } from './view/next-steps.ts'
import {
  baselineEntries,
  requiredButMissed,
  type ReasonGroup,
  exitLine,
  isNothingWorking,
  createdObjects,
  runNotes,
  seedLine,
  standingOf,
  type Tone,
  mapSentence,
  shownMap,
} from './view/standing.ts'
import { evidence, isCommand, type EvidenceLine } from './view/evidence.ts'
import { wrapAnsi } from 'fast-wrap-ansi'

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
  const columns = Math.min(width, SCREEN.columns)
  if (isVerbose) return `${laidOut(allLines(shown), width).join('\n')}\n`
  let screen: Line[] = []
  for (const size of sizes) {
    screen = [...headLines(shown), ...problemLines(shown, size), ...endLines(shown, size.most)]
    const rows = laidOut(screen, columns).map((line) =>
      Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)),
    )
    if (rows.reduce((sum, own) => sum + own, 0) <= SCREEN.rows) break
  }
  return `${laidOut(screen, width).join('\n')}\n`
}

interface Showing {
  readonly report: Report
  readonly colors: Colors
  readonly options: TerminalOptions
}

function allLines(shown: Showing): Line[] {
  const { colors, report } = shown
  return [
    ...headLines(shown),
    ...byCause(failuresOf(report).unexpected).flatMap((group) => [
      ...failureBlock(group, colors),
      '',
    ]),
    ...Object.entries(notJudged(report)).flatMap(([title, groups]) =>
      reasonLines(title, groups, colors),
    ),
    ...endLines(shown, Infinity),
  ]
}

function headLines(shown: Showing): Line[] {
  const { colors, report } = shown
  const { baseUrl, name } = report.target
  const places = shownMap(report)
  const address = colors.dim(terminalText(baseUrl))
  return [
    // A target that was not given a name goes by its host.
    baseUrl.endsWith(`//${name}`) ? address : `${colors.bold(terminalText(name))}  ${address}`,
    // An id in the target file that the target does not know, for example, explains what follows.
    ...(report.run.hints ?? []).map((hint) => colors.bold(colors.yellow(terminalText(hint, 300)))),
    ...(places === undefined ? [] : [colors.bold(mapSentence(places))]),
    '',
  ]
}

function problemLines(shown: Showing, size: Size): Line[] {
  const { colors, report } = shown
  const { distinct, unexpected } = failuresOf(report)
  if (distinct.length === 0) return []
  // One answer to everything is seen in one failure.
  const isOne =
    report.verdict === 'not-judged' || (isNothingWorking(report) && report.run.hints !== undefined)
  const groups = distinct.slice(0, isOne ? 1 : size.most)
  const reproducible = groups.find(
    (group) =>
      group.example.failures[0]?.takes === undefined &&
      curlOf(group.example).length <= LONGEST_CURL,
  )
  const blocks =
    size.rows === Infinity && !isOne
      ? groups.map((group) => [...failureBlock(group, colors), ''])
      : groups.map((group) => [
          ...shortBlock(group, shown, Math.min(size.rows, 2)),
          ...(group === reproducible
            ? [{ whole: `${INDENT}${terminalText(curlOf(group.example), Infinity)}` }]
            : []),
        ])
  const more = unexpected.length - groups.reduce((sum, group) => sum + group.results.length, 0)
  return [
    ...blocks.flat(),
    ...(more > 0 ? [colors.dim(`and ${count(more, 'more failure')}: ${whereRest(shown)}`)] : []),
    ...(blocks.at(-1)?.at(-1) === '' && more === 0 ? [] : ['']),
  ]
}

/** Where to find what one screen has no room for; `check` has no --verbose. */
function whereRest(shown: Showing): string {
  if (shown.options.written?.some((one) => one.format === 'html')) return 'in the HTML report'
  return shown.report.run.runs === 0 ? '--report html' : '--verbose or --report html'
}

function curlOf(result: RequirementResult): string {
  return result.failures[0]?.exchange?.curl ?? ''
}

function endLines(shown: Showing, most: number): Line[] {
  const { colors, options, report } = shown
  const { notes = [], written = [] } = options
  const { exit, run } = report
  const { beforeExit, tone } = standingOf(report)
  const paths = written.flatMap((one) => (one.path === '-' ? [] : [terminalText(one.path)]))
  const reports = colors.dim(paths.length === 1 ? 'report' : 'reports')
  const steps = nextSteps(report).flatMap((step, at): Line[] => [
    { lead: `  ${colors.bold(`${at + 1}.`)} `, width: 5, text: terminalText(step.text, 400) },
    ...(step.paste === undefined ? [] : jsonLines(step.paste)),
    ...(step.command === undefined
      ? []
      : [{ whole: `     ${colors.cyan(terminalText(step.command, Infinity))}` }]),
  ])
  const missed = exit.requireExercised
    ? firstOf(requiredButMissed(report), most, `more: ${whereRest(shown)}`).join(', ')
    : undefined
  return [
    ...(run.baseline ? baselineLines(shown, run.baseline.file, most) : []),
    ...runNotes(report).map((note) => terminalText(note)),
    ...(paths.length > 0 ? [{ whole: `${reports} ${paths.join(', ')}` }] : []),
    colors.dim(
      `${count(run.requests, 'request')} in ${duration(run.durationMs)}; ${[createdObjects(run), seedLine(report)].filter(Boolean).join('; ')}`,
    ),
    '',
    ...(steps.length > 0 ? [colors.bold('Next'), ...steps, ''] : []),
    colors.bold(colors[tones[tone]](terminalText(beforeExit))),
    ...notes.map((note) => terminalText(note)),
    ...(missed === undefined
      ? []
      : [`not tested, and required: ${terminalText(missed, Infinity)}`]),
    colors.bold(terminalText(exitLine(report))),
  ]
}

function baselineLines(shown: Showing, file: string, most: number): string[] {
  const { colors } = shown
  const lines = baselineEntries(shown.report).map((entry) => {
    const { state, why } = entry
    const paint = state === 'stale entry' ? colors.red : colors.dim
    const reason = why === undefined ? '' : `: ${terminalText(why)}`
    return `  ${paint(state)}${' '.repeat(20 - state.length)}${terminalText(entry.id)}${reason}`
  })
  if (lines.length === 0) return []
  const more = lines.length - most
  const rest = more > 0 ? [`  and ${more} more: ${whereRest(shown)}`] : []
  const title = colors.bold(`Baseline ${terminalText(file)}`)
  return [title, ...lines.slice(0, most), ...rest, '']
}

const INDENT = ' '.repeat(4)
const LABEL_WIDTH = 10
const ROOM = 80 - INDENT.length - LABEL_WIDTH
const uuid = /\b([\da-f]{8})(?:-[\da-f]{4}){3}-[\da-f]{12}\b/gi
/** A longer curl line would take the screen from everything else. */
const LONGEST_CURL = 800

/**
 * A failed requirement with all its evidence: what was sent, what the interface asks for, what came back; then how to see it
 * again. Others that failed for the same cause are named below.
 */
function failureBlock(distinct: Distinct, colors: Colors): Line[] {
  const { cause, example } = distinct
  const same = distinct.results.filter((one) => one !== example)
  return [
    headOf(example, colors),
    ...(cause === undefined
      ? []
      : [labelled('cause', colors.bold(terminalText(cause.what)), colors)]),
    `${INDENT}${colors.dim(terminalText(example.statement))}`,
    ...example.failures.flatMap((failure) => linesOf(evidence(failure), colors)),
    ...(same.length === 0
      ? []
      : [
          labelled(
            `same: ${same.length}`,
            same.map((one) => terminalText(one.id)).join(', '),
            colors,
          ),
        ]),
  ]
}

/** @param rows of a terminal that each line of evidence may take */
function shortBlock(distinct: Distinct, shown: Showing, rows: number): Line[] {
  const { colors, report } = shown
  const { cause, example, results } = distinct
  const [failure] = example.failures
  const more = results.length > 1 ? `  and ${results.length - 1} more` : ''
  const room = ROOM * rows
  const cut = (text: string): string => {
    const short = text
      .replace(/ with a valid (?:request|body), but /, ': ')
      // The name received says it already.
      .replace(/ \("[^"]+" is a code name .*\)$/, '')
      .replaceAll(`${report.target.baseUrl}/`, '/')
      .replaceAll(uuid, '$1…')
    return short.length <= room ? short : `${[...short].slice(0, room - 1).join('')}…`
  }
  const facts = failure === undefined ? [] : evidence(failure).slice(0, 3)
  return [
    cause === undefined
      ? headOf(example, colors, more)
      : `${signOf(example, colors)} ${colors.bold(`${results.length} × ${cause.isAbsent ? 'not built' : terminalText(shortened(cause.what, 100))}`)}`,
    ...linesOf(
      facts.map((line) => ({ ...line, text: cut(line.text) })),
      colors,
    ),
  ]
}

function signOf(result: RequirementResult, colors: Colors): string {
  return (result.level === 'must' ? colors.red : colors.yellow)(outcomes.failed.sign)
}

function headOf(result: RequirementResult, colors: Colors, more = ''): string {
  const mark = result.level === 'must' ? colors.red : colors.yellow
  const where = colors.dim(terminalText(sections(result.section)))
  return `${signOf(result, colors)} ${colors.bold(terminalText(result.id))}  ${mark(levels[result.level])}  ${where}${more}`
}

function linesOf(lines: readonly EvidenceLine[], colors: Colors): Line[] {
  const paints: Partial<Record<EvidenceLine['label'], (text: string) => string>> = {
    expected: colors.green,
    received: colors.red,
  }
  return lines.flatMap((line): Line[] => {
    const { label, text } = line
    // Text to copy has its own line, indented with blanks only.
    if (isCommand(line))
      return [
        `${INDENT}${colors.dim(label)}`,
        { whole: `${INDENT}  ${terminalText(text, Infinity)}` },
      ]
    return [labelled(label, (paints[label] ?? String)(terminalText(text)), colors)]
  })
}

function labelled(label: string, text: string, colors: Colors): Line {
  return {
    lead: INDENT + colors.dim(label.padEnd(LABEL_WIDTH)),
    width: INDENT.length + LABEL_WIDTH,
    text,
  }
}

/**
 * A line for people. With a `lead`, continuation lines are aligned under its text; `width` is the lead's columns. A
 * `whole` line is for copying and never broken.
 */
export type Line =
  | string
  | { readonly lead: string; readonly width: number; readonly text: string }
  | { readonly whole: string }

const NARROWEST = 30
const HANGING = 2

/** Columns of a terminal; Infinity for logs and pipes, where lines are not wrapped. */
export function columnsOf(stream: { readonly isTTY?: boolean; readonly columns?: number }): number {
  return stream.isTTY === true ? stream.columns || 80 : Infinity
}

/** Wraps lines between words, with indentation; Infinity: unchanged. */
export function laidOut(lines: readonly Line[], columns: number): string[] {
  return lines.flatMap((line) => {
    if (typeof line !== 'string' && 'whole' in line) return [line.whole]
    const [own = ''] = typeof line === 'string' ? /^ */.exec(line)! : []
    const { lead, text, width } =
      typeof line === 'string'
        ? { lead: own, width: own.length || HANGING, text: line.slice(own.length) }
        : line
    if (columns === Infinity) return [lead + text]
    const room = Math.max(columns, NARROWEST) - width
    const [first = '', ...rest] = wrapAnsi(text, Math.max(room, NARROWEST / 2), {
      hard: true,
    }).split('\n')
    return [lead + first, ...rest.map((part) => ' '.repeat(width) + part)]
  })
}

function reasonLines(title: string, groups: readonly ReasonGroup[], colors: Colors): Line[] {
  if (groups.length === 0) return []
  const all = groups.reduce((sum, group) => sum + group.ids.length, 0)
  const width = String(groups[0]!.ids.length).length
  const lines = groups.flatMap((group): Line[] => [
    {
      lead: `  ${String(group.ids.length).padStart(width)}  `,
      width: width + 4,
      text: terminalText(group.reason, Infinity),
    },
    `  ${' '.repeat(width)}  ${colors.dim(terminalText(group.ids.join(', '), Infinity))}`,
  ])
  return [colors.bold(`${title}: ${all}`), ...lines, '']
}

/** Columns of JSON to paste, on a terminal of any width. */
const JSON_WIDTH = 76

function jsonLines(value: unknown): Line[] {
  return compactJson(value, JSON_WIDTH)
    .split('\n')
    .map((line): Line => ({ whole: terminalText(line, Infinity) }))
}
