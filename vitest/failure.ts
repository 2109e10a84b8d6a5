import type { RequirementResult } from '../harness/report/model.ts'
import { terminalText } from '../reporters/escape/terminal.ts'
import { evidence } from '../reporters/view/evidence.ts'
import { sections } from '../reporters/view/sections.ts'

/** Most failures of one requirement that a message shows; the reports have all. */
const most = 3
const labelWidth = 10

/** What a test throws. Its stack leads to the place where the suites were asked for: nothing of ours is of use there. */
export class ConformanceError extends Error {
  override readonly name = 'ConformanceError'
  constructor(message: string, frames: string) {
    super(message)
    this.stack = `ConformanceError: ${message}\n${frames}`
  }
}

/** The frames of a stack from the caller of that function on. */
export function framesAbove(callee: (...args: never[]) => unknown): string {
  const holder: { stack?: string } = {}
  Error.captureStackTrace(holder, callee)
  return (holder.stack ?? '').split('\n').slice(1).join('\n')
}

/** What was sent, asked for and received, the curl line, and how to see the failure again: by conform, and in vitest. */
export function failureMessage(result: RequirementResult): string {
  const { failures, id, level, section, statement } = result
  const blocks = failures.slice(0, most).map((failure) => {
    const again = `CONFORM_SEED=${failure.seed} npx vitest run -t '${id} '`
    return [...evidence(failure), ['in vitest', again] as const]
      .map(([label, text]) => labelled(label, text))
      .join('\n')
  })
  const rest = failures.length > most ? [`and ${failures.length - most} more, in the reports`] : []
  return [`${statement} (${level}, ${sections(section)})`, ...blocks, ...rest].join('\n\n')
}

/** What a target sent may hold control characters; a line break stays one. */
function labelled(label: string, text: string): string {
  const lines = text.split('\n').map((line) => terminalText(line))
  return label.padEnd(labelWidth) + lines.join(`\n${' '.repeat(labelWidth)}`)
}

/** Why a test is skipped: the reason of the result, or that its failure does not decide. */
export function skipNote({ failures, level, reason }: RequirementResult): string {
  if (reason !== undefined) return terminalText(reason)
  const [first] = failures
  return terminalText(`failed, but a ${level} does not decide: expected ${first?.expected}, received ${first?.actual}`)
}
