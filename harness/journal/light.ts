import { createHash } from 'node:crypto'
import type { Exchange, HttpResponse } from '../engine/index.ts'
import { isObject } from '../../schemas/json.ts'

/** Larger answers are trimmed, since a history keeps all of them. */
const largeBytes = 64 * 1024
/** Longest text kept of a member, in characters: longer than any documented id or date-time. */
const longestText = 1024

const sorted = (_name: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort()) : value

function trimmed(value: unknown): unknown {
  if (typeof value === 'string') return trimmedText(value)
  if (typeof value !== 'object' || value === null) return value
  const digest = digestOf(JSON.stringify(value, sorted))
  return Array.isArray(value) ? [digest] : { digest }
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * Cuts an endless fraction of a second inside the fraction, so that it stays a date-time; other long text gets a
 * digest.
 */
function trimmedText(text: string): string {
  if (text.length <= longestText) return text
  const end = /(?:Z|[+-]\d\d:\d\d)$/i.exec(text.slice(-6))?.[0] ?? digestOf(text)
  return text.slice(0, longestText - end.length) + end
}

/** The members of an answer with their types, short texts, and digests of their content. */
export function trimmedBody(body: unknown): unknown {
  if (!isObject(body)) return trimmed(body)
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name.slice(0, longestText), trimmed(value)]),
  )
}

export function lightened(exchange: Exchange): Exchange {
  const { response } = exchange
  if (!response || response.size <= largeBytes) return exchange
  const json = response.json()
  if (!json.ok) return exchange
  const value = trimmedBody(json.value)
  const light: HttpResponse = { ...response, text: () => '', json: () => ({ ok: true, value }) }
  return { ...exchange, response: light }
}
