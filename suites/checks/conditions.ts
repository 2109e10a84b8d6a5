import { type Pairs, pairsOf } from '../../catalogue/expected.ts'
import {
  bodiesOf,
  type MalformedJson,
  malformedJson,
  mediaTypes,
  type OtherBody,
} from '../../catalogue/faults.ts'
import { operation as operationOf } from '../../catalogue/operations.ts'
import { isUuid } from '../../schemas/formats.ts'
import { getAt } from '../../schemas/json.ts'
import { type Probe, withHeader, withJson } from '../../harness/journal/index.ts'
import { byCases } from './by-cases.ts'
import type { Case, CaseCondition, Material } from './case.ts'
import { changedId, freshUnknownId, isNumber, randomOf, seedFor, shown } from './values.ts'

/** The id of an object of another kind, if a uuid: other forms may be ambiguous. Nothing declared may be destroyed. */
function idOfAnother(material: Material, parameter: string): string | undefined {
  const { effect, params } = operationOf(material.operation)
  const { others = [] } = (effect !== 'destroys' && params?.[parameter]) || {}
  return others
    .map((pointer) => getAt(material.target.file, pointer))
    .find((id) => typeof id === 'string' && isUuid(id)) as string | undefined
}

/**
 * A shortened or lengthened id may have an invalid form (a uuid, a ULID, an ObjectId, a number with a letter), and so
 * may a uuid among other ids: a server may refuse it by its form (§7.2).
 */
const ofForm: Pairs = [[400, 'BadRequest', 'InvalidInputParameters']]

const unknownIds = {
  unknown: (name: string) => `an unknown ${name}`,
  'asked twice': (name: string) => `an unknown ${name}, asked for again`,
  cut: (name: string) => `the declared ${name} without its last character`,
  lengthened: (name: string) => `the declared ${name} with more behind it`,
  'of another kind': (name: string) => `the id of another kind of object as ${name}`,
}
type Way = keyof typeof unknownIds

export function unknownIdCases(
  material: Material,
  parameter: string,
  ways = Object.keys(unknownIds) as Way[],
): Case[] {
  const { requirement, operation, valid, options } = material
  const declared = valid.params[parameter] ?? ''
  const random = randomOf(seedFor(options.seed, requirement.id))
  const drawn = freshUnknownId(material, declared, random)
  return ways.flatMap((way): Case[] => {
    const isOther = way === 'of another kind'
    const isChanged = way === 'cut' || way === 'lengthened'
    const made = isChanged ? changedId(material, declared, way) : drawn
    const id = isOther ? idOfAnother(material, parameter) : made
    if (id === undefined || id === declared) return []
    const keepsForm = isOther ? isUuid(declared) : way === 'cut' && isNumber(declared)
    const hasOtherForm = (isOther || isChanged) && !keepsForm
    return [
      {
        what: `with a valid request, but ${unknownIds[way](parameter)}`,
        fault: `id: ${way}`,
        // Nothing can be created at an unknown id: the probe may be repeated, and needs no idle application.
        change: (probe) => ({ ...probe, params: { ...probe.params, [parameter]: id } }),
        ...(hasOtherForm && { expects: [...pairsOf(requirement, operation), ...ofForm] }),
      },
    ]
  })
}

export const unknown = (parameter: string): CaseCondition =>
  byCases((material) => unknownIdCases(material, parameter), { inOrder: true })

/** A request that a conforming target refuses has no effect. */
export const refused = (probe: Probe): Probe => ({ ...probe, effect: 'none' })

export const withBody = (probe: Probe, body: unknown): Probe => refused(withJson(probe, body))

/** A change after which RFC 8259's grammar refuses a JSON text, and its description to follow `with the valid body`. */
type JsonFault = readonly [what: string, change: (text: string) => string]

const string = /"((?:[^"\\]|\\.)*)"/g
const plainName = /([{,]\s*)"([A-Za-z_]\w*)"(?=\s*:)/

const beforeEnd = (text: string, added: string): string =>
  `${text.slice(0, -1)}${added}${text.slice(-1)}`

const afterBegin = (text: string, added: string): string =>
  `${text.slice(0, 1)}${added}${text.slice(1)}`

function withValue(value: string): (text: string) => string {
  return (text) => {
    const comma = /^[{[]\s*[}\]]$/.test(text) ? '' : ','
    return beforeEnd(text, `${comma}${text.startsWith('{') ? '"conform":' : ''}${value}`)
  }
}

const inIt = (value: string): JsonFault => [`and ${value} in it`, withValue(value)]

export const jsonFaults: Readonly<Record<MalformedJson, JsonFault>> = {
  'cut before its end': ['cut before its last bracket', (text) => text.slice(0, -1)],
  'bracket too many': ['and a bracket too many', (text) => `${text}}`],
  'comma too many': ['and a comma before its last bracket', (text) => beforeEnd(text, ',')],
  'text after its end': ['and text after its end', (text) => `${text} and more`],
  'second document': ['and a second one after its end', (text) => `${text}\n${text}`],
  comment: ['and a comment in it', (text) => afterBegin(text, '/* no comment */')],
  '# comment': ['and a line with # in it', (text) => afterBegin(text, ' # no comment\n')],
  NaN: inIt('NaN'),
  Infinity: inIt('Infinity'),
  '+1': inIt('+1'),
  '01': inIt('01'),
  '.5': inIt('.5'),
  'single quotes': ['in single quotes', (text) => text.replaceAll(string, "'$1'")],
  'name without quotes': [
    'and a member name without quotes',
    (text) => text.replace(plainName, '$1$2'),
  ],
  'line end in a string': ['and a raw line end in a string', withValue('"two\nlines"')],
  'tab in a string': ['and a raw tab in a string', withValue('"two\twords"')],
}

export function malformedBy(change: JsonFault[1], valid: string): string | undefined {
  const text = change(valid.trim())
  try {
    JSON.parse(text)
    return undefined
  } catch {
    return text === '' ? undefined : text
  }
}

const textOf = (probe: Probe): string =>
  typeof probe.body === 'string' ? probe.body : new TextDecoder().decode(probe.body)

export const missingBodyCase: Case = {
  what: 'without a body',
  fault: 'body: length 0',
  change: (probe) => ({ ...probe, body: '' }),
}

export const missingBody = byCases(() => [missingBodyCase])

export const malformedJsonBody = byCases((one) =>
  malformedJson.flatMap((kind): Case[] => {
    const [what, change] = jsonFaults[kind]
    if (malformedBy(change, textOf(one.valid)) === undefined) return []
    return [
      {
        what: `with the valid body ${what}`,
        fault: kind,
        change: (probe) => ({ ...probe, body: malformedBy(change, textOf(probe)) ?? '' }),
      },
    ]
  }),
)

export const wrongContentType = byCases(() =>
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

export const malformedBody = byCases((one) =>
  bodiesOf(one.operation).map((kind) => ({
    what: `with a body that is ${shown(JSON.parse(otherBody[kind](textOf(one.valid))))}`,
    fault: `body: ${kind}`,
    change: (probe) => ({ ...probe, body: otherBody[kind](textOf(probe)) }),
  })),
)
