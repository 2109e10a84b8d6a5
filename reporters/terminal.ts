import type { Colors } from 'picocolors/types'
import type { Report, Verdict } from '../harness/report/model.ts'
import { terminalText } from './escape/terminal.ts'
import { baselineLines } from './terminal/baseline.ts'
import { failureBlock } from './terminal/failure.ts'
import { reasonLines } from './terminal/reasons.ts'
import { summaryTable } from './terminal/summary-table.ts'
import { byCause } from './view/causes.ts'
import { count } from './view/counts.ts'
import { duration } from './view/duration.ts'
import { exitLine } from './view/exit-line.ts'
import { failed } from './view/failed.ts'
import { byReason } from './view/reasons.ts'
import { requiredButMissed } from './view/required.ts'
import { runNotes, seedLine } from './view/run-notes.ts'
import { verdictSentence } from './view/verdict-sentence.ts'

const tone = {
  conformant: 'green',
  passing: 'green',
  'non-conformant': 'red',
  'not-judged': 'yellow',
} as const satisfies Record<Verdict, keyof Colors>

const MOST_MISSED = 30

/**
 * The report for a terminal: failures with their evidence, what was not judged and why, counts, the verdict, and last why the
 * exit code is what it is.
 * @param notes what else there is to say of the run, a line each
 */
export function renderTerminal(report: Report, colors: Colors, notes: readonly string[] = []): string {
  const { run, target } = report
  const lines = [
    `${colors.bold(terminalText(target.name))}  ${colors.dim(terminalText(target.baseUrl))}`,
    '',
    ...byCause(failed(report).unexpected).flatMap((cause) => [...failureBlock(cause, colors), '']),
    ...baselineLines(run.baseline, colors),
    ...reasonLines('Not exercised', byReason(report, 'not-exercised'), colors),
    ...reasonLines('Not applicable', byReason(report, 'not-applicable'), colors),
    ...summaryTable(report.summary, colors),
    ...createdLines(report),
    ...runNotes(report).map((note) => terminalText(note)),
    `${count(run.requests, 'request')} in ${duration(run.durationMs)}; ${seedLine(report)}`,
    colors.bold(colors[tone[report.verdict]](terminalText(verdictSentence(report)))),
    ...notes.map((note) => terminalText(note)),
    ...missedLines(requiredButMissed(report)),
    colors.bold(terminalText(exitLine(report))),
  ]
  return `${lines.join('\n')}\n`
}

function missedLines(ids: readonly string[]): string[] {
  if (ids.length === 0) return []
  const more = ids.length > MOST_MISSED ? [`  and ${ids.length - MOST_MISSED} more: see the reports`] : []
  return ['not exercised, and required:', ...ids.slice(0, MOST_MISSED).map((id) => `  ${terminalText(id)}`), ...more]
}

function createdLines({ run }: Report): string[] {
  if (run.created.length === 0) return []
  const kinds = new Map<string, number>()
  for (const { operation } of run.created) kinds.set(operation, (kinds.get(operation) ?? 0) + 1)
  const each = [...kinds].map(([operation, times]) => `${times} by ${terminalText(operation)}`)
  return [`created: ${count(run.created.length, 'object')} (${each.join(', ')}); the JSON report names them`]
}
