import { visit } from 'jsonc-parser'
import { readFileSync } from 'node:fs'
import { isObject } from '../../schemas/json.ts'
import { validate } from '../../schemas/validate.ts'
import { unreadable, UserError } from '../user-error.ts'
import type { Report } from './report-schema.ts'

/** Reads a file that the user named; throws UserError. */
export function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw unreadable(path, error)
  }
}

export function parseJson(text: string, path: string): unknown {
  const bare = text.replace(/^\uFEFF/, '')
  if (bare.trim() === '') throw new UserError(`${path}: is empty, not JSON`)
  try {
    return JSON.parse(bare)
  } catch {
    const at = firstError(bare)
    throw new UserError(
      `${path}: is not JSON${at ? ` at line ${at.line + 1}, column ${at.column + 1}` : ''}`,
    )
  }
}

/** Locates the first syntax error, zero-based. The parser's own message quotes the text, which may contain a key. */
function firstError(text: string) {
  let first: { readonly offset: number; readonly line: number; readonly column: number } | undefined
  const onError = (
    ...[, offset, , line, column]: [unknown, number, unknown, number, number]
  ): void => void (first ??= { offset, line, column })
  visit(text, { onError }, { disallowComments: true })
  return first
}

export function doubledMember(
  text: string,
): { readonly name: string; readonly offset: number } | undefined {
  let doubled: { name: string; offset: number } | undefined
  const seen: Set<string>[] = []
  visit(text, {
    onObjectBegin: () => void seen.push(new Set()),
    onObjectEnd: () => void seen.pop(),
    onObjectProperty(name, offset) {
      if (seen.at(-1)?.has(name)) doubled ??= { name, offset }
      seen.at(-1)?.add(name)
    },
  })
  return doubled
}

const FORMAT = 'conformance-report/1'

export interface ReportFile {
  readonly path: string
  readonly report: Report
}

export function readReport(path: string): ReportFile {
  return { path, report: parseReport(readBytes(path).toString('utf8'), path) }
}

export function parseReport(text: string, path: string): Report {
  const value = parseJson(text, path)
  if (!isObject(value) || value.format !== FORMAT)
    throw new UserError(`${path}: ${whyNoReport(value)}`)
  const validation = validate('report', value)
  if (!validation.valid)
    throw new UserError(`${path}: is not a valid report: ${validation.problem}`)
  return value as unknown as Report
}

function whyNoReport(value: unknown): string {
  const format = isObject(value) ? value.format : undefined
  const number =
    typeof format === 'string' ? /^conformance-report\/(\d{1,9})$/.exec(format)?.[1] : undefined
  if (Number(number) > 1) {
    return `is a report of a newer format (${String(format)}); this version reads ${FORMAT}: update the suite`
  }
  return `is not a report (its format is not ${FORMAT}); write one with --report json`
}
