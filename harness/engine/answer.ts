import { member } from '../../schemas/json-object.ts'
import { structureOf } from './structure.ts'
import type { HttpAnswer } from '../http/message.ts'

/** The body read as JSON, or why it is not JSON. */
export type Json = { readonly ok: true; readonly value: unknown } | NoJson

export interface NoJson {
  readonly ok: false
  readonly problem: string
  /** It is more than is read of an answer: whether it is JSON is not known. */
  readonly unread?: true
}

/** What an answer says: status, headers, and its JSON. */
export interface Answer {
  readonly status: number
  /** Bytes of the body, decoded. */
  readonly size: number
  /** First value of a header, name in any letter case. */
  header(name: string): string | undefined
  /** The body as JSON (RFC 8259: UTF-8 without a byte order mark). A body that was cut is not JSON. */
  json(): Json
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Bodies above this many bytes are parsed again each time: many answers of a run are kept. */
const largeBytes = 64 * 1024

/** Most values in one body: no answer of the interface needs more, and more would take too much memory. */
const mostValues = 400_000
const tooManyValues: NoJson = { ok: false, problem: 'the body holds more than 400,000 values', unread: true }
const tooLong: NoJson = {
  ok: false,
  problem: 'the body is longer than the suite reads (limits.maxAnswerBytes)',
  unread: true,
}

function noJson(problem: string): NoJson {
  return { ok: false, problem }
}

function parsed(body: Uint8Array): Json {
  try {
    const { text, values } = structureOf(utf8.decode(body))
    if (text.startsWith('\ufeff')) return noJson('the body begins with a byte order mark')
    return values > mostValues ? tooManyValues : { ok: true, value: JSON.parse(text) as unknown }
  } catch (error) {
    return noJson(error instanceof SyntaxError ? 'the body is not JSON' : 'the body is not UTF-8')
  }
}

/** Gives the body as JSON, as often as asked. */
function reader({ undecodable, cut, body }: HttpAnswer): () => Json {
  if (undecodable !== undefined) return always(noJson(undecodable))
  if (cut) return always(tooLong)
  if (body.length === 0) return always(noJson('the body is empty'))
  const first = parsed(body)
  return first.ok && body.length > largeBytes ? rereader(body, first) : always(first)
}

const always = (json: Json) => (): Json => json

/** Parses the bytes again when the value that was parsed last is gone. */
function rereader(bytes: Uint8Array, first: Json): () => Json {
  let last = new WeakRef(first)
  return () => {
    const known = last.deref()
    if (known) return known
    const again = parsed(bytes)
    last = new WeakRef(again)
    return again
  }
}

export function answerOf(received: HttpAnswer): Answer {
  const { status, headers } = received
  return {
    status,
    size: received.body.length,
    header: (name) => headers.find((line) => line.name.toLowerCase() === name)?.value,
    json: reader(received),
  }
}

/** The `tpe` of an error envelope; undefined if the body has none. */
export function tpeOf(answer: Answer): string | undefined {
  const json = answer.json()
  const tpe = json.ok ? member(json.value, 'tpe') : undefined
  return typeof tpe === 'string' ? tpe : undefined
}

/** An error envelope in a 2xx is no success: it has `tpe` and `errors` (§2.6). */
export function isEnvelope(answer: Answer): boolean {
  const json = answer.json()
  return json.ok && typeof member(json.value, 'tpe') === 'string' && Array.isArray(member(json.value, 'errors'))
}

/** A 2xx whose body is not an error envelope. */
export function isGranted(answer: Answer): boolean {
  return answer.status >= 200 && answer.status < 300 && !isEnvelope(answer)
}
