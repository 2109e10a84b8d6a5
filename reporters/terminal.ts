import type { Colors } from 'picocolors/types'
import type { Report, Verdict } from '../harness/report/model.ts'
import { terminalText } from './escape/terminal.ts'
import { baselineLines } from './terminal/baseline.ts'
import { failureBlock } from './terminal/failure.ts'
import { reasonLines } from './terminal/reasons.ts'
import { summaryTable } from './terminal/summary-table.ts'
import { count } from './view/counts.ts'
import { duration } from './view/duration.ts'
import { failed } from './view/failed.ts'
import { byReason } from './view/reasons.ts'
import { runNotes, seedLine } from './view/run-notes.ts'
import { verdictSentence } from './view/verdict-sentence.ts'

const tone = {
  conformant: 'green',
  passing: 'green',
  'non-conformant': 'red',
  'not-judged': 'yellow',
} as const satisfies Record<Verdict, keyof Colors>

/** The report for a terminal: failures with their evidence, what was not judged and why, counts, and the verdict last. */
export function renderTerminal(report: Report, colors: Colors): string {
  const { run, target } = report
  const lines = [
    `${colors.bold(terminalText(target.name))}  ${colors.dim(terminalText(target.baseUrl))}`,
    '',
    ...failed(report).unexpected.flatMap((result) => [...failureBlock(result, colors), '']),
    ...baselineLines(run.baseline, colors),
    ...reasonLines('Not exercised', byReason(report, 'not-exercised'), colors),
    ...reasonLines('Not applicable', byReason(report, 'not-applicable'), colors),
    ...summaryTable(report.summary, colors),
    ...createdLines(report),
    ...runNotes(report).map((note) => terminalText(note)),
    `${count(run.requests, 'request')} in ${duration(run.durationMs)}; ${seedLine(report)}`,
    colors.bold(colors[tone[report.verdict]](terminalText(verdictSentence(report)))),
  ]
  return `${lines.join('\n')}\n`
}

function createdLines({ run }: Report): string[] {
  if (run.created.length === 0) return []
  const kinds = new Map<string, number>()
  for (const { operation } of run.created) kinds.set(operation, (kinds.get(operation) ?? 0) + 1)
  const each = [...kinds].map(([operation, times]) => `${times} by ${terminalText(operation)}`)
  return [`created: ${count(run.created.length, 'object')} (${each.join(', ')}); the JSON report names them`]
}
