import type { Counts, Report, Verdict } from '../harness/report/model.ts'
import { markdownCode, markdownText } from './escape/markdown.ts'
import { failureDetails, failureTable } from './markdown/failure.ts'
import { reasonTable } from './markdown/reasons.ts'
import { count } from './view/counts.ts'
import { duration } from './view/duration.ts'
import { failed } from './view/failed.ts'
import { byReason } from './view/reasons.ts'
import { runNotes, seedLine } from './view/run-notes.ts'
import { verdictSentence } from './view/verdict-sentence.ts'

const sign = { conformant: '✅', passing: '✅', 'non-conformant': '❌', 'not-judged': '⚠️' } as const satisfies Record<
  Verdict,
  string
>

export interface MarkdownOptions {
  /** Of how many failures the evidence is shown; the others stand in the table only. Default 25. */
  readonly evidence?: number
}

/** The report as a page that fits a CI job's summary: short where all passes. */
export function renderMarkdown(report: Report, { evidence = 25 }: MarkdownOptions = {}): string {
  const { run, target } = report
  const { unexpected, expected } = failed(report)
  return [
    `## ${sign[report.verdict]} Conformance of ${markdownText(target.name)}`,
    '',
    `**${markdownText(verdictSentence(report))}**`,
    '',
    ...summaryTable(report),
    ...runNotes(report).flatMap((note) => [`- ${markdownText(note)}`]),
    `- ${markdownText(`${target.baseUrl}: ${count(run.requests, 'request')} in ${duration(run.durationMs)}; ${seedLine(report)}`)}`,
    '',
    ...(unexpected.length > 0 ? ['### Failed', '', ...failureTable(unexpected)] : []),
    ...unexpected.slice(0, evidence).flatMap(failureDetails),
    ...baseline(report, expected.length),
    ...reasonTable('Not exercised', byReason(report, 'not-exercised')),
    ...reasonTable('Not applicable', byReason(report, 'not-applicable')),
  ].join('\n')
}

function summaryTable({ summary }: Report): string[] {
  const row = (level: string, { passed, failed, notExercised, notApplicable }: Counts) =>
    `| ${level} | ${passed} | ${failed} | ${notExercised} | ${notApplicable} |`
  return [
    '| | passed | failed | not exercised | not applicable |',
    '| --- | ---: | ---: | ---: | ---: |',
    row('must', summary.must),
    row('should', summary.should),
    '',
  ]
}

function baseline({ run }: Report, failures: number): string[] {
  if (run.baseline === null) return []
  const { expected, file, notExercised, stale } = run.baseline
  const lines = [
    ...stale.map(({ id, why }) => `- stale entry ${markdownCode(id)}: ${markdownText(why)}`),
    ...expected.map((id) => `- failed as expected: ${markdownCode(id)}`),
    ...notExercised.map((id) => `- expected to fail, not exercised: ${markdownCode(id)}`),
  ]
  if (lines.length === 0) return []
  return [`### Baseline ${markdownText(file)}: ${count(failures, 'expected failure')}`, '', ...lines, '']
}
