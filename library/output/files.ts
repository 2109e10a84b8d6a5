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
import { nearest } from '../../harness/target/index.ts'

/** A file that is going to be written, and what asked for it: `--report json=a.json`. */
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
 * Writes the text to a temporary file beside the path, which takes its place on `commit`; a process that ends before leaves nothing.
 * Throws what the file system throws.
 */
export async function stage(path: string, text: Pieces) {
  const temporary = besideOf(path)
  const discard = (): void => {
    rmSync(temporary, { force: true })
    unfinished.delete(temporary)
  }
  unfinished.add(temporary)
  try {
    // Opened at once: a stream that fails before it has opened its file would make it afterwards.
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

/** Writes files that belong together, each whole or not at all; throws UserError that names the first that cannot be. */
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

/** Whether there is a pipe or a device, which no file can replace. */
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

/** Files that are read, by what each is (`the target file`): none of the outputs may be one of them. */
export type InputFiles = Readonly<Record<string, string | undefined>>

/**
 * Looks at every output before anything is sent: makes its folder, and throws UserError if it cannot be written, holds a
 * key, is one of the inputs, or the same file as another output under another name or through a link.
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
        `${output.option}: holds a key, which is never overwritten; give another file`,
      )
    }
    const twin = outputs.slice(0, index).find(({ path }) => identityOf(path) === identity)
    // A device takes any number of them.
    if (twin && existing(output.path)?.isFile() !== false)
      throw new UserError(`${output.option}: is the same file as ${twin.option}`)
  }
}

function refuseUnwritable({ option, path }: OutputFile): void {
  try {
    makeFolder(dirname(resolve(path)))
    if (existing(path)?.isDirectory()) throw new UserError(`${option}: is a folder`)
    if (isWrittenDirectly(path)) return accessSync(path, constants.W_OK)
    // Only writing shows a read-only disk or a quota, and whether root may write.
    const probe = besideOf(path)
    closeSync(openSync(probe, 'wx'))
    rmSync(probe)
  } catch (error) {
    if (error instanceof UserError) throw error
    throw unwritable(option, error)
  }
}

/** Identity of a file, equal for all its names: links, other spellings of its folder. */
function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  if (stat) return `${stat.dev}:${stat.ino}`
  const folder = dirname(resolve(path))
  return join(followed(folder), basename(path))
}

/** What a path leads to, for a file that is read as well. */
export function followed(path: string): string {
  return existing(path) ? realpathSync(path) : path
}

/** Whether that file is one with a PEM key; a page or JSON that quotes a key is not. */
export function holdsKey(path: string): boolean {
  if (!existing(path)?.isFile()) return false
  try {
    const text = readFileSync(path, 'latin1')
    return !/^\s*[<{[]/.test(text) && /^-----BEGIN [A-Z0-9 ]*KEY( BLOCK)?-----/m.test(text)
  } catch {
    // A file that cannot be read may hold a key.
    return true
  }
}

export const formatFiles = Object.fromEntries(
  formatNames.map((name) => [name, formats[name].file]),
) as Readonly<Record<FormatName, string>>

/** A report that `--report` asks for, and where to; `-` is stdout. */
export interface ReportRequest<Name extends string = FormatName> {
  readonly format: Name
  readonly path: string
}

type FormatFiles<Name extends string> = Readonly<Record<Name, string>>

/**
 * Reads the values of `--report <format>[=<path>]`; throws UserError on a wrong one, and if two want the same place.
 * @param files the formats that there are, and the file of each if no path is given
 */
export function parseReportRequests<Name extends string = FormatName>(
  values: readonly string[],
  files = formatFiles as FormatFiles<Name>,
): ReportRequest<Name>[] {
  const requests = values.map((value) => parseOne(value, files) as ReportRequest<Name>)
  requests.forEach(({ path }, index) => {
    const other = requests.findIndex((request) => request.path === path)
    if (other === index) return
    const place = path === '-' ? 'stdout (-)' : path
    throw new UserError(`--report ${values[index]}: ${place} is taken by --report ${values[other]}`)
  })
  return requests
}

function parseOne(value: string, files: FormatFiles<string>): ReportRequest<string> {
  const [format = '', ...rest] = value.split('=')
  const names = Object.keys(files)
  if (!names.includes(format)) {
    const word = format.toLowerCase()
    const meant = names.find((name) => files[name]!.endsWith(`.${word}`)) ?? nearest(word, names)
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    throw new UserError(
      `--report ${value}: ${format} is not a format here${hint} (${names.join(', ')})`,
    )
  }
  const path = rest.length === 0 ? files[format]! : rest.join('=')
  if (path === '') throw new UserError(`--report ${value}: give a path after =, or - for stdout`)
  return { format, path }
}

/** Whether one of them shows every exchange. */
export function keepsExchanges(requests: readonly ReportRequest[]): boolean {
  return requests.some(({ format }) => 'hasEveryExchange' in formats[format])
}

export function takesStdout(requests: readonly { readonly path: string }[]): boolean {
  return requests.some(({ path }) => path === '-')
}

export function streamForPeople(
  requests: readonly { readonly path: string }[],
): NodeJS.WriteStream {
  return takesStdout(requests) ? process.stderr : process.stdout
}

/** Reads `--report`, looks at each file as `checkOutputs` does, and gives the stream of the report for people besides. */
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
    .filter(({ path }) => path !== '-')
    .map(({ format, path }) => ({ format, path, option: `--report ${format}=${path}` }))
}
