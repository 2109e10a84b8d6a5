import { wrapAnsi } from 'fast-wrap-ansi'
import type { Colors } from 'picocolors/types'
import { type Counts, type Report, count, sayNeed } from '../../harness/report/index.ts'
import { terminalText } from '../escape.ts'
import { type ReasonGroup, selectedSummary } from '../view/groups.ts'
import { byState, mapSentence, type NotBuilt, shownMap, states } from '../view/operation-map.ts'
import { gainOf, type Step, usualPart } from '../view/next-steps.ts'
import { capital, compactJson, firstOf } from '../view/writing.ts'
import type { LikelyCause } from '../view/causes.ts'

/**
 * A line for people. One with a `lead` goes on under its text if it is too long; `width` is how many columns the lead
 * takes. One that is `whole` is to be copied and never broken.
 */
export type Line =
  | string
  | { readonly lead: string; readonly width: number; readonly text: string }
  | { readonly whole: string }

export const paints = { p: 'green', f: 'red', m: 'yellow', n: 'dim', w: 'dim' } as const

/** Makes a link of a text, if whoever shows it knows links; else the text as it is. */
export type Link = (text: string, address: string) => string

export const noLink: Link = (text) => text

/** The link of a terminal (OSC 8). The address holds no control characters: it is a URL that was parsed. */
export const terminalLink: Link = (text, address) =>
  `\u001b]8;;${new URL(address).href}\u0007${text}\u001b]8;;\u0007`

const NARROWEST = 30
const HANGING = 2

/** Columns of a stream if it is a terminal; Infinity for logs and pipes, where lines stay as they are. */
export function columnsOf(stream: { readonly isTTY?: boolean; readonly columns?: number }): number {
  return stream.isTTY === true ? stream.columns || 80 : Infinity
}

/** Breaks lines between words for that many columns, the rest indented; Infinity: as they are. */
export function laidOut(lines: readonly Line[], columns: number): string[] {
  return lines.flatMap((line) => {
    if (typeof line !== 'string' && 'whole' in line) return [line.whole]
    const { lead, text, width } = typeof line === 'string' ? parted(line) : line
    if (columns === Infinity) return [lead + text]
    const room = Math.max(columns, NARROWEST) - width
    const [first = '', ...rest] = wrapAnsi(text, Math.max(room, NARROWEST / 2), {
      hard: true,
    }).split('\n')
    return [lead + first, ...rest.map((part) => ' '.repeat(width) + part)]
  })
}

/** Takes the indentation of a line as its lead; a line without one goes on a little indented. */
function parted(line: string): { lead: string; width: number; text: string } {
  const [lead] = /^ */.exec(line)!
  return { lead, width: lead.length === 0 ? HANGING : lead.length, text: line.slice(lead.length) }
}

const levels = { must: 'must (required)', should: 'should (recommended)' } as const

export function summaryTable(report: Report, colors: Colors): string[] {
  const summary = selectedSummary(report)
  // Narrow enough for a line of 60 characters.
  const columns = [
    ['passed', 'passed', 'green'],
    ['failed', 'failed', 'red'],
    ['notExercised', 'not tested', 'yellow'],
    ['notApplicable', 'n/a', 'dim'],
  ] as const satisfies readonly (readonly [keyof Counts, title: string, keyof Colors])[]
  const row = (level: keyof typeof levels): string => {
    const cells = columns.map(([member, title, color]) => {
      const number = summary[level][member]
      const cell = String(number).padStart(title.length + 2)
      return number > 0 ? colors[color](cell) : colors.dim(cell)
    })
    return `  ${levels[level].padEnd(20)}${cells.join('')}`
  }
  // Blanks stand before the colour: those within it are lost when lines are laid out.
  const head = columns.map(([, title]) => title).join('  ')
  return [`  ${' '.repeat(22)}${colors.dim(head)}`, row('must'), row('should'), '']
}

export function mapLines(report: Report, colors: Colors): Line[] {
  const places = shownMap(report)
  if (places === undefined) return []
  const groups = byState(places)
  const width = Math.max(...places.map(({ state }) => state.length))
  const lines = groups.map(([state, own]): Line => {
    const { sign, tone } = states[state]
    const ids = own.map(({ detail, operation }) => operation + (detail && ` (${detail})`))
    return {
      lead: `  ${colors[paints[tone]](`${sign} ${state.padEnd(width)}`)}  `,
      width: width + 6,
      text: terminalText(ids.join(', '), Infinity),
    }
  })
  // That all is well is said without a list.
  return [colors.bold(mapSentence(places)), ...(report.verdict === 'conformant' ? [] : lines), '']
}

/** Operations that are not there: how they answered, and the lines to paste if that is meant. */
export function notBuiltLines(absent: NotBuilt | undefined, colors: Colors): Line[] {
  if (absent === undefined) return []
  return [
    colors.bold(colors.yellow(capital(absent.heading))),
    `  ${colors.dim(`answered ${terminalText(absent.answers, 300)}`)}`,
    '  If that is meant, paste this into the target file; they are not applicable then:',
    ...jsonLines(absent.part),
    '',
  ]
}

const MOST_REASONS = 12
const MOST_IDS = 3

/**
 * Lists why requirements were not judged: a line for each reason, with the number and the first ids.
 * @param elsewhere where those are that are not shown; null: all are
 */
export function reasonLines(
  title: string,
  groups: readonly ReasonGroup[],
  elsewhere: string | null,
  colors: Colors,
): Line[] {
  if (groups.length === 0) return []
  const all = groups.reduce((sum, { ids }) => sum + ids.length, 0)
  const width = String(groups[0]!.ids.length).length
  const most = elsewhere === null ? Infinity : MOST_REASONS
  const lines = groups.slice(0, most).flatMap(({ reason, ids }): Line[] => [
    {
      lead: `  ${String(ids.length).padStart(width)}  `,
      width: width + 4,
      text: terminalText(reason, elsewhere === null ? Infinity : 300),
    },
    `  ${' '.repeat(width)}  ${colors.dim(terminalText(firstOf(ids, elsewhere === null ? Infinity : MOST_IDS).join(', '), Infinity))}`,
  ])
  const rest = groups.slice(most)
  const restIds = rest.reduce((sum, { ids }) => sum + ids.length, 0)
  if (rest.length > 0)
    lines.push(colors.dim(`  and ${restIds} more, for ${rest.length} other reasons: ${elsewhere}`))
  return [colors.bold(`${title}: ${all}`), ...lines, '']
}

const MOST_STEPS = 10
/** Columns that JSON to be pasted takes on a terminal of any width. */
const JSON_WIDTH = 76

/**
 * Steps to declare next, a line each with how many requirements it gains, and what to paste.
 * @param report path of the JSON report, if one is written; null: all steps are shown
 */
export function stepLines(
  steps: readonly Step[],
  report: string | null | undefined,
  colors: Colors,
): Line[] {
  if (steps.length === 0) return []
  const shown = steps.slice(0, report === null ? Infinity : MOST_STEPS)
  const width = `${steps[0]!.ids.length}`.length + 5
  const rest = steps.slice(shown.length)
  const write = `conform init --from ${report ?? 'conform-report.json'}`
  const how = report === undefined ? `--report json, then ${write}` : write
  const part = usualPart(shown)
  return [
    `${colors.bold('What to declare next')} ${colors.dim(`so that ${count(gainOf(steps), 'more requirement')} can be tested`)}`,
    ...shown.map(({ ids, names }): Line => {
      const lead = `  ${colors.bold(`+${ids.length}`.padEnd(width - 4))}  `
      const named = report === null ? `  ${colors.dim(terminalText(ids.join(', '), Infinity))}` : ''
      return { lead, width, text: terminalText(names.map(sayNeed).join(' and ')) + named }
    }),
    ...(rest.length > 0
      ? [
          colors.dim(
            `  and +${gainOf(rest)} by ${rest.length} others; all in a new target file: ${terminalText(how)}`,
          ),
        ]
      : []),
    ...(Object.keys(part).length === 0 ? [] : pasted(part, colors)),
    '',
  ]
}

function jsonLines(value: unknown): Line[] {
  return compactJson(value, JSON_WIDTH)
    .split('\n')
    .map((line): Line => ({ whole: terminalText(line) }))
}

function pasted(part: Readonly<Record<string, unknown>>, colors: Colors): Line[] {
  return [
    colors.dim('  To paste into the target file, with what stands in <> filled in:'),
    ...jsonLines(part),
    colors.dim(
      '  An operation that your server does not have is "not-served" there; a condition that nobody can cause stands under "unreachable".',
    ),
  ]
}

export function likelyLines(
  heading: string,
  causes: readonly LikelyCause[],
  colors: Colors,
): Line[] {
  if (causes.length === 0) return []
  const width = Math.max(...causes.map(({ results }) => String(results.length).length))
  const lines = causes.flatMap(({ change, results, what }) => {
    const times = String(results.length).padStart(width)
    const indent = ' '.repeat(width + 4)
    const [first] = results
    const more = results.length - 1
    const ids = `${first!.id}${more > 0 ? ` and ${more} more` : ''}`
    return [
      {
        lead: `  ${colors.bold(colors.red(times))}  `,
        width: indent.length,
        text: colors.bold(terminalText(what)),
      },
      `${indent}${terminalText(change)}`,
      `${indent}${colors.dim(terminalText(ids))}`,
    ]
  })
  return [colors.bold(capital(heading)), ...lines, '']
}
