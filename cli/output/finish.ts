import { complain, colorsFor } from './say.ts'
import type { Report } from '../../harness/report/model.ts'
import type { Exchanges } from '../../reporters/view/evidence.ts'
import { renderTerminal } from '../../reporters/terminal.ts'
import type { ReportRequest } from './report-request.ts'
import { writeReports } from './write-reports.ts'

/** Where the report for people goes: a stream, or whatever takes text. */
export interface People {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** What a command has to say at its end besides the report. */
export interface Ending {
  readonly requests: readonly ReportRequest[]
  readonly exchanges: () => Exchanges
  readonly people: People
  /** Printed before the report for people, and between its verdict and its last line. */
  readonly before?: string
  readonly notes?: readonly string[]
  /** `--verbose`: what the report for people would only count is shown. */
  readonly isVerbose?: boolean
  /** The command of the run, without what selects requirements. */
  readonly command?: string
}

/** Writes the reports and the one for people, whose last line says why the exit code is what it is, and sets that. Gives the report as it was written. */
export async function finish(report: Report, ending: Ending): Promise<Report> {
  const { before = '', command, exchanges, notes = [], isVerbose = false, people, requests } = ending
  const written = await writeReports(requests, { report, exchanges })
  for (const problem of written.problems) complain(problem)
  people.write(
    before +
      renderTerminal(written.report, colorsFor(people), {
        ...{ notes, isVerbose },
        written: written.written,
        ...(command === undefined ? {} : { command }),
        width: people.isTTY === true ? (people.columns ?? 80) : Infinity,
      }),
  )
  process.exitCode = written.report.exit.code
  return written.report
}
