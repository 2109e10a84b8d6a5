import { type Pairs, pairsOf } from '../../catalogue/requirement.ts'
import { operation as operationOf } from '../../catalogue/operations.ts'
import { getAt } from '../../schemas/json.ts'
import { isUuid } from '../../schemas/formats.ts'
import type fc from 'fast-check'
import { judgeEach, property } from './at-once.ts'
import { changedId, freshUnknownId, isNumber, randomFor, sampled, shown } from './values.ts'
import { type CheckContext, type Probe, withHeader, withJson } from '../engine/index.ts'
import { operationIn } from './control.ts'
import { type Condition, condition, type RefusalContext } from './refusals.ts'
import {
  bodiesOf,
  type MalformedJson,
  malformedJson,
  mediaTypes,
  type OtherBody,
} from '../../catalogue/faults.ts'

/** One way to make the valid request wrong; a conforming target refuses it, so that it has no effect there. */
export interface Fault {
  /** Description that follows the request line. */
  readonly what: string
  /** Name in the fault matrix. */
  readonly fault?: string | undefined
  /** Pairs for this fault, if the spec names others than for the rest of its requirement. */
  readonly expects?: Pairs | undefined
  change(valid: Probe): Probe
}

export async function judgeFault(
  { valid, judge }: RefusalContext,
  { what, fault, expects, change }: Fault,
): Promise<void> {
  await judge({ ...refused(change(await valid())), fault }, what, expects)
}

export function changed(what: string, change: Fault['change'], fault?: string): Condition {
  return condition((refusal) => judgeFault(refusal, { what, change, fault }))
}

export async function judgeFaults(
  refusal: RefusalContext,
  faults: readonly Fault[],
): Promise<void> {
  await judgeEach(sampled(refusal.context, faults), (one) => judgeFault(refusal, one))
}

export function each(faults: readonly Fault[]): Condition {
  return condition((refusal) => judgeFaults(refusal, faults))
}

/** First the faults that have a name, then those that an arbitrary generates. */
export async function judgeAny(
  refusal: RefusalContext,
  named: readonly Fault[],
  generated: fc.Arbitrary<Fault>,
): Promise<void> {
  await judgeFaults(refusal, named)
  await property(refusal.context, 'refusalRuns', generated, (one) => judgeFault(refusal, one))
}

/** Ways to get an id that no object has: drawn, and asked for a second time; made from the id that exists; that of another object. */
const unknownIds = ['unknown', 'asked twice', 'cut', 'lengthened', 'of another kind'] as const

/** The id of an object of another kind, if it is a uuid: of any other form, an object of this kind might have it too. */
function idOfAnother(context: CheckContext, parameter: string): string | undefined {
  const { others = [] } = operationOf(operationIn(context)).params?.[parameter] ?? {}
  return others
    .map((pointer) => getAt(context.run.target.file, pointer))
    .find((id) => typeof id === 'string' && isUuid(id)) as string | undefined
}

/**
 * An id that was cut or lengthened may be none (a uuid, a ULID, an ObjectId), nor is a number with a letter behind it a number; and
 * where ids have another form a uuid is one: a server may refuse it before it looks (§7.2).
 */
const ofForm: Pairs = [[400, 'BadRequest', 'InvalidInputParameters']]

/** The valid request with an id that no object has as that path parameter, in each of these ways. */
export function unknown(
  parameter: string,
  ways: readonly (typeof unknownIds)[number][] = unknownIds,
): Condition {
  return condition(async ({ valid, judge, context, operation }) => {
    const random = randomFor(context)
    const declared = (await valid()).params[parameter] ?? ''
    const drawn = freshUnknownId(context.run, declared, random)
    for (const way of ways) {
      const isOther = way === 'of another kind'
      const isChanged = way === 'cut' || way === 'lengthened'
      const made = isChanged ? changedId(context.run, declared, way) : drawn
      const id = isOther ? idOfAnother(context, parameter) : made
      if (id === undefined || id === declared) continue
      const probe = await valid()
      // Nothing can be created at an id that does not exist: the probe may be sent again, and needs no idle application.
      const params = { ...probe.params, [parameter]: id }
      const what =
        way === 'unknown'
          ? `an unknown ${parameter}`
          : `a ${parameter} that is ${descriptions[way]}`
      const keepsForm = isOther ? isUuid(declared) : way === 'cut' && isNumber(declared)
      const hasOtherForm = (isOther || isChanged) && !keepsForm
      const expects = hasOtherForm ? pairsOf(context.requirement, operation) : undefined
      const atUnknownId: Probe = { ...probe, params, effect: 'none', fault: `id: ${way}` }
      await judge(
        atUnknownId,
        `with a valid request, but ${what}`,
        expects && [...expects, ...ofForm],
      )
    }
  })
}

const descriptions = {
  'asked twice': 'unknown, asked for again',
  cut: 'cut by a character',
  lengthened: 'the declared one with more behind it',
  'of another kind': 'that of an object of another kind',
}

/** A JSON body in place of the valid one; a conforming target refuses it. */
export function withBody(probe: Probe, body: unknown): Probe {
  return refused(withJson(probe, body))
}

/** A request that a conforming target refuses has no effect there. */
export function refused(probe: Probe): Probe {
  return { ...probe, effect: 'none' }
}

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
  '# comment': [
    'and a line with # in it',
    (text) => `${text.slice(0, 1)} # no comment\n${text.slice(1)}`,
  ],
  NaN: ['and NaN in it', withValue('NaN')],
  Infinity: ['and Infinity in it', withValue('Infinity')],
  '+1': ['and +1 in it', withValue('+1')],
  '01': ['and 01 in it', withValue('01')],
  '.5': ['and .5 in it', withValue('.5')],
  'single quotes': [
    'in single quotes',
    (text) => text.replaceAll(string, (_, content: string) => `'${content}'`),
  ],
  'name without quotes': [
    'and a member name without quotes',
    (text) => text.replace(plainName, '$1$2'),
  ],
  'line end in a string': ['and a raw line end in a string', withValue('"two\nlines"')],
  'tab in a string': ['and a raw tab in a string', withValue('"two\twords"')],
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
export const missingBodyFault: Fault = {
  what: 'without a body',
  fault: 'body: length 0',
  change: (probe) => ({ ...probe, body: '' }),
}

export const missingBody = each([missingBodyFault])

function textOf(body: string | Uint8Array | undefined): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

/** The valid body, changed so that RFC 8259's grammar refuses it. */
export const malformedJsonBody = condition(async (refusal) => {
  const valid = textOf((await refusal.valid()).body)
  const faults = malformedJson.flatMap((kind): Fault[] => {
    const [what, change] = jsonFaults[kind]
    if (malformedBy(change, valid) === undefined) return []
    const body = (probe: Probe): string => malformedBy(change, textOf(probe.body)) ?? ''
    return [
      {
        what: `with the valid body ${what}`,
        fault: kind,
        change: (probe) => ({ ...probe, body: body(probe) }),
      },
    ]
  })
  await judgeFaults(refusal, faults)
})

export const wrongContentType = each(
  mediaTypes.map((type) => ({
    what: `with the valid body labelled ${type}`,
    fault: type,
    change: (probe) => withHeader(probe, 'content-type', type),
  })),
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
export const malformedBody = condition(async (refusal) => {
  const valid = textOf((await refusal.valid()).body)
  const faults = bodiesOf(refusal.operation).map((kind): Fault => ({
    what: `with a body that is ${shown(JSON.parse(otherBody[kind](valid)))}`,
    fault: `body: ${kind}`,
    change: (probe) => ({ ...probe, body: otherBody[kind](textOf(probe.body)) }),
  }))
  await judgeFaults(refusal, faults)
})
