import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join, resolve } from 'node:path'
import type { Reporter, TestModule, Vitest } from 'vitest/node'
import { loggedExchanges } from '../cli/output/logged-exchanges.ts'
import { parseReportRequests, type ReportRequest } from '../cli/output/report-request.ts'
import { writeReports } from '../cli/output/write-reports.ts'
import type { Handover } from './handover.ts'

export interface ReporterOptions {
  /** As behind `--report`: `json`, `html=reports/conform.html`; default `json`. */
  readonly reports?: readonly string[]
}

/** Formats that hold the exchanges of a run. */
const exchangeFormats = ['har', 'html']

/** Writes the reports of conform from a run of vitest: one set for each `describeConformance`. */
export default class ConformanceReporter implements Reporter {
  readonly #requests: readonly ReportRequest[]
  readonly #folder: string | undefined
  #root = process.cwd()
  #print: (line: string) => void = () => undefined

  constructor({ reports = ['json'] }: ReporterOptions = {}) {
    this.#requests = parseReportRequests(reports)
    if (!this.#requests.some(({ format }) => exchangeFormats.includes(format))) return
    const folder = mkdtempSync(join(tmpdir(), 'conform-vitest-'))
    this.#folder = folder
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  }

  onInit(vitest: Vitest): void {
    this.#root = vitest.config.root
    this.#print = (line) => vitest.logger.log(line)
    if (this.#folder !== undefined) vitest.provide('conformExchanges', this.#folder)
  }

  onTestRunStart(): void {
    // In watch mode it was removed after the run before.
    if (this.#folder !== undefined) mkdirSync(this.#folder, { recursive: true })
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const handovers = modules.flatMap((module) => module.meta().conformance ?? [])
    try {
      for (const [at, handover] of handovers.entries()) await this.#write(handover, at)
    } finally {
      if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
    }
  }

  async #write({ report, exchangeLog }: Handover, at: number): Promise<void> {
    const requests = this.#requests.map(({ format, path }) => ({ format, path: this.#pathOf(path, at) }))
    const { problems } = await writeReports(requests, { report, exchanges: () => loggedExchanges(exchangeLog) })
    for (const problem of problems) this.#print(`conform: ${problem}`)
    if (problems.length > 0) process.exitCode = 2
    const written = requests.map(({ path }) => path).filter((path) => path !== '-')
    this.#print(`conform: ${report.target.name} is ${report.verdict}, seed ${report.run.seed}: ${written.join(', ')}`)
  }

  /** Relative to the project; the second report of a run is `conform-report.2.json`. */
  #pathOf(path: string, at: number): string {
    if (path === '-') return path
    const whole = resolve(this.#root, path)
    const extension = extname(whole)
    return at === 0 ? whole : `${whole.slice(0, whole.length - extension.length)}.${at + 1}${extension}`
  }
}
