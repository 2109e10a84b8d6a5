import { readFileSync } from 'node:fs'
import type { Report } from '../../spec/report.ts'
import { UserError } from '../user-error.ts'

/** A report and where it was read, which is what a refusal names. */
export interface ReportFile {
  readonly path: string
  readonly report: Report
}

/** Reads a report; throws UserError where the file cannot be read or holds none. */
export function readReport(path: string): ReportFile {
  return { path, report: parseReport(readBytes(path).toString('utf8'), path) }
}

/** The bytes of a file that the user named; throws UserError where they cannot be read. */
export function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new UserError(`${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

export function parseReport(text: string, path: string): Report {
  const value = parseJson(text, path)
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined
  if (format !== 'conformance-report/1') {
    throw new UserError(`${path}: is no report (its format is not conformance-report/1); write one with --report json`)
  }
  return value as Report
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UserError(`${path}: is not JSON: ${(error as Error).message}`)
  }
}
