import { codeNames } from '../../catalogue/errors.ts'
import { isGranted, tpeOf } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { Pairs } from './pairs.ts'

const longest = 160

/** One line of at most 160 characters of a recorded body. */
function excerpt(body: string): string {
  const line = body.replaceAll(/\s+/g, ' ').trim()
  return line.length > longest ? `${line.slice(0, longest)}…` : line
}

/** `POST /v1/applications/7c1f/jobs with a valid body` */
export function describeProbe(exchange: Exchange, what: string): string {
  const { request } = exchange.recorded
  return `${request.method} ${request.url} ${what}`.trim()
}

/** `404 NotFound`, `200 {"id": …}`, `no answer within 1,000 ms` */
export function describeAnswer(exchange: Exchange): string {
  const { answer, noAnswer, recorded } = exchange
  if (!answer) return `no answer: ${noAnswer?.message ?? 'none came'}`
  const tpe = tpeOf(answer)
  const body = recorded.response?.bodyEncoding ? 'with bytes that are no text' : excerpt(recorded.response?.body ?? '')
  if (isGranted(answer) || tpe === undefined)
    return body === '' ? `${answer.status} without a body` : `${answer.status} ${body}`
  return `${answer.status} ${excerpt(recordedTpe(recorded.response?.body, tpe))}`
}

/** The `tpe` as it was recorded: a target may echo a key in it. */
function recordedTpe(body: string | undefined, tpe: string): string {
  return body?.includes(tpe) ? tpe : 'an envelope (see the exchange)'
}

/** Why a name that belongs to the status is still not the one asked for. */
export function familyRemark(exchange: Exchange, pairs: Pairs): string {
  const { answer } = exchange
  if (!answer) return ''
  const names = pairs.filter(([status]) => status === answer.status).flatMap(([, ...tpe]) => tpe)
  const row = codeNames(answer.status)?.join(', ')
  return ` ("${tpeOf(answer)}" is another code name of the ${answer.status} row of §7.2: ${row}; the spec names ${names.join(' or ')} here)`
}
