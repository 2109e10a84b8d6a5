import { createHash } from 'node:crypto'
import type { Exchange, HttpResponse } from '../engine/index.ts'
import { isObject } from '../../schemas/json.ts'

/** Answers above this many bytes are not kept whole: a history keeps them all. */
const largeBytes = 64 * 1024
/** Longest text that is kept of a member, in characters: any id or date-time that the spec shows is shorter. */
const longestText = 1024

/** Members in the order of their names: another order says the same. */
const sorted = (_name: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort()) : value

/** The value as a shape sees it: texts and numbers as they are, objects and arrays with a digest of their content alone. */
function trimmed(value: unknown): unknown {
  if (typeof value === 'string') return trimmedText(value)
  if (typeof value !== 'object' || value === null) return value
  const digest = digestOf(JSON.stringify(value, sorted))
  return Array.isArray(value) ? [digest] : { digest }
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** An endless fraction of a second is cut inside the fraction, so that a date-time stays one; of another text a digest tells the rest. */
function trimmedText(text: string): string {
  if (text.length <= longestText) return text
  const end = /(?:Z|[+-]\d\d:\d\d)$/i.exec(text.slice(-6))?.[0] ?? digestOf(text)
  return text.slice(0, longestText - end.length) + end
}

/** The members of an answer with their types, what is short of their text, and digests of what they hold. */
export function trimmedBody(body: unknown): unknown {
  if (!isObject(body)) return trimmed(body)
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name.slice(0, longestText), trimmed(value)]),
  )
}

/** The exchange without the weight of a large answer. */
export function lightened(exchange: Exchange): Exchange {
  const { response } = exchange
  if (!response || response.size <= largeBytes) return exchange
  const json = response.json()
  if (!json.ok) return exchange
  const value = trimmedBody(json.value)
  const light: HttpResponse = { ...response, text: () => '', json: () => ({ ok: true, value }) }
  return { ...exchange, response: light }
}
