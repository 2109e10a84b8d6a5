import { isObject } from '../../schemas/json-object.ts'
import { validate } from '../../schemas/validate.ts'
import type { Report } from './model.ts'
import { UserError } from '../user-error.ts'
import { parseJson, readBytes } from './json-file.ts'

/** A report and where it was read, which is what a refusal names. */
export interface ReportFile {
  readonly path: string
  readonly report: Report
}

/** Reads a report; throws UserError where the file cannot be read or holds none that fits its schema. */
export function readReport(path: string): ReportFile {
  return { path, report: parseReport(readBytes(path).toString('utf8'), path) }
}

export function parseReport(text: string, path: string): Report {
  const value = parseJson(text, path)
  if (!isObject(value) || value.format !== 'conformance-report/1') {
    throw new UserError(`${path}: is no report (its format is not conformance-report/1); write one with --report json`)
  }
  const validation = validate('report', value)
  if (!validation.valid) throw new UserError(`${path}: is no valid report: ${validation.problem}`)
  return value as unknown as Report
}
