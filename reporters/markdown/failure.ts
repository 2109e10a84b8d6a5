import type { RequirementResult } from '../../harness/report/model.ts'
import { markdownBlock, markdownCode, markdownText } from '../escape/markdown.ts'
import { count } from '../view/counts.ts'
import { evidence, failureSentence } from '../view/evidence.ts'
import { sections } from '../view/sections.ts'

/** Failed requirements with what was expected and received, a row each. */
export function failureTable(results: readonly RequirementResult[]): string[] {
  if (results.length === 0) return []
  const rows = results.map(
    (result) =>
      `| ${markdownCode(result.id)} | ${result.level} | ${markdownText(sections(result.section))} | ${markdownText(failureSentence(result))} |`,
  )
  return ['| requirement | level | section | what happened |', '| --- | --- | --- | --- |', ...rows, '']
}

/** The evidence of one failed requirement, folded away. */
export function failureDetails(result: RequirementResult): string[] {
  const [first, ...others] = result.failures
  if (!first) return []
  const lines = evidence(first, 1000).map(([label, text]) => `${label.padEnd(10)}${bounded(text)}`)
  if (others.length > 0) lines.push(`and ${count(others.length, 'more failure')} of it in the JSON report`)
  return [
    '<details>',
    `<summary>${markdownText(result.id)}</summary>`,
    '',
    markdownText(result.statement),
    '',
    markdownBlock(lines.join('\n'), 'text'),
    '',
    '</details>',
    '',
  ]
}

/** A line that is to be run is of no use when cut, so a longer one is only named. */
function bounded(text: string): string {
  return text.length <= 4000 ? text : `${text.length} characters long: see the JSON or HTML report`
}
