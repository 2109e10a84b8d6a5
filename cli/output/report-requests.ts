import { type FormatName, formatNames, formats } from '../../reporters/index.ts'
import { UserError } from '../../harness/user-error.ts'
import { nearest } from '../../harness/target-file/index.ts'
import { type InputFiles, checkOutputs, type OutputFile } from './files.ts'

/** The formats that `--report` can ask for, and the file of each. */
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
    // The ending of its file is given, or a slip.
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
