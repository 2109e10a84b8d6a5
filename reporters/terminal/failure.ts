import type { Colors } from 'picocolors/types'
import type { Failure, RequirementResult } from '../../harness/report/model.ts'
import { count } from '../../harness/report/reason.ts'
import { terminalPieces, terminalText } from '../escape/terminal.ts'
import type { Cause } from '../view/causes.ts'
import { responseDifferenceOf } from '../view/difference.ts'
import { evidence, type EvidenceLine } from '../view/evidence.ts'
import type { LikelyCause } from '../view/likely-causes.ts'
import { wordsOf } from '../view/likely-words.ts'
import { outcomes, sections } from '../view/writing.ts'
import type { Line } from './lines.ts'

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
    `${mark(outcomes.failed.sign)} ${colors.bold(terminalText(result.id))}  ${mark(result.level)}  ${where}`,
    `${INDENT}${colors.dim(terminalText(result.statement))}`,
    ...shown.flatMap((failure) => evidenceLines(failure, colors)),
    ...(others > 0 ? [`${INDENT}${colors.dim(`and ${count(others, 'more failure')} of it: ${elsewhere}`)}`] : []),
    ...sameIds(same, elsewhere).map((line, at) => labelled(at === 0 ? 'same for' : '', line, colors)),
  ]
}

function sameIds(same: readonly RequirementResult[], elsewhere: string | null): string[] {
  const shown = same.slice(0, elsewhere === null ? Infinity : MOST_SAME).map(({ id }) => terminalText(id))
  const ids = wrapped(same.length > shown.length ? [...shown, `and ${same.length - shown.length} more`] : shown)
  return ids.length < 2 ? ids.map((line) => `${same.length} more: ${line}`) : [`${same.length} more:`, ...ids]
}

/** The ids in lines of about 64 characters. */
function wrapped(ids: readonly string[]): string[] {
  const lines: string[] = []
  for (const id of ids) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + id.length < 64) lines[lines.length - 1] = `${last}, ${id}`
    else lines.push(id)
  }
  return lines
}

function evidenceLines(failure: Failure, colors: Colors): Line[] {
  return evidence(failure).flatMap(([label, text]): Line[] => {
    // What is to be copied has a line of its own: nothing stands before it but blanks.
    if (label === 'curl' || label === 'again')
      return [`${INDENT}${colors.dim(label)}`, { whole: `${INDENT}  ${commandText(text)}` }]
    return [labelled(label, painted(failure, [label, text], colors), colors)]
  })
}

function labelled(label: string, text: string, colors: Colors): Line {
  return { lead: INDENT + colors.dim(label.padEnd(LABEL_WIDTH)), width: INDENT.length + LABEL_WIDTH, text }
}

/** Expected and received, the words standing out in which they differ. */
function painted(failure: Failure, [label, text]: EvidenceLine, colors: Colors): string {
  const { expected, received } = responseDifferenceOf(failure)
  if (label === 'expected') return terminalPieces(expected, (part) => colors.bold(colors.green(part)))
  if (label === 'received') return terminalPieces(received, (part) => colors.bold(colors.red(part)))
  return terminalText(text)
}

function commandText(text: string): string {
  if (text.length > LONGEST_COMMAND) return `${text.length} characters long: see the JSON or HTML report`
  return terminalText(text, Infinity)
}

/** Likely causes of the failures and what to change, a block each; nothing if nothing is known of that kind. */
export function likelyLines(causes: readonly LikelyCause[], failures: number, colors: Colors): Line[] {
  if (causes.length === 0) return []
  const width = Math.max(...causes.map(({ results }) => String(results.length).length))
  const lines = causes.flatMap((cause) => {
    const { change, what } = wordsOf(cause)
    const times = String(cause.results.length).padStart(width)
    const indent = ' '.repeat(width + 4)
    const [first] = cause.results
    const more = cause.results.length - 1
    const ids = `${first!.id}${more > 0 ? ` and ${more} more` : ''}`
    return [
      { lead: `  ${colors.bold(colors.red(times))}  `, width: indent.length, text: colors.bold(terminalText(what)) },
      `${indent}${terminalText(change)}`,
      `${indent}${colors.dim(terminalText(ids))}`,
    ]
  })
  return [colors.bold(`Likely causes of ${count(failures, 'failure')}`), ...lines, '']
}
