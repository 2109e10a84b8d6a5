import type { Colors } from 'picocolors/types'
import type { RequirementResult } from '../../harness/report/model.ts'
import type { Line } from './lines.ts'
import { terminalText } from '../escape/terminal.ts'
import type { Cause } from '../view/causes.ts'
import { count } from '../../harness/report/count.ts'
import { evidence, type EvidenceLine } from '../view/evidence.ts'
import { sections } from '../view/writing.ts'

const INDENT = ' '.repeat(4)
const MOST_SAME = 20
const LABEL_WIDTH = 10
/** A line that is to be run is of no use when cut, so a longer one is only named. */
const LONGEST_COMMAND = 4000

/**
 * A failed requirement: what was sent, what the interface asks for, what came back; then how to see it again. Others that
 * failed for the same cause are named below.
 * @param elsewhere where those failures are that are not shown; null: all are
 */
export function failureBlock({ first: result, others: same }: Cause, elsewhere: string | null, colors: Colors): Line[] {
  const mark = result.level === 'must' ? colors.red : colors.yellow
  const shown = elsewhere === null ? result.failures : result.failures.slice(0, 1)
  const others = result.failures.length - shown.length
  const where = colors.dim(terminalText(sections(result.section)))
  return [
    `${mark('✗')} ${colors.bold(terminalText(result.id))}  ${mark(result.level)}  ${where}`,
    `${INDENT}${colors.dim(terminalText(result.statement))}`,
    ...shown.flatMap((failure) => evidence(failure)).flatMap((line) => labelled(line, colors)),
    ...(others > 0 ? [`${INDENT}${colors.dim(`and ${count(others, 'more failure')} of it: ${elsewhere}`)}`] : []),
    ...(same.length > 0 ? labelled(['same', sameIds(same, elsewhere)], colors) : []),
  ]
}

function sameIds(same: readonly RequirementResult[], elsewhere: string | null): string {
  const shown = same.slice(0, elsewhere === null ? Infinity : MOST_SAME).map(({ id }) => terminalText(id))
  return wrapped(same.length > shown.length ? [...shown, `and ${same.length - shown.length} more`] : shown)
}

/** The ids in lines of about 64 characters. */
function wrapped(ids: readonly string[]): string {
  const lines: string[] = []
  for (const id of ids) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + id.length < 64) lines[lines.length - 1] = `${last}, ${id}`
    else lines.push(id)
  }
  return lines.join('\n')
}

function labelled([label, text]: EvidenceLine | readonly [label: 'same', text: string], colors: Colors): Line[] {
  const width = INDENT.length + LABEL_WIDTH
  const isCommand = label === 'curl' || label === 'again'
  return linesOf(label, text).map((line, at) => {
    const lead = `${INDENT}${colors.dim((at === 0 ? label : '').padEnd(LABEL_WIDTH))}`
    return isCommand ? { whole: lead + line } : { lead, width, text: painted(label, line, colors) }
  })
}

/** What was asked for and what came stand out. */
function painted(label: string, line: string, colors: Colors): string {
  if (label === 'expected') return colors.green(line)
  return label === 'received' ? colors.red(line) : line
}

function linesOf(label: string, text: string): string[] {
  if (label === 'same') return text.split('\n')
  if (label !== 'curl' && label !== 'again') return [terminalText(text)]
  if (text.length > LONGEST_COMMAND) return [`${text.length} characters long: see the JSON or HTML report`]
  return [terminalText(text, Infinity)]
}
