import { bodiesOf, type MalformedJson, malformedJson, mediaTypes, type OtherBody } from '../../catalogue/faults.ts'
import { withHeader } from '../engine/probe.ts'
import { judgeEach } from './at-once.ts'
import { changed, each, refused } from './conditions.ts'
import { condition } from './refusals.ts'
import { sampled } from './seed.ts'
import { shown } from './values.ts'

/** A change to a JSON text after which RFC 8259's grammar refuses it, and what it is, in words that follow `with the valid body`. */
type JsonFault = readonly [what: string, change: (text: string) => string]

/** A string of JSON; its content is the first group. */
const string = /"((?:[^"\\]|\\.)*)"/g
/** A member name that JavaScript would take without quotes, and what is before it. */
const plainName = /([{,]\s*)"([A-Za-z_]\w*)"(?=\s*:)/

/** Adds that before the last bracket. */
function atEnd(text: string, added: string): string {
  return `${text.slice(0, -1)}${added}${text.slice(-1)}`
}

/** With one more member or item whose value no grammar has: a parser that takes it has all the others too. */
function withValue(value: string): (text: string) => string {
  return (text) => {
    const comma = /^[{[]\s*[}\]]$/.test(text) ? '' : ','
    return atEnd(text, text.startsWith('{') ? `${comma}"conform":${value}` : `${comma}${value}`)
  }
}

export const jsonFaults: Readonly<Record<MalformedJson, JsonFault>> = {
  'cut before its end': ['cut before its last bracket', (text) => text.slice(0, -1)],
  'bracket too many': ['and a bracket too many', (text) => `${text}}`],
  'comma too many': ['and a comma before its last bracket', (text) => atEnd(text, ',')],
  'text after its end': ['and text after its end', (text) => `${text} and more`],
  'second document': ['and a second one after its end', (text) => `${text}\n${text}`],
  comment: ['and a comment in it', (text) => `${text.slice(0, 1)}/* no comment */${text.slice(1)}`],
  NaN: ['and NaN in it', withValue('NaN')],
  Infinity: ['and Infinity in it', withValue('Infinity')],
  '+1': ['and +1 in it', withValue('+1')],
  '01': ['and 01 in it', withValue('01')],
  '.5': ['and .5 in it', withValue('.5')],
  'single quotes': ['in single quotes', (text) => text.replaceAll(string, (_, content: string) => `'${content}'`)],
  'name without quotes': ['and a member name without quotes', (text) => text.replace(plainName, '$1$2')],
  'line end in a string': ['and a raw line end in a string', withValue('"two\nlines"')],
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The changed text; undefined if it is still JSON, or empty. */
export function malformedBy(change: JsonFault[1], valid: string): string | undefined {
  const text = change(valid.trim())
  return text === '' || isJson(text) ? undefined : text
}

/** `Content-Type: application/json` and length 0. */
export const missingBody = changed('without a body', (probe) => ({ ...probe, body: '' }), 'body: length 0')

function textOf(body: string | Uint8Array | undefined): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

/** The valid body, changed so that RFC 8259's grammar refuses it. */
export const malformedJsonBody = condition(async ({ context, valid, judge }) => {
  await judgeEach(sampled(context, malformedJson), async (kind) => {
    const [what, change] = jsonFaults[kind]
    const probe = await valid()
    const body = malformedBy(change, textOf(probe.body))
    if (body !== undefined) await judge(refused({ ...probe, body, fault: kind }), `with the valid body ${what}`)
  })
})

/** The valid body, labelled as something else. */
export const wrongContentType = each(
  mediaTypes.map((type) => ({ what: `with the valid body labelled ${type}`, value: type })),
  (probe, type) => refused({ ...withHeader(probe, 'content-type', type), fault: type }),
)

const otherBody: Readonly<Record<OtherBody, (valid: string) => string>> = {
  text: () => '"text"',
  number: () => '42',
  true: () => 'true',
  null: () => 'null',
  '[]': () => '[]',
  'the valid body in an array': (valid) => `[${valid}]`,
}

/** A body of another JSON type, labelled rightly. */
export const malformedBody = condition(async ({ context, valid, judge, operation }) => {
  await judgeEach(sampled(context, bodiesOf(operation)), async (kind) => {
    const probe = await valid()
    const body = otherBody[kind](textOf(probe.body))
    await judge(refused({ ...probe, body, fault: `body: ${kind}` }), `with a body that is ${shown(JSON.parse(body))}`)
  })
})
