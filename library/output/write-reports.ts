import { createWriteStream, mkdirSync, rmSync, createReadStream, existsSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { type Report, type RecordedExchange, withProblems } from '../../harness/report/index.ts'
import type { Exchanges } from '../../reporters/view/evidence.ts'
import { loadFormats } from '../../reporters/index.ts'
import { type Pieces, isWrittenDirectly, readable, stage, type ReportRequest } from './files.ts'
import { complain, colorsFor, type People, tell } from './say.ts'
import { columnsOf, type Line, renderTerminal } from '../../reporters/terminal.ts'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parsedJson } from '../../schemas/json.ts'

interface ReportSource {
  readonly report: Report
  /** Called once per report, since each reads from the beginning. */
  readonly exchanges: () => Exchanges
  readonly stdout?: NodeJS.WritableStream
}

/**
 * Writes each requested report atomically. If one fails, the others are still written, and say so, since it decides the
 * exit code. Returns the report as written, a sentence per failed file, and the written reports.
 */
export async function writeReports(
  requests: readonly ReportRequest[],
  { report, exchanges, stdout = process.stdout }: ReportSource,
) {
  const problems = new Map<ReportRequest, string>()
  const reportNow = (): Report => withProblems(report, [...problems.values()])
  const attempt = async <T>(
    request: ReportRequest,
    work: (text: Pieces) => T,
  ): Promise<Awaited<T> | undefined> => {
    try {
      const { [request.format]: render } = await loadFormats([request.format])
      return await work(render(reportNow(), exchanges()))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // Not a file system error.
      if (code === undefined) throw error
      problems.set(
        request,
        `--report ${request.format}=${request.path}: cannot be written (${code})`,
      )
      return undefined
    }
  }
  const draftAll = () =>
    Promise.all(
      requests
        .filter((request) => !isDirect(request) && !problems.has(request))
        .map(async (request) => ({
          request,
          file: await attempt(request, (text) => stage(request.path, text)),
        })),
    )
  let drafts = await draftAll()
  const print = (text: Pieces, path: string): Promise<void> =>
    path === '-'
      ? pipeline(readable(text), stdout, { end: false })
      : pipeline(readable(text), createWriteStream(path))
  await Promise.all(
    requests
      .filter(isDirect)
      .map((request) => attempt(request, (text) => print(text, request.path))),
  )
  if (problems.size > 0) {
    for (const { file } of drafts) file?.discard()
    drafts = await draftAll()
  }
  for (const { file, request } of drafts) await attempt(request, () => file?.commit())
  const written = requests.filter((request) => !problems.has(request))
  return { report: reportNow(), problems: [...problems.values()], written }
}

const isDirect = (reportRequest: ReportRequest): boolean =>
  reportRequest.path === '-' || isWrittenDirectly(reportRequest.path)

interface Ending {
  readonly requests: readonly ReportRequest[]
  readonly exchanges: () => Exchanges
  readonly people: People
  /** Printed before the terminal report, and between its verdict and its last line. */
  readonly before?: readonly Line[]
  readonly notes?: readonly string[]
  /** `--verbose`: shows what is otherwise only counted. */
  readonly isVerbose?: boolean
}

/** Writes the reports and the terminal output, and sets the exit code. Returns the report as written. */
export async function finish(report: Report, ending: Ending): Promise<Report> {
  const { before = [], exchanges, notes = [], isVerbose = false, people, requests } = ending
  const nothing = { report, problems: [], written: [] }
  const done = requests.length > 0 ? await writeReports(requests, { report, exchanges }) : nothing
  for (const problem of done.problems) complain(problem)
  tell(people, before)
  const shown = { notes, isVerbose, written: done.written, width: columnsOf(people) }
  people.write(renderTerminal(done.report, colorsFor(people), shown))
  process.exitCode = done.report.exit.code
  return done.report
}

/**
 * Makes a temporary folder for one run, removed at the latest when the process ends. If it cannot be made, only the HAR and
 * the passed exchanges of the page are lost.
 */
export function makeRunFolder() {
  const path = join(tmpdir(), `conform-run-${randomUUID()}`)
  const attempt = (work: () => void): void => {
    try {
      work()
    } catch {
      // The folder could not be made or removed.
    }
  }
  attempt(() => mkdirSync(path, { mode: 0o700 }))
  const remove = (): void => attempt(() => rmSync(path, { recursive: true, force: true }))
  process.once('exit', remove)
  return {
    path,
    remove() {
      process.off('exit', remove)
      remove()
    },
  }
}

/** The exchanges of a run; none if the log could not be written: failures have theirs, which is too little for a HAR. */
export function keptExchanges(
  log: string | undefined,
  problem: string | undefined,
  requests: readonly ReportRequest[],
) {
  if (problem === undefined) return { requests, exchanges: () => loggedExchanges(log) }
  return {
    requests: requests.filter((request) => request.format !== 'har'),
    exchanges: () => [],
  }
}

export async function* loggedExchanges(log: string | undefined): AsyncIterable<RecordedExchange> {
  if (log === undefined || !existsSync(log)) return
  for await (const line of createInterface({ input: createReadStream(log), crlfDelay: Infinity })) {
    const exchange = parsedJson(line) as RecordedExchange | undefined
    if (exchange) yield exchange
  }
}
