import type { Pairs } from '../../catalogue/answers.ts'
import { withoutEntities } from '../recording/redactor.ts'
import { groupBy } from '../group-by.ts'
import { isNamed } from '../http/index.ts'
import { member, parsedJson } from '../../schemas/json.ts'
import { type Exchange, type HttpResponse, isPage, jsonValue } from './exchange.ts'

const longest = 160

function excerpt(body: string): string {
  const line = body.replaceAll(/\s+/g, ' ').trim()
  return line.length > longest ? `${line.slice(0, longest)}…` : line
}

export function describeProbe(exchange: Exchange, what: string): string {
  const { request } = exchange.recorded()
  return `${request.method} ${request.url} ${what}`.trim()
}

/**
 * For example `404 NotFound "No such job"`, `200 {"id": …}`, `502 with a page: Bad Gateway`, `no answer within 1,000
 * ms`.
 */
export function describeResponse(exchange: Exchange): string {
  const { response, noResponse } = exchange
  if (!response) {
    const { cause, message, detail } = noResponse ?? { cause: 'aborted', message: 'none came' }
    const isWhole = cause === 'malformed' || detail === 'nothing-came' || detail === 'still-coming'
    return isWhole ? message : `no answer: ${message}`
  }
  const tpe = response.tpe
  if (tpe === undefined || response.isGranted)
    return `${response.status}${describeBody(exchange, response)}${tooLargeRemark(exchange, response)}`
  const inSuccess = response.status < 300 && response.isEnvelope ? ' with an error envelope:' : ''
  const isShown = exchange.recorded().response?.body.includes(tpe) === true
  const written = /^[\w.-]+$/.test(tpe) ? tpe : JSON.stringify(tpe)
  const name = isShown ? excerpt(written) : 'an envelope (see the exchange)'
  return `${response.status}${inSuccess} ${name}${descriptionOf(exchange, response)}`
}

/** `got 404 NotFound`, `got no answer: the connection was reset`: continues a sentence. */
export function wasAnswered(exchange: Exchange): string {
  return `got ${describeResponse(exchange)}`
}

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

export const onReusedConnection = 'wrong only on a reused connection: '

export function withFinding(exchange: Exchange, received: string): string {
  const { finding } = exchange
  if (finding === undefined || finding.kind === 'otherwise-later') return received
  if (finding.kind === 'remembers-key')
    return `${received}; the connection remembers a key that was shown on it`
  const { responses } = finding
  const equal = [...groupBy(responses, String).values()]
  const each = equal.map((group) => `${group.length} of ${responses.length}: ${group[0]}`)
  return `${received}; the answers to one request differ: ${each.join('; ')}`
}

function tooLargeRemark(exchange: Exchange, response: HttpResponse): string {
  if (response.status !== 413) return ''
  const type = exchange.probe.headers.find((line) => isNamed(line, 'content-type'))?.value ?? 'json'
  return `; the body of this ${type.includes('json') ? 'request' : 'upload'} is larger than your gateway allows`
}

/** Continues the status: why the body is not JSON, if it should be, and its beginning. */
function describeBody(exchange: Exchange, response: HttpResponse): string {
  const { body = '', bodyEncoding } = exchange.recorded().response ?? {}
  const json = response.json()
  const isWrong = !json.ok && response.status >= 400
  if (bodyEncoding) return isWrong ? `, but ${json.problem}` : ' with bytes that are not text'
  const location =
    response.status < 400 ? exchange.recorded().response?.headers['location'] : undefined
  // The query of a login redirect may contain a secret.
  if (response.status >= 300 && location !== undefined)
    return ` to ${excerpt(location.replace(/[?#].*/s, ''))}`
  if (body === '') return ' without a body'
  if (isPage(response)) return ` with a page: ${excerpt(pageText(body)) || 'without any text'}`
  return isWrong ? `, but ${json.problem}: ${excerpt(body)}` : ` ${excerpt(body)}`
}

function descriptionOf(exchange: Exchange, response: HttpResponse): string {
  const text = descriptionIn(jsonValue(response))
  if (text === undefined) return ''
  const shown = exchange.recorded().response?.body ?? ''
  if (shown.includes(text)) return ` "${excerpt(text)}"`
  const written = descriptionIn(parsedJson(shown))
  return written === undefined ? '' : ` "${excerpt(written)}"`
}

function descriptionIn(envelope: unknown): string | undefined {
  const errors = member(envelope, 'errors')
  const text = Array.isArray(errors) ? member(errors[0], 'description') : undefined
  return typeof text === 'string' && text.trim() !== '' ? text : undefined
}

export function familyRemark(exchange: Exchange, pairs: Pairs): string {
  const { response } = exchange
  if (!response) return ''
  const names = pairs.flatMap(([status, ...tpe]) => (status === response.status ? tpe : []))
  return ` ("${response.tpe}" is a code name of ${response.status} in §7.2, but the spec names ${names.join(' or ')} here)`
}

const hidden = /<!--[\s\S]*?(?:-->|$)|<(script|style|head)\b[\s\S]*?(?:<\/\1\s*>|$)/gi

/** For example `503 Service Temporarily Unavailable, nginx/1.22.1`: the title of a page and its visible text. */
function pageText(body: string): string {
  const title = pageTitle(body)
  const parts = body
    .replaceAll(hidden, '<p>')
    .split(/<[^>]*(?:>|$)/)
    .map(textOf)
  const rest = parts.filter((part) => part !== '' && part !== title).join(' ')
  return [title ?? '', rest].filter(Boolean).join(', ')
}

function pageTitle(body: string): string | undefined {
  const title =
    /<title[^>]*>([\s\S]*?)<\/title/i.exec(body)?.[1] ??
    /<h1[^>]*>([\s\S]*?)<\/h1/i.exec(body)?.[1] ??
    ''
  return textOf(title) || undefined
}

function textOf(markup: string): string {
  return withoutEntities(markup.replaceAll(/<[^>]*(?:>|$)/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim()
}

export function rerunLine(options: { rerun: string; seed: number }, ...ids: string[]): string {
  return `${options.rerun} ${[...new Set(ids)].map((id) => `--only ${id}`).join(' ')} --seed ${options.seed}`
}
