import type { JSONVisitor } from 'jsonc-parser'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isObject } from '../../schemas/json.ts'
import { validate } from '../../schemas/validate.ts'
import { unreadable, UserError } from '../user-error.ts'
import type { Report } from '../../schemas/report.ts'

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
    const value = JSON.parse(bare) as unknown
    if (!isHandwritten) return value
    // Of a member that is there twice, one is lost. In JSON, a string before a colon is a name.
    const strings = [...bare.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)]
    if (strings.filter((match) => match[1] !== undefined).length === membersOf(value)) return value
  } catch {}
  // Loaded on demand: it names the place of a mistake.
  const require = createRequire(import.meta.url)
  const { parse, visit } = require('jsonc-parser') as typeof import('jsonc-parser')
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

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inside = Object.values(value)
  const own = Array.isArray(value) ? 0 : inside.length
  return inside.reduce((sum: number, one) => sum + membersOf(one), own)
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
