import { withHeader } from '../engine/probe.ts'
import { changed, each, refused } from './conditions.ts'
import { condition } from './refusals.ts'

/** A change to a JSON text after which RFC 8259's grammar refuses it. */
interface JsonFault {
  /** In words that follow `with the valid body`. */
  readonly what: string
  readonly change: (text: string) => string
}

/** A string of JSON; its content is the first group. */
const string = /"((?:[^"\\]|\\.)*)"/g
/** A member name that JavaScript would take without quotes, and what is before it. */
const plainName = /([{,]\s*)"([A-Za-z_]\w*)"(?=\s*:)/

/** What replaces the last bracket, and what follows it. */
function atEnd(text: string, added: string): string {
  return `${text.slice(0, -1)}${added}${text.slice(-1)}`
}

/** One more member or item that no grammar has: a parser that takes it has all the others too. */
function withNaN(text: string): string {
  const comma = /^[{[]\s*[}\]]$/.test(text) ? '' : ','
  return atEnd(text, text.startsWith('{') ? `${comma}"conform":NaN` : `${comma}NaN`)
}

export const jsonFaults: readonly JsonFault[] = [
  { what: 'cut in the middle', change: (text) => text.slice(0, Math.ceil(text.length / 2)) },
  { what: 'cut before its last bracket', change: (text) => text.slice(0, -1) },
  { what: 'and a bracket too many', change: (text) => `${text}}` },
  { what: 'and a comma before its last bracket', change: (text) => atEnd(text, ',') },
  { what: 'and text after its end', change: (text) => `${text} and more` },
  { what: 'and a comment in it', change: (text) => `${text.slice(0, 1)}/* no comment */${text.slice(1)}` },
  { what: 'and NaN in it', change: withNaN },
  { what: 'in single quotes', change: (text) => text.replaceAll(string, (_, content: string) => `'${content}'`) },
  { what: 'and a member name without quotes', change: (text) => text.replace(plainName, '$1$2') },
]

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The changed text; undefined if it is still JSON, or empty. */
export function malformedBy(change: JsonFault['change'], valid: string): string | undefined {
  const text = change(valid.trim())
  return text === '' || isJson(text) ? undefined : text
}

/** `Content-Type: application/json` and length 0. */
export const missingBody = changed('without a body', (probe) => ({ ...probe, body: '' }))

function textOf(body: string | Uint8Array | undefined): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

/** The valid body, changed so that RFC 8259's grammar refuses it. */
export const malformedJson = condition(async ({ valid, judge }) => {
  for (const { what, change } of jsonFaults) {
    const probe = await valid()
    const body = malformedBy(change, textOf(probe.body))
    if (body !== undefined) await judge(refused({ ...probe, body }), `with the valid body ${what}`)
  }
})

const otherTypes = [
  'text/plain',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=conform',
]

/** The valid body, labelled as something else. */
export const wrongContentType = each(
  otherTypes.map((type) => ({ what: `with the valid body labelled ${type}`, value: type })),
  (probe, type) => refused(withHeader(probe, 'content-type', type)),
)
