import type { Cause } from '../view/causes.ts'
import type { Colors } from 'picocolors/types'
import { terminalText, terminalPieces } from '../escape.ts'
import type { Line } from './lines.ts'
import {
  sections,
  count,
  type RequirementResult,
  type Failure,
} from '../../harness/report/index.ts'
import { outcomes, firstOf } from '../view/writing.ts'
import { storyLines, evidence, type EvidenceLine, commandOrLength } from '../view/evidence.ts'
import { responseDifferenceOf } from '../view/difference.ts'

const INDENT = ' '.repeat(4)
const MOST_SAME = 20
const LABEL_WIDTH = 10

/**
 * A failed requirement: what was sent, what the interface asks for, what came back; then how to see it again. Others that
 * failed for the same cause are named below.
 * @param elsewhere where those failures are that are not shown; null: all are
 */
export function failureBlock(
  { first: result, others: same }: Cause,
  elsewhere: string | null,
  colors: Colors,
): Line[] {
  const mark = result.level === 'must' ? colors.red : colors.yellow
  const shown = elsewhere === null ? result.failures : result.failures.slice(0, 1)
  const others = result.failures.length - shown.length
  const where = colors.dim(terminalText(sections(result.section)))
  return [
    `${mark(outcomes.failed.sign)} ${colors.bold(terminalText(result.id))}  ${mark(result.level)}  ${where}`,
    `${INDENT}${colors.dim(terminalText(result.statement))}`,
    ...shown.flatMap((failure) => evidenceLines(failure, colors)),
    ...(others > 0
      ? [`${INDENT}${colors.dim(`and ${count(others, 'more failure')} of it: ${elsewhere}`)}`]
      : []),
    ...sameIds(same, elsewhere).map((line, at) =>
      labelled(at === 0 ? 'same for' : '', line, colors),
    ),
  ]
}

function sameIds(same: readonly RequirementResult[], elsewhere: string | null): string[] {
  const all = same.map(({ id }) => terminalText(id))
  const ids = wrapped(firstOf(all, elsewhere === null ? Infinity : MOST_SAME))
  return ids.length < 2
    ? ids.map((line) => `${same.length} more: ${line}`)
    : [`${same.length} more:`, ...ids]
}

function wrapped(ids: readonly string[]): string[] {
  const lines: string[] = []
  for (const id of ids) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + id.length < 64)
      lines[lines.length - 1] = `${last}, ${id}`
    else lines.push(id)
  }
  return lines
}

function storyOf({ story }: Failure, colors: Colors): Line[] {
  if (story === undefined) return []
  return storyLines(story).map((line, at) =>
    labelled(at === 0 ? 'story' : '', terminalText(line), colors),
  )
}

function evidenceLines(failure: Failure, colors: Colors): Line[] {
  const lines = evidence(failure)
  const facts = lines.filter(([label]) => label !== 'again' && label !== 'curl')
  return [
    ...linesOf(failure, facts, colors),
    ...storyOf(failure, colors),
    ...linesOf(failure, lines.slice(facts.length), colors),
  ]
}

function linesOf(failure: Failure, lines: readonly EvidenceLine[], colors: Colors): Line[] {
  return lines.flatMap(([label, text]): Line[] => {
    // Text to be copied has a line of its own, with nothing but blanks before it.
    if (label === 'curl' || label === 'again')
      return [
        `${INDENT}${colors.dim(label)}`,
        { whole: `${INDENT}  ${terminalText(commandOrLength(text), Infinity)}` },
      ]
    return [labelled(label, painted(failure, [label, text], colors), colors)]
  })
}

function labelled(label: string, text: string, colors: Colors): Line {
  return {
    lead: INDENT + colors.dim(label.padEnd(LABEL_WIDTH)),
    width: INDENT.length + LABEL_WIDTH,
    text,
  }
}

function painted(failure: Failure, [label, text]: EvidenceLine, colors: Colors): string {
  const { expected, received } = responseDifferenceOf(failure)
  if (label === 'expected')
    return terminalPieces(expected, (part) => colors.bold(colors.green(part)))
  if (label === 'received') return terminalPieces(received, (part) => colors.bold(colors.red(part)))
  return terminalText(text)
}
