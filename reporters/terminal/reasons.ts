import type { Colors } from 'picocolors/types'
import type { Line } from './lines.ts'
import { terminalText } from '../escape/terminal.ts'
import { count } from '../../harness/report/reason.ts'
import type { ReasonGroup } from '../view/groups.ts'
import { gainOf, type Step, usualPart } from '../view/to-declare.ts'
import { compactJson } from '../view/writing.ts'

const MOST_REASONS = 12
const MOST_IDS = 3

/**
 * Why requirements were not judged: a line each reason, with how many and which first.
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
    `  ${' '.repeat(width)}  ${colors.dim(firstOf(ids, elsewhere === null ? Infinity : MOST_IDS))}`,
  ])
  const rest = groups.slice(most)
  const restIds = rest.reduce((sum, { ids }) => sum + ids.length, 0)
  if (rest.length > 0) lines.push(colors.dim(`  and ${restIds} more, for ${rest.length} other reasons: ${elsewhere}`))
  return [colors.bold(`${title}: ${all}`), ...lines, '']
}

/** Steps that are shown. */
const MOST_STEPS = 10
/** Columns that JSON to be pasted takes on a terminal of any width. */
const JSON_WIDTH = 76

/**
 * What to declare next, a line each step with how many requirements it gains, and what to paste.
 * @param report path of the JSON report, if one is written; null: all steps are shown
 */
export function stepLines(steps: readonly Step[], report: string | null | undefined, colors: Colors): Line[] {
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
      return { lead, width, text: terminalText(names.join(' and ')) + named }
    }),
    ...(rest.length > 0
      ? [colors.dim(`  and +${gainOf(rest)} by ${rest.length} others; all in a new target file: ${terminalText(how)}`)]
      : []),
    ...(Object.keys(part).length === 0 ? [] : pasted(part, colors)),
    '',
  ]
}

function pasted(part: Readonly<Record<string, unknown>>, colors: Colors): Line[] {
  return [
    colors.dim('  To paste into the target file, with what stands in <> filled in:'),
    ...compactJson(part, JSON_WIDTH)
      .split('\n')
      .map((line): Line => ({ whole: terminalText(line) })),
    colors.dim(
      '  An operation that your server does not have is "not-served" there; a condition that nobody can cause stands under "unreachable".',
    ),
  ]
}

function firstOf(ids: readonly string[], most: number): string {
  const more = ids.length - most
  return (
    ids
      .slice(0, most)
      .map((id) => terminalText(id))
      .join(', ') + (more > 0 ? `, and ${more} more` : '')
  )
}
