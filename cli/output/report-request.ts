import { nearest } from '../../harness/target-file/nearest.ts'
import { UserError } from '../../harness/user-error.ts'
import { formatFiles, type FormatName } from '../../reporters/format-files.ts'

/** A report that `--report` asks for, and where to; `-` is stdout. */
export interface ReportRequest {
  readonly format: FormatName
  readonly path: string
}

/** Reads the values of `--report <format>[=<path>]`; throws UserError on a wrong one, and if two want the same place. */
export function parseReportRequests(values: readonly string[], allowed = formatNames): ReportRequest[] {
  const requests = values.map((value) => parseOne(value, allowed))
  requests.forEach(({ path }, index) => {
    const other = requests.findIndex((request) => request.path === path)
    if (other === index) return
    const place = path === '-' ? 'stdout (-)' : path
    throw new UserError(`--report ${values[index]}: ${place} is taken by --report ${values[other]}`)
  })
  return requests
}

export const formatNames = Object.keys(formatFiles) as FormatName[]

/** Whether a report takes stdout, so that what is for people goes to stderr. */
export function takesStdout(requests: readonly ReportRequest[]): boolean {
  return requests.some((request) => request.path === '-')
}

function parseOne(value: string, allowed: readonly FormatName[]): ReportRequest {
  const [name, ...rest] = value.split('=')
  const format = allowed.find((known) => known === name)
  if (format === undefined) {
    const meant = formatMeant(name!, allowed)
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    throw new UserError(`--report ${value}: ${name} is not a format here${hint} (${allowed.join(', ')})`)
  }
  const path = rest.length === 0 ? formatFiles[format] : rest.join('=')
  if (path === '') throw new UserError(`--report ${value}: give a path after =, or - for stdout`)
  return { format, path }
}

/** By the ending of its file, or with a slip. */
function formatMeant(name: string, allowed: readonly FormatName[]): FormatName | undefined {
  const word = name.toLowerCase()
  const byFile = allowed.find((known) => formatFiles[known].endsWith(`.${word}`))
  return byFile ?? (nearest(word, allowed) as FormatName | undefined)
}
