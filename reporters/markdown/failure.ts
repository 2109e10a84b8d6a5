import type { RequirementResult } from '../../harness/report/model.ts'
import { markdownBlock, markdownCode, markdownText } from '../escape/markdown.ts'
import { type Cause, idsOf } from '../view/causes.ts'
import { count } from '../view/counts.ts'
import { evidence, failureSentence } from '../view/evidence.ts'
import { sections } from '../view/sections.ts'

/** What failed with what was expected and received, a row each cause. */
export function failureTable(causes: readonly Cause[]): string[] {
  if (causes.length === 0) return []
  const rows = causes.map((cause) => {
    const { level, section } = cause.first
    const ids = idsOf(cause).map(markdownCode).join(', ')
    return `| ${ids} | ${level} | ${markdownText(sections(section))} | ${markdownText(failureSentence(cause.first))} |`
  })
  return ['| requirement | level | section | what happened |', '| --- | --- | --- | --- |', ...rows, '']
}

/** The evidence of one cause, folded away. */
export function failureDetails({ first: result, others }: Cause): string[] {
  const [first] = result.failures
  if (!first) return []
  const summary = `${result.id}${others.length > 0 ? ` and ${others.length} more` : ''}`
  return [
    '<details>',
    `<summary>${markdownText(summary)}</summary>`,
    '',
    markdownText(result.statement),
    '',
    markdownBlock(evidenceLines(result, others.length).join('\n'), 'text'),
    '',
    '</details>',
    '',
  ]
}

function evidenceLines({ failures: [first, ...more] }: RequirementResult, others: number): string[] {
  return [
    ...evidence(first!, 1000).map(([label, text]) => `${label.padEnd(10)}${bounded(text)}`),
    ...(more.length > 0 ? [`and ${count(more.length, 'more failure')} of it in the JSON report`] : []),
    ...(others > 0 ? [`the same of ${count(others, 'more requirement')}, named above`] : []),
  ]
}

/** A line that is to be run is of no use when cut, so a longer one is only named. */
function bounded(text: string): string {
  return text.length <= 4000 ? text : `${text.length} characters long: see the JSON or HTML report`
}
