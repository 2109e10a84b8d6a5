import {
  createWriteStream,
  mkdirSync,
  rmSync,
  createReadStream,
  existsSync,
  accessSync,
  closeSync,
  constants,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { type Report, type RecordedExchange, withProblems } from '../harness/report/index.ts'
import type { Exchanges } from '../reporters/view/evidence.ts'
import { type FormatName, formatNames, formats, type Render } from '../reporters/index.ts'
import { columnsOf, type Line, renderTerminal, laidOut } from '../reporters/terminal.ts'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join, basename, dirname, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { parsedJson } from '../schemas/json.ts'
import pc from 'picocolors'
import type { Colors } from 'picocolors/types'
import { terminalLines } from '../reporters/text.ts'
import { printed } from '../harness/recording/redactor.ts'
import { Readable } from 'node:stream'
import { unwritable, UserError } from '../harness/user-error.ts'

interface ReportSource {
  readonly report: Report
  /** Called once per report, since each reads from the beginning. */
  readonly exchanges: () => Exchanges
}

/**
 * Writes each requested report atomically. If one fails, the others are still written, and say so, since it decides the
 * exit code. Returns the report as written, a sentence per failed file, and the written reports.
 */
export async function writeReports(requests: readonly ReportRequest[], source: ReportSource) {
  const problems = new Map<ReportRequest, string>()
  const attempt = async <T>(
    request: ReportRequest,
    work: (text: Pieces) => T,
  ): Promise<Awaited<T> | undefined> => {
    try {
      const render: Render = await formats[request.format].load()
      return await work(
        render(withProblems(source.report, [...problems.values()]), source.exchanges()),
      )
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // Not a file system error.
      if (code === undefined) throw error
      problems.set(request, unwritable(optionOf(request), error).message)
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
      ? pipeline(readable(text), process.stdout, { end: false })
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
  const sentences = [...problems.values()]
  return { report: withProblems(source.report, sentences), problems: sentences, written }
}

const isDirect = (reportRequest: ReportRequest): boolean =>
  reportRequest.path === '-' || isWrittenDirectly(reportRequest.path)

interface Ending {
  readonly requests: readonly ReportRequest[]
  readonly exchanges: () => Exchanges
  readonly people: People
  /** Printed between the verdict and the last line of the terminal report. */
  readonly notes?: readonly string[]
  /** `--verbose`: shows what is otherwise only counted. */
  readonly isVerbose?: boolean
}

/** Writes the reports and the terminal output, and sets the exit code. Returns the report as written. */
export async function finish(report: Report, ending: Ending): Promise<Report> {
  const { exchanges, notes = [], isVerbose = false, people, requests } = ending
  const none = { report, problems: [], written: [] }
  const done = requests.length > 0 ? await writeReports(requests, { report, exchanges }) : none
  for (const problem of done.problems) complain(problem)
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

interface People {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

export function tell(people: People, lines: readonly Line[]): void {
  people.write(
    laidOut(lines, columnsOf(people))
      .map((line) => `${line}\n`)
      .join(''),
  )
}

/** Prints an error to stderr, without keys, control characters and CI commands: it may quote untrusted text. */
export function complain(text: string, kind = ''): void {
  const { isTTY } = process.stderr
  const colors = isTTY ? colorsFor(process.stderr) : pc.createColors(false)
  const paint = kind === '' ? colors.red : colors.yellow
  const [first, ...others] = terminalLines(printed.keys.text(text)).split('\n')
  tell(process.stderr, [`${paint(`conform:${kind}`)} ${first}`, ...others])
}

export function warnOf(text: string): void {
  complain(text, ' warning:')
}

/**
 * Colours for a stream. NO_COLOR (https://no-color.org) and FORCE_COLOR decide if set; picocolors does not know that
 * `FORCE_COLOR=0` and `TERM=dumb` mean none.
 */
export function colorsFor(
  stream: { readonly isTTY?: boolean },
  env: NodeJS.ProcessEnv = process.env,
): Colors {
  const { CI = '', FORCE_COLOR: forced, NO_COLOR, TERM } = env
  const off = ['', '0', 'false']
  // CI logs show colours, though they are not terminals.
  const isUsual = TERM !== 'dumb' && (stream.isTTY === true || !off.includes(CI))
  return pc.createColors(!NO_COLOR && (forced ? !off.includes(forced) : isUsual))
}

/** A file to write, and the option that asked for it: `--report json=a.json`. */
interface OutputFile {
  readonly path: string
  readonly option: string
}

type Pieces = string | Uint8Array | AsyncIterable<string>

const unfinished = new Set<string>()
process.once('exit', () => {
  for (const path of unfinished) rmSync(path, { force: true })
})

/**
 * Writes the text to a temporary file beside the path, which replaces it on `commit`; if the process ends earlier,
 * nothing is left. Throws file system errors.
 */
export async function stage(path: string, text: Pieces) {
  const temporary = besideOf(path)
  const discard = (): void => {
    rmSync(temporary, { force: true })
    unfinished.delete(temporary)
  }
  unfinished.add(temporary)
  try {
    // Opened at once: a stream that fails before opening its file would create it afterwards.
    const fd = openSync(temporary, 'wx', Number(existing(path)?.mode ?? 0o666) & 0o777)
    await pipeline(readable(text), createWriteStream(temporary, { fd }))
  } catch (error) {
    discard()
    throw error
  }
  return {
    discard,
    commit(): void {
      try {
        renameSync(temporary, path)
        unfinished.delete(temporary)
      } catch (error) {
        discard()
        throw error
      }
    },
  }
}

/** `stage` and `commit` in one; a device or a pipe cannot be replaced, and is written directly. */
export async function writeAtomically(path: string, text: string | Uint8Array): Promise<void> {
  if (isWrittenDirectly(path)) writeFileSync(path, text)
  else (await stage(path, text)).commit()
}

/** Writes related files, each atomically; throws UserError for the first that cannot be written. */
export async function writeFiles(
  files: readonly (readonly [OutputFile, string | Uint8Array])[],
): Promise<void> {
  for (const [{ path, option }, bytes] of files) {
    try {
      await writeAtomically(path, bytes)
    } catch (error) {
      throw unwritable(option, error)
    }
  }
}

function besideOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}.partial`)
}

/** Whether the path is a pipe or a device, which cannot be replaced. */
function isWrittenDirectly(path: string): boolean {
  return existing(path)?.isFile() === false
}

function existing(path: string): ReturnType<typeof statSync> {
  return statSync(path, { throwIfNoEntry: false })
}

export function readable(text: Pieces): Readable {
  return Readable.from(typeof text === 'string' || text instanceof Uint8Array ? [text] : text)
}

/** Input files by description (`the target file`): no output may overwrite one. */
export type InputFiles = Readonly<Record<string, string | undefined>>

/**
 * Checks every output before anything is sent: makes its folder, and throws UserError if it cannot be written, holds a
 * key, or is the same file as an input or another output, also through links.
 */
export function checkOutputs(outputs: readonly OutputFile[], inputs: InputFiles): void {
  for (const [index, output] of outputs.entries()) {
    refuseUnwritable(output)
    const identity = identityOf(output.path)
    const input = Object.entries(inputs).find(
      ([, path]) => path !== undefined && identityOf(path) === identity,
    )
    if (input)
      throw new UserError(`${output.option}: would overwrite ${input[0]}; give another file`)
    if (holdsKey(output.path)) {
      throw new UserError(
        `${output.option}: contains a key, which is never overwritten; give another file`,
      )
    }
    const twin = outputs.slice(0, index).find((output) => identityOf(output.path) === identity)
    if (twin) throw new UserError(`${output.option}: is the same file as ${twin.option}`)
  }
}

function refuseUnwritable(outputFile: OutputFile): void {
  try {
    makeFolder(dirname(resolve(outputFile.path)))
    if (existing(outputFile.path)?.isDirectory())
      throw new UserError(`${outputFile.option}: is a folder`)
    if (isWrittenDirectly(outputFile.path)) return accessSync(outputFile.path, constants.W_OK)
    // Write a file: `accessSync` misses a read-only disk and a quota, and always succeeds for root.
    const probe = besideOf(outputFile.path)
    closeSync(openSync(probe, 'wx'))
    rmSync(probe)
  } catch (error) {
    if (error instanceof UserError) throw error
    throw unwritable(outputFile.option, error)
  }
}

/** Identity of a file, equal for all its names and links. */
function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  if (stat) return `${stat.dev}:${stat.ino}`
  const folder = dirname(resolve(path))
  return join(followed(folder), basename(path))
}

export function followed(path: string): string {
  return existing(path) ? realpathSync(path) : path
}

/** Whether the file is a PEM key; a page or JSON that quotes one does not count. */
function holdsKey(path: string): boolean {
  if (!existing(path)?.isFile()) return false
  try {
    const text = readFileSync(path, 'latin1')
    return !/^\s*[<{[]/.test(text) && /^-----BEGIN [A-Z0-9 ]*KEY( BLOCK)?-----/m.test(text)
  } catch {
    // An unreadable file may hold a key.
    return true
  }
}

export const formatFiles = Object.fromEntries(
  formatNames.map((name) => [name, formats[name].file]),
) as Readonly<Record<FormatName, string>>

/** A report requested by `--report`, and its path; `-` is stdout. */
export interface ReportRequest<Name extends string = FormatName> {
  readonly format: Name
  readonly path: string
}

type FormatFiles<Name extends string> = Readonly<Record<Name, string>>

/**
 * Parses the values of `--report <format>[=<path>]`; throws UserError on a wrong one, or if two share a path.
 * @param files the known formats with their default files
 */
export function parseReportRequests<Name extends string = FormatName>(
  values: readonly string[],
  files = formatFiles as FormatFiles<Name>,
): ReportRequest<Name>[] {
  const requests = values.map((value) => parseOne(value, files) as ReportRequest<Name>)
  requests.forEach((one, index) => {
    const other = requests.findIndex((request) => request.path === one.path)
    if (other === index) return
    const place = one.path === '-' ? 'stdout (-)' : one.path
    throw new UserError(`--report ${values[index]}: ${place} is taken by --report ${values[other]}`)
  })
  return requests
}

function parseOne(value: string, files: FormatFiles<string>): ReportRequest<string> {
  const [format = '', ...rest] = value.split('=')
  const names = Object.keys(files)
  if (!names.includes(format))
    throw new UserError(`--report ${value}: ${format} is not a format here (${names.join(', ')})`)
  const path = rest.length === 0 ? files[format]! : rest.join('=')
  if (path === '') throw new UserError(`--report ${value}: give a path after =, or - for stdout`)
  return { format, path }
}

export function hasEveryExchange(request: ReportRequest): boolean {
  return 'hasEveryExchange' in formats[request.format]
}

/** A report may take stdout; the terminal report then goes to stderr. */
export function streamForPeople(
  requests: readonly { readonly path: string }[],
): NodeJS.WriteStream {
  return requests.some((request) => request.path === '-') ? process.stderr : process.stdout
}

/** Parses `--report`, checks the files (`checkOutputs`), and chooses the stream for the terminal report. */
export function plannedReports<Name extends string = FormatName>(
  values: readonly string[],
  inputs: InputFiles,
  files = formatFiles as FormatFiles<Name>,
) {
  const requests = parseReportRequests(values, files)
  checkOutputs(reportFiles(requests), inputs)
  return { requests, people: streamForPeople(requests) }
}

const optionOf = (request: ReportRequest<string>): string =>
  `--report ${request.format}=${request.path}`

export function reportFiles<Name extends string>(
  requests: readonly ReportRequest<Name>[],
): (ReportRequest<Name> & OutputFile)[] {
  return requests
    .filter((request) => request.path !== '-')
    .map((request) => ({ ...request, option: optionOf(request) }))
}

/**
 * Makes a folder and its parents. Node's recursive `mkdirSync` never returns where nothing can be made, as below /proc.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  const above = dirname(resolve(path))
  if (above !== resolve(path)) makeFolder(above)
  try {
    mkdirSync(path)
  } catch (error) {
    // Another run may have just made it.
    if (!existsSync(path)) throw error
  }
}
