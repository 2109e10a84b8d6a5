import { parseReason } from '../../harness/report/reason.ts'
import type { Colors } from 'picocolors/types'
import type { Line } from './lines.ts'
import { terminalText } from '../escape/terminal.ts'
import type { ReasonGroup } from '../view/groups.ts'

const MOST_REASONS = 12
const MOST_IDS = 3

const howToDeclare = [
  '  Declare these in the target file; conform init writes one. If your server does not have an operation, say',
  '  {"operations": {"<operation>": "not-served"}}; if nobody can cause a condition there, put it under "unreachable".',
  '  conform explain <id> says more about a requirement.',
]

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
  if (groups.some(({ reason }) => parseReason(reason).kind === 'undeclared'))
    lines.push(...howToDeclare.map((line) => colors.dim(line)))
  return [colors.bold(`${title}: ${all}`), ...lines, '']
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
