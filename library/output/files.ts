import {
  accessSync,
  closeSync,
  constants,
  createWriteStream,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { makeFolder } from '../../harness/make-folder.ts'
import { basename, dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { unwritable, UserError } from '../../harness/user-error.ts'
import { type FormatName, formatNames, formats } from '../../reporters/index.ts'

/** A file to write, and the option that asked for it: `--report json=a.json`. */
export interface OutputFile {
  readonly path: string
  readonly option: string
}

export type Pieces = string | Uint8Array | AsyncIterable<string>

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
    const fd = openSync(temporary, 'wx', modeOf(path))
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
      } finally {
        discard()
      }
    },
  }
}

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
export function isWrittenDirectly(path: string): boolean {
  return existing(path)?.isFile() === false
}

function existing(path: string): ReturnType<typeof statSync> {
  return statSync(path, { throwIfNoEntry: false })
}

function modeOf(path: string): number {
  return Number(existing(path)?.mode ?? 0o666) & 0o777
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
    // Several outputs may share a device.
    if (twin && existing(output.path)?.isFile() !== false)
      throw new UserError(`${output.option}: is the same file as ${twin.option}`)
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
export function holdsKey(path: string): boolean {
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

export function keepsExchanges(requests: readonly ReportRequest[]): boolean {
  return requests.some((request) => 'hasEveryExchange' in formats[request.format])
}

export function takesStdout(requests: readonly { readonly path: string }[]): boolean {
  return requests.some((request) => request.path === '-')
}

export function streamForPeople(
  requests: readonly { readonly path: string }[],
): NodeJS.WriteStream {
  return takesStdout(requests) ? process.stderr : process.stdout
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

export function reportFiles<Name extends string>(
  requests: readonly ReportRequest<Name>[],
): (ReportRequest<Name> & OutputFile)[] {
  return requests
    .filter((request) => request.path !== '-')
    .map((request) => ({
      format: request.format,
      path: request.path,
      option: `--report ${request.format}=${request.path}`,
    }))
}
