import { mkdirSync, rmSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import type { Reporter, TestModule, TestRunEndReason, Vitest } from 'vitest/node'
import {
  checkOutputs,
  hasEveryExchange,
  parseReportRequests,
  reportFiles,
  type ReportRequest,
  keptExchanges,
  makeRunFolder,
  writeReports,
} from '../output.ts'
import { terminalText } from '../../reporters/text.ts'
import { columnsOf, laidOut } from '../../reporters/terminal.ts'
import { nextSteps } from '../../reporters/view/next-steps.ts'
import { standingOf } from '../../reporters/view/standing.ts'
import type { Report } from '../../harness/report/index.ts'
import type { Handover } from './index.ts'

export interface ReporterOptions {
  /** Values of `--report`: `json`, `html=reports/conform.html`; default `json`. Paths are relative to the project. */
  readonly reports?: readonly string[]
}

/** Writes conform reports from a vitest run, one set per `describeConformance`. */
export default class ConformanceReporter implements Reporter {
  #requests: readonly ReportRequest[]
  #folder: string | undefined
  #print: (line: string) => void = () => undefined

  /** Throws UserError for an unknown format. */
  constructor(options: ReporterOptions = {}) {
    this.#requests = parseReportRequests(options.reports ?? ['json'])
  }

  /** Throws UserError for a report that cannot be written, before anything is sent. */
  onInit(vitest: Vitest): void {
    const { config, logger } = vitest
    this.#requests = this.#requests.map((request) => ({
      ...request,
      path: request.path === '-' ? '-' : resolve(config.root, request.path),
    }))
    checkOutputs(reportFiles(this.#requests), {})
    this.#print = (line) => logger.log(line)
    if (!this.#requests.some(hasEveryExchange)) return
    this.#folder = makeRunFolder().path
    vitest.provide('conformExchanges', this.#folder)
  }

  onTestRunStart(): void {
    if (this.#folder === undefined) return
    try {
      // In watch mode, the previous run removed it.
      mkdirSync(this.#folder, { recursive: true })
    } catch {
      // The run itself reports that exchanges could not be kept.
    }
  }

  async onTestRunEnd(
    modules: readonly TestModule[],
    _errors: unknown,
    reason: TestRunEndReason,
  ): Promise<void> {
    const handovers = modules.flatMap((module) => module.meta().conformance ?? [])
    if (reason === 'interrupted' && handovers.length === 0)
      this.#print('conform: vitest stopped before there was a report: none is written')
    try {
      for (const [at, handover] of handovers.entries()) await this.#write(handover, at)
    } finally {
      if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
    }
  }

  async #write(handover: Handover, at: number): Promise<void> {
    const { exchangeLog: log, recordingProblem: problem, report: whole } = handover
    const { exchanges, requests } = keptExchanges(log, problem, this.#requests)
    const note =
      problem === undefined
        ? []
        : [`${problem}: no HAR is written, and HTML shows the exchanges of failures only`]
    const files = requests.map((request) => ({
      format: request.format,
      path: numbered(request.path, at),
    }))
    const { problems, report, written } = await writeReports(files, { report: whole, exchanges })
    for (const line of [...note, ...problems]) this.#print(`conform: ${terminalText(line)}`)
    if (problems.length > 0) process.exitCode = 2
    const paths = written.map((one) => (one.path === '-' ? 'stdout' : one.path))
    for (const line of summaryLines(report, paths)) this.#print(line)
  }
}

/** The verdict, the first thing to do next, and where the reports are: why a test is skipped is with the test and in the reports. */
function summaryLines(report: Report, paths: readonly string[]): string[] {
  const { run, target } = report
  const [next] = nextSteps(report).filter((one) => !one.command?.includes(' --failed'))
  const lines = [
    `conform: ${target.name}: ${standingOf(report).sentence}`,
    ...(next === undefined
      ? []
      : [`  next: ${[next.text, next.command].filter(Boolean).join(' ')}`]),
    `  seed ${run.seed}; reports: ${paths.join(', ') || 'none'}`,
  ]
  return laidOut(
    lines.map((line) => terminalText(line, 400)),
    columnsOf(process.stdout),
  )
}

/** Makes `conform-report.2.json` for the second report of a run. */
function numbered(path: string, at: number): string {
  if (path === '-' || at === 0) return path
  const extension = extname(path)
  return `${path.slice(0, path.length - extension.length)}.${at + 1}${extension}`
}
