import { isObject } from '../../schemas/json-object.ts'
import type { Answer } from '../../harness/engine/answer.ts'
import type { Reading } from './model.ts'

/** Answers above this many bytes are not kept whole for each of the many readings of a job. */
const largeBytes = 64 * 1024
/** Longest text that is kept of a member, in characters: any id or date-time that the spec shows is shorter. */
const longestText = 1024

/** The value as a shape sees it: texts and numbers as they are, objects and arrays emptied. */
function lean(value: unknown): unknown {
  if (typeof value === 'string') return leanText(value)
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? [] : {}
}

/** An endless fraction of a second is cut inside the fraction, so that a date-time stays one. */
function leanText(text: string): string {
  if (text.length <= longestText) return text
  const zone = /(?:Z|[+-]\d\d:\d\d)$/i.exec(text.slice(-6))?.[0] ?? ''
  return text.slice(0, longestText - zone.length) + zone
}

/** The reading without the weight of its answer: members of the job with their type, and what is short of their text. */
export function leanReading(reading: Reading): Reading {
  const { answer } = reading.exchange
  if (!answer || answer.size <= largeBytes || !isObject(reading.job)) return reading
  const job = Object.fromEntries(
    Object.entries(reading.job).map(([name, value]) => [name.slice(0, longestText), lean(value)]),
  )
  const light: Answer = { ...answer, json: () => ({ ok: true, value: job }) }
  return { ...reading, job, exchange: { ...reading.exchange, answer: light } }
}
