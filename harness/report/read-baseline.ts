import { isObject } from '../../schemas/json-object.ts'
import { existsSync } from 'node:fs'
import type { Report, RequirementResult, TpeMode } from './model.ts'
import { UserError } from '../user-error.ts'
import type { Baseline, BaselineEntry } from './baseline.ts'
import { parseJson, readBytes } from './json-file.ts'
import { outcomeIn } from './mode.ts'
import { parseReport } from './report-file.ts'

/**
 * Reads `{"expected": [{"id", "reason", "until"}]}`, or a report, of which every requirement that fails in that mode is
 * expected. Throws UserError, naming the place, on anything else.
 */
export function readBaseline(file: string, mode: TpeMode): Baseline {
  return parseBaseline(readBytes(file).toString('utf8'), file, mode)
}

/** The same for a baseline that is about to be rewritten: where there is no such file yet, nothing is expected. */
export function readBaselineOrNone(file: string, mode: TpeMode): Baseline {
  return existsSync(file) ? readBaseline(file, mode) : { file, entries: [] }
}

export function parseBaseline(text: string, file: string, mode: TpeMode): Baseline {
  const value = parseJson(text, file)
  if (!isObject(value)) throw new UserError(`${file}: a baseline is a report or {"expected": [...]}`)
  if ('format' in value || 'requirements' in value) return { file, entries: failuresOf(parseReport(text, file), mode) }
  refuseOthers(value, ['$schema', 'expected'], file)
  if (!Array.isArray(value.expected)) {
    throw new UserError(`${file}: expected: must be an array of {"id", "reason", "until"}`)
  }
  const entries = value.expected.map((item: unknown, index) => entryOf(item, `${file}: expected[${index}]`))
  refuseDoubles(entries, file)
  return { file, entries }
}

function failuresOf({ requirements }: Report, mode: TpeMode): BaselineEntry[] {
  const failed = requirements.filter((result) => outcomeIn(result, mode) === 'failed')
  return failed.map((result) => ({ id: result.id, reason: reasonOf(result) }))
}

/** Why a failed requirement is expected, where nobody wrote it down: what it did. */
export function reasonOf({ failures: [first] }: RequirementResult): string {
  return first ? `expected ${first.expected}, received ${first.actual}` : 'failed'
}

function entryOf(item: unknown, place: string): BaselineEntry {
  if (!isObject(item)) throw new UserError(`${place}: must be an object with an id`)
  refuseOthers(item, ['id', 'reason', 'until'], place)
  const { id, reason, until } = item
  if (typeof id !== 'string' || id === '') throw new UserError(`${place}.id: must be the id of a requirement`)
  if (reason !== undefined && typeof reason !== 'string') throw new UserError(`${place}.reason: must be a string`)
  if (until !== undefined && !isDay(until)) {
    throw new UserError(`${place}.until: must be a day written YYYY-MM-DD, 2027-01-31 say`)
  }
  return { id, ...(reason !== undefined && { reason }), ...(until !== undefined && { until }) }
}

function refuseOthers(value: Record<string, unknown>, known: string[], place: string): void {
  const other = Object.keys(value).find((name) => !known.includes(name))
  if (other !== undefined) {
    throw new UserError(`${place}: unknown member ${JSON.stringify(other)}; known are ${known.join(', ')}`)
  }
}

function refuseDoubles(entries: readonly BaselineEntry[], file: string): void {
  const seen = new Set<string>()
  entries.forEach(({ id }, index) => {
    if (seen.has(id)) throw new UserError(`${file}: expected[${index}].id: ${id} stands there twice`)
    seen.add(id)
  })
}

function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false
  const time = Date.parse(`${value}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value)
}
