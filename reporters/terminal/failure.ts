import type { Colors } from 'picocolors/types'
import type { RequirementResult } from '../../harness/report/model.ts'
import { terminalLines, terminalText } from '../escape/terminal.ts'
import { count } from '../view/counts.ts'
import { evidence, type EvidenceLine } from '../view/evidence.ts'
import { sections } from '../view/sections.ts'

const INDENT = ' '.repeat(4)
const LABEL_WIDTH = 10
/** A line that is to be run is of no use when cut, so a longer one is only named. */
const LONGEST_COMMAND = 4000

/** A failed requirement: what was sent, what the interface asks for, what came back; then how to see it again. */
export function failureBlock(result: RequirementResult, colors: Colors): string[] {
  const mark = result.level === 'must' ? colors.red : colors.yellow
  const [first, ...others] = result.failures
  const where = colors.dim(terminalText(sections(result.section)))
  return [
    `${mark('✗')} ${colors.bold(terminalText(result.id))}  ${mark(result.level)}  ${where}`,
    `${INDENT}${colors.dim(terminalText(result.statement))}`,
    ...(first ? evidence(first).flatMap((line) => labelled(line, colors)) : []),
    ...(others.length > 0
      ? [`${INDENT}${colors.dim(`and ${count(others.length, 'more failure')} of it in the reports`)}`]
      : []),
  ]
}

function labelled([label, text]: EvidenceLine, colors: Colors): string[] {
  return linesOf(label, text).map(
    (line, at) => `${INDENT}${colors.dim((at === 0 ? label : '').padEnd(LABEL_WIDTH))}${line}`,
  )
}

function linesOf(label: string, text: string): string[] {
  if (label !== 'curl' && label !== 'again') return terminalLines(text)
  if (text.length > LONGEST_COMMAND) return [`${text.length} characters long: see the JSON or HTML report`]
  return terminalLines(text, 100, LONGEST_COMMAND * 6)
}
