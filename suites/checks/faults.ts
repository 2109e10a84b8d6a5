import { type Pairs, pairsOf, anyBadRequest } from '../../catalogue/answers.ts'
import {
  type Material,
  type Case,
  type CaseCondition,
  byCases,
  inMember,
  withBody,
} from './case.ts'
import {
  change,
  type Change,
  absent,
  ofKinds,
  ofOtherTypes,
  unknownIdAt,
  deletedIdAt,
  isOf,
  inOtherItem,
  otherFormsOf,
  withoutFault,
  caseOf,
  changedBody,
  type Placed,
  arraysAbove,
  placesIn,
  isOfItsType,
} from './changes.ts'
import {
  type Probe,
  withHeader,
  type Open,
  jsonOf,
  withJson,
  open,
} from '../../harness/journal/index.ts'
import { freshUnknownId, randomFor, changedId, isNumber, unknownWord } from './random.ts'
import { isUuid } from '../../schemas/formats.ts'
import { operationOf, jsonKinds } from '../../catalogue/operations.ts'
import { getAt, preview, hasParent } from '../../schemas/json.ts'
import {
  type MalformedJson,
  malformedJson,
  mediaTypes,
  type OtherBody,
  bodiesOf,
  emptyValues,
} from '../../catalogue/faults.ts'
import type { Basis } from './valid-request.ts'

/**
 * A shortened or lengthened id may have an invalid form (a uuid, a ULID, an ObjectId, a number with a letter), and so
 * may a uuid among other ids: a server may refuse it by its form (§7.2).
 */
const ofForm: Pairs = [[400, 'BadRequest', 'InvalidInputParameters']]

type Way = 'unknown' | 'asked twice' | 'cut' | 'lengthened' | 'of another kind'

/** The id of a deleted file in the path, if one is declared. */
export function deletedIdCases(material: Material, what: string): Case[] {
  const { deletedFile } = material.target.resources
  const change = (valid: Probe): Probe => ({ ...valid, params: { file_id: deletedFile! } })
  return deletedFile === undefined
    ? []
    : [{ what, faults: [{ part: 'id', kind: 'deleted' }], change }]
}

/** @param ways default: all */
export function unknownIdCases(
  material: Material,
  parameter: string,
  ways?: readonly Way[],
): Case[] {
  const { requirement, operation, target, valid } = material
  const declared = valid.params[parameter] ?? ''
  const { effect, params } = operationOf(operation)
  // Other forms of ids may be ambiguous.
  const uuid = (params?.[parameter]?.others ?? [])
    .map((pointer) => getAt(target.file, pointer))
    .find((id) => typeof id === 'string' && isUuid(id)) as string | undefined
  const drawn = freshUnknownId(material, declared, randomFor(material, requirement.id))
  const ids: Readonly<Record<Way, readonly [what: string, id?: string | undefined]>> = {
    unknown: [`an unknown ${parameter}`, drawn],
    'asked twice': [`an unknown ${parameter}, asked for again`, drawn],
    cut: [
      `the declared ${parameter} without its last character`,
      changedId(material, declared, 'cut'),
    ],
    lengthened: [
      `the declared ${parameter} with more behind it`,
      changedId(material, declared, 'lengthened'),
    ],
    'of another kind': [`the id of another kind of object as ${parameter}`, uuid],
  }
  // No id that is declared, or made from one, is named to what destroys.
  const all =
    effect === 'destroys' ? (['unknown', 'asked twice'] as const) : (Object.keys(ids) as Way[])
  return (ways ?? all).flatMap((way): Case[] => {
    const [what, id] = ids[way]
    if (id === undefined || id === declared) return []
    const keepsForm =
      id === drawn ||
      (way === 'of another kind' && isUuid(declared)) ||
      (way === 'cut' && isNumber(declared))
    return [
      {
        what: `with a valid request, but ${what}`,
        faults: [{ part: 'id', kind: way }],
        isUnknownId: way !== 'of another kind',
        // Nothing can be created at an unknown id: the probe may be repeated, and needs no idle application.
        change: (probe) => ({ ...probe, params: { ...probe.params, [parameter]: id } }),
        expects: keepsForm ? undefined : [...pairsOf(requirement, operation), ...ofForm],
      },
    ]
  })
}

export const unknown = (parameter: string): CaseCondition =>
  byCases((material) => unknownIdCases(material, parameter), { inOrder: true })

/**
 * A change after which RFC 8259's grammar refuses a JSON text, or a value to put into it, and its description to follow
 * `with the valid body`.
 */
type JsonFault = readonly [what: string, change: string | ((text: string) => string)]

const string = /"((?:[^"\\]|\\.)*)"/g
const plainName = /([{,]\s*)"([A-Za-z_]\w*)"(?=\s*:)/

const beforeEnd = (text: string, added: string): string =>
  `${text.slice(0, -1)}${added}${text.slice(-1)}`

function withValue(text: string, value: string): string {
  const comma = /^[{[]\s*[}\]]$/.test(text) ? '' : ','
  return beforeEnd(text, `${comma}${text.startsWith('{') ? '"conform":' : ''}${value}`)
}

export const jsonFaults: Readonly<Record<MalformedJson, JsonFault>> = {
  'cut before its end': ['cut before its last bracket', (text) => text.slice(0, -1)],
  'bracket too many': ['and a bracket too many', (text) => `${text}}`],
  'comma too many': ['and a comma before its last bracket', (text) => beforeEnd(text, ',')],
  'text after its end': ['and text after its end', (text) => `${text} and more`],
  'second document': ['and a second one after its end', (text) => `${text}\n${text}`],
  comment: ['and a comment in it', (text) => `${text[0]}/* no comment */${text.slice(1)}`],
  '// comment': ['and a // comment in it', (text) => `${text[0]} // no comment\n${text.slice(1)}`],
  '# comment': ['and a line with # in it', (text) => `${text[0]} # no comment\n${text.slice(1)}`],
  NaN: ['and NaN in it', 'NaN'],
  Infinity: ['and Infinity in it', 'Infinity'],
  '+1': ['and +1 in it', '+1'],
  '01': ['and 01 in it', '01'],
  '.5': ['and .5 in it', '.5'],
  'single quotes': ['in single quotes', (text) => text.replaceAll(string, "'$1'")],
  'name without quotes': [
    'and a member name without quotes',
    (text) => text.replace(plainName, '$1$2'),
  ],
  'line end in a string': ['and a raw line end in a string', '"two\nlines"'],
  'tab in a string': ['and a raw tab in a string', '"two\twords"'],
}

export function malformedBy(change: JsonFault[1], valid: string): string | undefined {
  const whole = valid.trim()
  const text = typeof change === 'string' ? withValue(whole, change) : change(whole)
  try {
    JSON.parse(text)
    return undefined
  } catch {
    return text === '' ? undefined : text
  }
}

const textOf = (probe: Probe): string =>
  typeof probe.body === 'string' ? probe.body : new TextDecoder().decode(probe.body)

const missingBodyCase: Case = {
  what: 'without a body',
  faults: [{ part: 'body', kind: 'length 0' }],
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
        faults: [{ part: 'JSON', kind }],
        change: (probe) => ({ ...probe, body: malformedBy(change, textOf(probe)) ?? '' }),
      },
    ]
  }),
)

export const wrongContentType = byCases(() =>
  mediaTypes.map((type): Case => ({
    what: `with the valid body labelled ${type}`,
    faults: [{ part: 'content type', kind: type }],
    change: (probe) => withHeader(probe, 'content-type', type),
  })),
)

const otherBody: Readonly<Record<OtherBody, (valid: string) => string>> = {
  // A server that decodes it once more would find the valid body.
  text: (valid) => JSON.stringify(valid),
  number: () => '42',
  true: () => 'true',
  null: () => 'null',
  '[]': () => '[]',
  'the valid body in an array': (valid) => `[${valid}]`,
}

export const malformedBody = byCases((one) =>
  bodiesOf(one.operation).map((kind): Case => ({
    what: `with a body that is ${preview(JSON.parse(otherBody[kind](textOf(one.valid))))}`,
    faults: [{ part: 'body', kind }],
    change: (probe) => ({ ...probe, body: otherBody[kind](textOf(probe)) }),
  })),
)

const longestKnown = 52

/** Language codes, and names with at least four letters: a shorter made-up word may itself be a known name. */
const hasOwnForm = /^[A-Za-z]{2,3}([-_]|$)|([A-Za-z][^A-Za-z]*){4}/

/**
 * Invalid values of the right type: outside bounds; unknown words, and words with the known one as prefix, since a
 * server may compare only the prefix. If the target has its own names, a word in their form.
 */
function otherValues(material: Material, place: Placed): Change[] {
  const { member, body, pointer } = place
  const bounds = (member.outside ?? []).map((value) =>
    change(place, 'value', `${String(value)}, outside its bounds`, () => value),
  )
  if (!member.isChosen) return bounds
  const known = getAt(body, pointer)
  const isShort = typeof known === 'string' && known !== '' && known.length <= longestKnown
  const isNamed = isShort && hasOwnForm.test(known) && !isUuid(known)
  const word =
    isNamed && member.role !== undefined
      ? known.replaceAll(/[a-z]/g, 'q').replaceAll(/[A-Z]/g, 'Q')
      : unknownWord(material, material.requirement.id)
  const unknown = (kind: string, value: string): Change =>
    change(place, kind, `the unknown ${value}`, () => value)
  return [
    unknown('value', word),
    ...(isShort ? [unknown('lengthened', known + word)] : []),
    // Every JavaScript object used as a lookup table has it.
    unknown('object member', 'constructor'),
  ]
}

/** The faults of a member that a requirement judges, by its name. */
function faultsUnder(material: Material, name: string, place: Placed): Change[] {
  const { judgedBy = {}, kinds, isFile } = place.member
  const changes: Change[] = []
  if (judgedBy.absent === name) changes.push(...absent(place))
  if (judgedBy.null === name) changes.push(...ofKinds(place, ['null']))
  if (judgedBy.type === name) changes.push(...ofOtherTypes(place))
  for (const kind of judgedBy.empty === name ? kinds : [])
    if (kind in emptyValues) changes.push(change(place, 'empty', 'empty', () => emptyValues[kind]))
  if (judgedBy.value === name) changes.push(...otherValues(material, place))
  if (judgedBy.unknown === name) {
    changes.push(unknownIdAt(material, place))
    if (isFile) changes.push(...deletedIdAt(material, place))
  }
  return changes
}

/**
 * Each case alone, and in a later item of its array. For nested items, one case also in a later outer item. For a
 * single item, one case also before it, since a server may check only the last.
 */
function withLater(place: Placed, cases: readonly Change[]): Change[] {
  const [inner, outer] = arraysAbove(place).toReversed()
  const { at } = place.member
  if (inner === undefined) return [...cases]
  // A server may treat false as absent, so both booleans are sent.
  const later = cases.map((one) =>
    isOf(one, 'boolean') ? change(place, 'boolean', 'false', () => false) : one,
  )
  const [first] = cases
  const isSingle =
    at.endsWith('/*') && (getAt(place.body, inner) as readonly unknown[]).length === 1
  return [
    ...cases,
    ...later.flatMap((one) => inOtherItem(one, inner, 'last')),
    ...(first && isSingle ? inOtherItem(first, inner, 'first') : []),
    ...(first && outer !== undefined ? inOtherItem({ ...first, faults: [] }, outer, 'last') : []),
  ]
}

interface RecordOptions {
  /** An empty body lacks the member, too. */
  readonly orNoBody?: true
  readonly besides?: (known: Basis, valid: Probe) => Probe
  readonly otherTypes?: { readonly at: string; readonly expects: Pairs }
}

/** The faults that the record of the operation names for a requirement. */
export function byRecord(options: RecordOptions = {}): CaseCondition {
  const { besides, orNoBody, otherTypes } = options
  return byCases((material): Case[] | Open => {
    const { operation, requirement, valid } = material
    const adapted = (own: Probe): Probe => besides?.(material, own) ?? own
    const name = requirement.condition
    const whole = adapted(valid)
    const body = jsonOf(whole)
    const places = placesIn(material, operation, body).filter((place) => {
      const { judgedBy = {}, supportedIf } = place.member
      if (!Object.values(judgedBy).includes(name) || !isOfItsType(place, place.body)) return false
      // The target supports what the member is part of: the declared body has it, or a scenario shows it.
      return (
        supportedIf === undefined ||
        hasParent(body, place.pointer) ||
        Object.hasOwn(material.target.scenarios, `${operation}/${supportedIf}`)
      )
    })
    const changes = places.flatMap((place) => {
      const own = faultsUnder(material, name, place)
      return [
        ...(place.member.at.includes('*') ? withLater(place, own) : own),
        ...(place.member.judgedBy?.type === name ? otherFormsOf(place) : []),
      ]
    })
    if (changes.length === 0)
      return open(
        `put a value at ${places[0]?.pointer ?? ''} into operations.${operation}.body: the suite sends it as another type`,
      )
    const asCase = (one: Change): Case => {
      const isMore = withoutFault(one, body) !== undefined
      const control = (own: Probe): Probe => {
        const probe = adapted(own)
        return isMore ? withJson(probe, withoutFault(one, jsonOf(probe))) : probe
      }
      const isCoerced = mayBeCoerced(one)
      const isOther = one.place.member.at === otherTypes?.at
      let expects: Pairs | undefined
      // Converted to a number it is 0, which may be out of range (§7.2).
      if (isCoerced && one.value(undefined) === false) expects = anyBadRequest
      else if (isOther && jsonKinds.some((kind) => isOf(one, kind))) expects = otherTypes.expects
      return {
        ...caseOf(one, adapted),
        control: isMore || whole !== valid ? control : undefined,
        expects,
        coercion: isCoerced ? asText(one) : undefined,
        mayStay: operationOf(operation).freshFileAt !== undefined && isOf(one, 'deleted'),
      }
    }
    // A server may cache a known word. In an array, it appears in two items.
    const again = changes
      .filter((one) => one.place.member.isChosen && isOf(one, 'value') && one.place.member.role)
      .map(({ called, ...one }): Case => {
        const faults = [inMember('again', one.place.member.at)]
        const repeated = { ...one, called: `${called}, asked for again`, faults }
        return { ...asCase(repeated), when: 'after the others' }
      })
    return [
      ...changes.filter((one) => !mayBeCoerced(one)).map(asCase),
      ...(orNoBody ? [missingBodyCase] : []),
      ...changes.filter(mayBeCoerced).map(asCase),
      ...again,
    ]
  })
}

/** `true` for a number: a server may convert it. */
const mayBeCoerced = (one: Change): boolean =>
  one.place.member.kinds[0] === 'number' && isOf(one, 'boolean')

/**
 * A server that converts `true` to a number also converts text: accepting one and refusing the other is inconsistent.
 */
const asText =
  (one: Change) =>
  (valid: Probe): Probe =>
    withBody(valid, changedBody([{ ...one, value: () => '1' }], jsonOf(valid)))
