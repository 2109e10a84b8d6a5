import { join } from 'node:path'
import { renderHar } from '../../reporters/har.ts'
import { loggedExchanges } from '../../library/output/write-reports.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { reportOf } from '../../suites/run-report.ts'
import { exchangeProblems } from '../../traffic/held-exchanges.ts'
import { folder } from '../cli/conform.ts'
import type { Judged, JudgeSettings } from '../matrix/judge-reference.ts'

type Options = NonNullable<JudgeSettings['options']>

export interface OwnRun {
  readonly report: Report
  /** What the run sent, as its HAR has it. */
  readonly entries: any[]
}

/** Judges by that function, writing down what is sent. */
export async function ownRun(
  judge: (options: Options) => Promise<Judged>,
  options: Options = {},
): Promise<OwnRun> {
  const exchangeLog = join(folder(), 'exchanges.ndjson')
  const { facts, results, run } = await judge({ ...options, exchangeLog })
  const report = reportOf({
    target: run.target,
    options: run.options,
    startedAt: new Date(0),
    durationMs: 1,
    results: new Map(results.map((result) => [result.id, result])),
    facts,
  })
  let text = ''
  for await (const piece of renderHar(report, loggedExchanges(exchangeLog))) text += piece
  return { report, entries: (JSON.parse(text) as { log: { entries: any[] } }).log.entries }
}

export const problemsOf = ({ entries, report }: OwnRun): string[] =>
  exchangeProblems(report, entries)
