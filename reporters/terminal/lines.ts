import { wrapAnsi } from 'fast-wrap-ansi'
import type { Colors } from 'picocolors/types'
import { type Report, count, sayNeed } from '../../harness/report/index.ts'
import { terminalText } from '../escape.ts'
import type { ReasonGroup } from '../view/groups.ts'
import { byState, mapSentence, shownMap, states } from '../view/operation-map.ts'
import { gainOf, type Step, usualPart } from '../view/next-steps.ts'
import { compactJson, firstOf } from '../view/writing.ts'

/**
 * A line for people. With a `lead`, continuation lines are aligned under its text; `width` is the lead's columns. A
 * `whole` line is for copying and never broken.
 */
export type Line =
  | string
  | { readonly lead: string; readonly width: number; readonly text: string }
  | { readonly whole: string }

export const paints = { p: 'green', f: 'red', m: 'yellow', n: 'dim', w: 'dim' } as const

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
    const { lead, text, width } = typeof line === 'string' ? parted(line) : line
    if (columns === Infinity) return [lead + text]
    const room = Math.max(columns, NARROWEST) - width
    const [first = '', ...rest] = wrapAnsi(text, Math.max(room, NARROWEST / 2), {
      hard: true,
    }).split('\n')
    return [lead + first, ...rest.map((part) => ' '.repeat(width) + part)]
  })
}

function parted(line: string): { lead: string; width: number; text: string } {
  const [lead] = /^ */.exec(line)!
  return { lead, width: lead.length === 0 ? HANGING : lead.length, text: line.slice(lead.length) }
}

/** Counts the operations of each state, and names those not built; failing ones are named by their failures. */
export function mapLines(report: Report, colors: Colors): Line[] {
  const places = shownMap(report)
  if (places === undefined) return []
  const lines = byState(places).flatMap(([state, own]): Line[] => {
    if (state !== 'not built') return []
    const { sign, tone } = states[state]
    const ids = own.map((one) => one.operation)
    const lead = `  ${sign} ${state}`.padEnd(15)
    return [
      {
        lead: colors[paints[tone]](lead),
        width: 15,
        text: terminalText(firstOf(ids, 6).join(', '), Infinity),
      },
    ]
  })
  return [colors.bold(mapSentence(places)), ...lines]
}

export function reasonLines(title: string, groups: readonly ReasonGroup[], colors: Colors): Line[] {
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

export function stepLines(steps: readonly Step[], colors: Colors): Line[] {
  if (steps.length === 0) return []
  const width = `${steps[0]!.ids.length}`.length + 5
  const part = usualPart(steps)
  return [
    colors.bold(`To test ${count(gainOf(steps), 'more requirement')}, add to the target file`),
    ...steps.map((step): Line => {
      const lead = `  ${colors.bold(`+${step.ids.length}`.padEnd(width - 4))}  `
      const named = `  ${colors.dim(terminalText(step.ids.join(', '), Infinity))}`
      return { lead, width, text: terminalText(step.names.map(sayNeed).join(' and ')) + named }
    }),
    colors.dim('  Paste into the target file and replace the <placeholders>:'),
    ...jsonLines(part),
    colors.dim(
      '  Write "not-served" for operations you do not offer, and list conditions nobody can trigger under "unreachable".',
    ),
    '',
  ]
}

export function jsonLines(value: unknown): Line[] {
  return compactJson(value, JSON_WIDTH)
    .split('\n')
    .map((line): Line => ({ whole: terminalText(line, Infinity) }))
}
