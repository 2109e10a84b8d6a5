import type { Colors } from 'picocolors/types'
import type { RequirementResult } from '../../spec/report.ts'
import { terminalLines, terminalText } from '../escape/terminal.ts'
import { count } from '../view/counts.ts'
import { sections } from '../view/sections.ts'

const INDENT = ' '.repeat(4)
const LABEL_WIDTH = 10

/** A failed requirement: what was sent, what the interface asks for, what came back; then how to see it again. */
export function failureBlock(result: RequirementResult, colors: Colors): string[] {
  const mark = result.level === 'must' ? colors.red : colors.yellow
  const [first, ...others] = result.failures
  const line = (label: string, text: string) => labelled(label, terminalLines(text), colors)
  return [
    `${mark('✗')} ${colors.bold(terminalText(result.id))}  ${mark(result.level)}  ${colors.dim(sections(result.section))}`,
    `${INDENT}${colors.dim(terminalText(result.statement))}`,
    ...(first
      ? [
          ...line('sent', first.message),
          ...line('expected', first.expected),
          ...line('received', first.actual),
          ...(first.familyOnly ? line('note', 'only the code name differs: passes with --tpe family') : []),
          ...line('again', first.rerun),
          ...(first.exchange ? labelled('curl', curlLines(first.exchange.curl), colors) : []),
        ]
      : []),
    ...(others.length > 0
      ? [`${INDENT}${colors.dim(`and ${count(others.length, 'more failure')} of it in the reports`)}`]
      : []),
  ]
}

function labelled(label: string, lines: readonly string[], colors: Colors): string[] {
  return lines.map((line, at) => `${INDENT}${colors.dim((at === 0 ? label : '').padEnd(LABEL_WIDTH))}${line}`)
}

/** A curl line that is cut cannot be run, so one that is too long to paste is only named. */
function curlLines(curl: string): string[] {
  if (curl.length > 4000) return [`${curl.length} characters long: see the JSON or HTML report`]
  return terminalLines(curl, 100, 4000)
}
