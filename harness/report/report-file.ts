import { isObject } from '../../schemas/json-object.ts'
import { validate } from '../../schemas/validate.ts'
import type { Report } from './model.ts'
import { UserError } from '../user-error.ts'
import { parseJson, readBytes } from './json-file.ts'

const FORMAT = 'conformance-report/1'

/** A report and where it was read, which is what a refusal names. */
export interface ReportFile {
  readonly path: string
  readonly report: Report
}

/** Reads a report; throws UserError if the file cannot be read or holds none that fits its schema. */
export function readReport(path: string): ReportFile {
  return { path, report: parseReport(readBytes(path).toString('utf8'), path) }
}

export function parseReport(text: string, path: string): Report {
  const value = parseJson(text, path)
  if (!isObject(value) || value.format !== FORMAT) throw new UserError(`${path}: ${whyNoReport(value)}`)
  const validation = validate('report', value)
  if (!validation.valid) throw new UserError(`${path}: is not a valid report: ${validation.problem}`)
  return value as unknown as Report
}

function whyNoReport(value: unknown): string {
  const format = isObject(value) ? value.format : undefined
  const number = typeof format === 'string' ? /^conformance-report\/(\d{1,9})$/.exec(format)?.[1] : undefined
  if (Number(number) > 1) {
    return `is a report of a newer format (${String(format)}); this version reads ${FORMAT}: update the suite`
  }
  return `is not a report (its format is not ${FORMAT}); write one with --report json`
}
