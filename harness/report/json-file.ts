import { type JSONVisitor, parse, visit } from 'jsonc-parser'
import { readFileSync } from 'node:fs'
import { isObject } from '../../schemas/json.ts'
import { validate } from '../../schemas/validate.ts'
import { unreadable, UserError } from '../user-error.ts'
import type { Report } from './report-schema.ts'

export function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw unreadable(path, error)
  }
}

/**
 * Parses JSON from that path; throws UserError with a one-line message, which quotes nothing, since the text may contain
 * a key. What a person writes may have comments, and no member twice: readers interpret that differently.
 */
export function parseJson(text: string, path: string, isHandwritten = false): unknown {
  const bare = text.replace(/^\uFEFF/, '')
  if (bare.trim() === '') throw new UserError(`${path}: is empty, not JSON`)
  try {
    if (!isHandwritten) return JSON.parse(bare)
  } catch {}
  let problem: string | undefined
  const note = (what: string, line: number, column: number): void =>
    void (problem ??= `${path}: ${what} at line ${line + 1}, column ${column + 1}`)
  const seen = new Set<string>()
  const visitor: JSONVisitor = {
    onError: (...[, , , line, column]) => note('is not JSON', line, column),
    onObjectProperty(name, ...[, , line, column, pathOf]) {
      const place = JSON.stringify([...pathOf(), name])
      if (seen.has(place)) note(`"${name}" appears twice`, line, column)
      seen.add(place)
    },
  }
  try {
    visit(bare, visitor, { disallowComments: !isHandwritten, allowTrailingComma: isHandwritten })
    if (problem === undefined) return parse(bare, [], { allowTrailingComma: true })
  } catch {
    problem = `${path}: is nested too deeply`
  }
  throw new UserError(problem)
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
    throw new UserError(
      `${path}: is not a report (its format is not ${FORMAT}); write one with --report json`,
    )
  const validation = validate('report', value)
  if (!validation.valid)
    throw new UserError(`${path}: is not a valid report: ${validation.problem}`)
  return value as unknown as Report
}
