import type { Counts, Report } from '../harness/report/model.ts'
import { markdownCode, markdownText } from './escape/markdown.ts'
import { failureDetails, failureTable } from './markdown/failure.ts'
import { reasonTable } from './markdown/reasons.ts'
import { byCause } from './view/causes.ts'
import { count } from './view/counts.ts'
import { duration } from './view/duration.ts'
import { exitLine } from './view/exit-line.ts'
import { failed } from './view/failed.ts'
import { byReason } from './view/reasons.ts'
import { requiredButMissed } from './view/required.ts'
import { runNotes, seedLine } from './view/run-notes.ts'
import { verdictSentence } from './view/verdict-sentence.ts'

const MOST_MISSED = 50

export interface MarkdownOptions {
  /** The number of causes with evidence; the others are in the table only. Default 25. */
  readonly evidence?: number
}

/** The report as a page that fits a CI job's summary: short if all passes. */
export function renderMarkdown(report: Report, { evidence = 25 }: MarkdownOptions = {}): string {
  const { run, target } = report
  const { unexpected, expected } = failed(report)
  const causes = byCause(unexpected)
  return [
    `## ${signOf(report)} Conformance of ${markdownText(target.name)}`,
    '',
    `**${markdownText(verdictSentence(report))}**`,
    '',
    markdownText(exitLine(report)),
    '',
    ...summaryTable(report),
    ...runNotes(report).flatMap((note) => [`- ${markdownText(note)}`]),
    `- ${markdownText(`${target.baseUrl}: ${count(run.requests, 'request')} in ${duration(run.durationMs)}; ${seedLine(report)}`)}`,
    '',
    ...(unexpected.length > 0 ? ['### Failed', '', ...failureTable(causes)] : []),
    ...causes.slice(0, evidence).flatMap(failureDetails),
    ...missed(requiredButMissed(report)),
    ...baseline(report, expected.length),
    ...reasonTable('Not exercised', byReason(report, 'not-exercised')),
    ...reasonTable('Not applicable', byReason(report, 'not-applicable')),
  ].join('\n')
}

/** By the exit code, as the pipeline shows the job; an empty shard passes, but nothing passed in it. */
function signOf({ exit, verdict }: Report): string {
  if (exit.code === 0) return verdict === 'not-judged' ? '⚠️' : '✅'
  return exit.code === 1 ? '❌' : '⚠️'
}

function missed(ids: readonly string[]): string[] {
  if (ids.length === 0) return []
  const more = ids.length > MOST_MISSED ? [`- and ${ids.length - MOST_MISSED} more`] : []
  const lines = ids.slice(0, MOST_MISSED).map((id) => `- ${markdownCode(id)}`)
  return ['### Not exercised, and required (--require-exercised)', '', ...lines, ...more, '']
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
