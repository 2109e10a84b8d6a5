import fc from 'fast-check'
import { anyBadRequest, type Pairs, pairsOf } from '../../catalogue/answers.ts'
import { conditionOf } from '../../catalogue/catalogue.ts'
import {
  bodiesOf,
  emptyOf,
  furtherMembers,
  type MalformedJson,
  malformedJson,
  mediaTypes,
  type OtherBody,
} from '../../catalogue/faults.ts'
import {
  type JsonKind,
  jsonKinds,
  type Member,
  operation as operationOf,
  type OperationId,
  otherKinds,
  placeOf,
  roleOf,
} from '../../catalogue/operations.ts'
import { jsonOf, type Open, type Probe, withHeader, withJson } from '../../harness/journal/index.ts'
import { isUuid } from '../../schemas/formats.ts'
import {
  escapeToken,
  getAt,
  hasParent,
  isObject,
  member as memberOf,
  preview,
  setAt,
  tokensOf,
} from '../../schemas/json.ts'
import {
  byCases,
  type Case,
  type CaseCondition,
  type Fault,
  inMember,
  type Material,
} from './case.ts'
import {
  bodyOf,
  changedId,
  extraRoles,
  freshUnknownId,
  isNumber,
  type Known,
  type OfTarget,
  randomFor,
  unknownId,
  unknownWord,
  withoutRoles,
} from './valid-request.ts'

export function pointerOf(known: OfTarget, operation: OperationId, role: string) {
  return known.target.operations[operation]?.fields[role]
}

export const valueAt = (
  known: OfTarget,
  operation: OperationId,
  role: string,
  body: unknown,
): unknown => getAt(body, pointerOf(known, operation, role) ?? `/${role}`)

/** The valid body with another value at the role; adds the member if absent, removes it for `undefined`. */
export function atRole(known: OfTarget, probe: Probe, role: string, value: unknown): Probe {
  const pointer = probe.operation === null ? undefined : pointerOf(known, probe.operation, role)
  return withBody(probe, setAt(jsonOf(probe), pointer ?? `/${role}`, value))
}

// Where the members of a record are in a body.

/** The place of a member in a body, and a body with all its parents. */
export interface Placed {
  /** The record's member, with its valid types; for a member found only in the declared body, from its value. */
  readonly member: Member
  readonly pointer: string
  readonly body: unknown
  readonly like: unknown
}

export type PickItem = (items: readonly unknown[], member: Member) => number

const ofItsType: PickItem = (items, { ofType }) =>
  ofType === undefined
    ? 0
    : Math.max(
        0,
        items.findIndex((item) => getAt(item, '/type') === ofType),
      )

/** §2.7. */
export const isSetting = (one: Member): boolean => one.at.startsWith('{query_config}')

/** The members of the operation's record that can be in its body; `pick` chooses among the items of an array. */
export function placesIn(
  known: OfTarget,
  operation: OperationId,
  body: unknown,
  pick = ofItsType,
): Placed[] {
  const { members, settingsWith } = operationOf(operation)
  const fields = known.target.operations[operation]?.fields ?? {}
  const examples = examplesFor(known, operation, body)
  /** The body with the parents of a member; undefined if it has others, or nobody knows an example of one. */
  const framed = (member: Member, place: string, body: unknown) => {
    let whole = body
    let pointer = ''
    let pattern = ''
    for (const token of tokensOf(place)) {
      let above = getAt(whole, pointer)
      if (pattern !== '' && above === undefined) {
        const isAbove = (one: Member): boolean =>
          one.at === pattern ||
          (one.at === '{query_config}' && place.startsWith(`${pattern}/`) && isSetting(member))
        const parent = members.find(isAbove)
        above = parent && examples(parent, undefined)
        if (above === undefined) return undefined
        whole = setAt(whole, pointer, above)
      }
      if (token === '*' && !Array.isArray(above)) {
        above = examples(member, above)
        if (!Array.isArray(above)) return undefined
        whole = setAt(whole, pointer, above)
      }
      pointer += `/${token === '*' ? pick(above as readonly unknown[], member) : escapeToken(token)}`
      pattern += `/${token}`
      if (!hasParent(whole, pointer)) return undefined
    }
    return { body: whole, pointer }
  }
  const withExtra = (): unknown => {
    const left = extraRoles(operation).filter((role) => !settingsWith?.includes(role))
    return withoutRoles(known, operation, bodyOf(known, operation), left)
  }
  return members.flatMap((member: Member): Placed[] => {
    const place = placeOf(members, member, fields)
    if (place === undefined) return []
    // If a query_config needs more than a plain request, a request with that is used.
    const frame = framed(member, place, settingsWith && isSetting(member) ? withExtra() : body)
    if (!frame) return []
    const own: unknown = getAt(frame.body, frame.pointer)
    const ofItems = own === undefined ? member : { ...member, at: `${member.at}/*` }
    const isToFill = member.kinds.includes('array') && !Array.isArray(own)
    const like = (isToFill ? examples(ofItems, own) : undefined) ?? own ?? member.inside?.[0]
    if (member.kinds.length > 0 || member.isId || own === undefined || own === null)
      return [{ ...frame, member, like }]
    // A parameter has the type of its declared value; for a text or array, a server may accept one or several.
    const kind = kindOf(own)
    const isText = kind === 'string' || kind === 'array'
    const typed = { ...member, kinds: [kind], tolerates: isText ? texts : [] }
    return [{ ...frame, member: typed, like }]
  })
}

const texts = ['string', 'array'] as const

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=='

/** Provides missing parents: an llm tool, parts of a content, the record's example. */
function examplesFor(known: OfTarget, operation: OperationId, body: unknown) {
  return (member: Member, above: unknown): unknown => {
    if (member.at === '/tools')
      return [{ type: 'llm', function: llmFunction(known, operation, body) }]
    if (member.at === '{query_config}') return {}
    if (above === undefined) return getAt(member.example, member.at)
    if (typeof above !== 'string' || !member.at.startsWith('/messages/*/content/*'))
      return undefined
    return member.ofType === 'image_url'
      ? [{ type: 'image_url', image_url: { url: pixel } }]
      : [{ type: 'text', text: above }]
  }
}

function llmFunction(known: OfTarget, operation: OperationId, body: unknown): unknown {
  const declared = known.target.operations[operation]?.body
  const tools = [valueAt(known, operation, 'tools', declared)].flat()
  const own = memberOf(
    tools.find((one) => memberOf(one, 'type') === 'llm'),
    'function',
  )
  const isWhole = isObject(own) && typeof own['model'] === 'string'
  const plain = { model: valueAt(known, operation, 'model', body) }
  return { description: 'Answers questions', ...(isWhole ? own : plain) }
}

const deepest = 3

export function undescribedMembers(body: unknown, shown: readonly Placed[]): Placed[] {
  const known = new Set(shown.map((one) => one.pointer))
  return membersIn(body, '', deepest)
    .filter((pointer) => !known.has(pointer))
    .slice(0, furtherMembers)
    .map((pointer): Placed => {
      const like: unknown = getAt(body, pointer)
      return { member: { at: pointer, kinds: [kindOf(like)], section: '4.4' }, pointer, body, like }
    })
}

function membersIn(value: unknown, pointer: string, levels: number): string[] {
  if (levels === 0) return []
  if (Array.isArray(value))
    return isObject(value[0]) ? membersIn(value[0], `${pointer}/0`, levels) : []
  if (!isObject(value)) return []
  const own = Object.keys(value).map((name) => `${pointer}/${escapeToken(name)}`)
  return [
    ...own,
    ...Object.values(value).flatMap((inner, at) => membersIn(inner, own[at]!, levels - 1)),
  ]
}

/** The arrays that the place is in, the outermost first. */
export function arraysAbove({ body, pointer, member }: Placed): string[] {
  if (!member.at.includes('*')) return []
  return [...pointer.matchAll(/\//g)]
    .map((slash) => pointer.slice(0, slash.index))
    .filter((at) => Array.isArray(getAt(body, at)))
}

// What is put there instead.

export interface Change {
  readonly place: Placed
  /** For example `messages.0.role`, `a number`. */
  readonly name: string
  readonly called: string
  /** Several if one value has several. */
  readonly faults: readonly Fault[]
  /** @param own the value in the valid request; returns undefined to leave it out */
  value(own: unknown): unknown
  readonly sound?: unknown
  readonly isUnknownId?: boolean | undefined
}

export function change(
  place: Placed,
  kind: string,
  called: string,
  value: Change['value'],
): Change {
  const { pointer, member } = place
  const name = pointer === '' ? 'the body' : pointer.slice(1).replaceAll('/', '.')
  const fault: Fault = pointer === '' ? { part: 'body', kind } : inMember(kind, member.at)
  return { place, name, called, faults: [fault], value }
}

export const described = (one: Change): string => `${one.name} is ${one.called}`

export const isOf = (one: Change, kind: string): boolean =>
  one.faults.some((fault) => fault.part === 'member' && fault.kind === kind)

export const absent = (place: Placed): Change[] =>
  getAt(place.body, place.pointer) === undefined
    ? []
    : [change(place, 'absent', 'left out', () => undefined)]

/** An id of the type of another. */
const ofType = (own: unknown, id: string): unknown => (typeof own === 'number' ? Number(id) : id)

/** The member with an unknown id, shared by all requirements and so sent once. */
export const unknownIdAt = (known: Known, place: Placed): Change => ({
  ...change(place, 'unknown', 'unknown', (own) => {
    const random = randomFor(known, `unknown ${place.member.at}`)
    return ofType(own, unknownId(String(place.like ?? own), random, known.target.ids))
  }),
  isUnknownId: true,
})

export function deletedIdAt(known: Known, place: Placed): Change[] {
  const { deletedFile: id } = known.target.resources
  return id === undefined ? [] : [change(place, 'deleted', 'that of a deleted file', () => id)]
}

export const ofKinds = (
  place: Placed,
  kinds: readonly JsonKind[],
  values: Samples = sample,
): Change[] =>
  kinds.map((kind) => {
    const called = kind === 'null' ? kind : `${/^[ao]/.test(kind) ? 'an' : 'a'} ${kind}`
    return change(place, kind, called, () => inPlaceOf(place.like, values[kind]))
  })

/**
 * Falsy values, which `if (!value)` mistakes for an absent member: `false` for members that a server may skip, 0 for
 * members that may be booleans.
 */
function samplesFor({ isExtra, tolerates = [], role }: Member): Samples {
  const mayBeSkipped = isExtra || tolerates.includes('array') || role === 'name'
  return {
    ...sample,
    boolean: !mayBeSkipped,
    number: tolerates.includes('boolean') ? 0 : sample.number,
  }
}

/**
 * The member with a value of each excluded type; instead of an array of objects also an object with indices as names.
 */
export function ofOtherTypes(place: Placed): Change[] {
  const { like, member } = place
  const isIndexed = Array.isArray(like) && isObject(like[0])
  const indexed = (): unknown => ({ ...(like as readonly unknown[]) })
  return [
    ...ofKinds(place, otherKinds(member), samplesFor(member)),
    ...(isIndexed ? [change(place, 'object', 'an object of its items', indexed)] : []),
  ]
}

/** The other boolean, and 0: `if (value && ...)` checks only one of them. A server may read 0 as false. */
export function otherFormsOf(place: Placed): Change[] {
  const { boolean, number } = samplesFor(place.member)
  return otherKinds(place.member).flatMap((kind) => {
    if (kind === 'boolean') return [change(place, kind, String(!boolean), () => !boolean)]
    const hasZero = kind === 'number' && number !== 0 && !place.member.kinds.includes('boolean')
    return hasZero ? [change(place, kind, '0', () => 0)] : []
  })
}

const hasName = (item: unknown): boolean =>
  isObject(item) && Object.keys(item).some((name) => /^(?:name|id|.*_id)$/.test(name))

/** Puts the case into a separate item after or before the valid ones: a server may check only one. */
export function inOtherItem(one: Change, array: string, where: 'first' | 'last'): Change[] {
  const { place } = one
  const found: unknown = getAt(place.body, array)
  const [token, ...below] = tokensOf(place.pointer.slice(array.length))
  const faulty: unknown = getAt(changedBody([one]), `${array}/${token}`)
  if (!Array.isArray(found) || (faulty === undefined && below.length === 0)) return []
  const sound: readonly unknown[] = found
  const own = sound[Number(token)]
  const isLast = where === 'last'
  const items = isLast ? [...sound, faulty] : [faulty, ...sound]
  return [
    {
      ...one,
      place: { ...place, pointer: array },
      name: [...tokensOf(array), isLast ? sound.length : 0, ...below].join('.'),
      called: `${one.called} (the ${where} of ${items.length})`,
      faults: isLast ? one.faults.map((fault) => ({ ...fault, isLater: true })) : one.faults,
      value: () => items,
      ...(!hasName(own) && { sound: [...sound, own] }),
    },
  ]
}

/** The request with the additions of a change but without its fault; undefined without additions. */
export function withoutFault(one: Change, body: unknown): unknown {
  const { place, sound } = one
  if (sound === undefined && hasParent(body, place.pointer)) return undefined
  return changedBody([{ ...one, value: (own) => sound ?? own }], body)
}

export const topOf = (place: Placed): string => place.pointer.split('/', 2).join('/')

export const parentOf = (place: Placed): string =>
  place.pointer.slice(0, place.pointer.lastIndexOf('/'))

export function changedBody(changes: readonly Change[], valid?: unknown): unknown {
  const framed = changes.reduce<unknown>((body, one) => {
    const top = topOf(one.place)
    return hasParent(body, one.place.pointer) ? body : setAt(body, top, getAt(one.place.body, top))
  }, valid ?? changes[0]?.place.body)
  return changes.reduce((body, { place, value }) => {
    const own = getAt(valid, place.pointer) ?? getAt(place.body, place.pointer)
    return setAt(body, place.pointer, value(own))
  }, framed)
}

/** @param besides changes the valid request first */
export const caseOf = (one: Change, besides?: (valid: Probe) => Probe): Case => ({
  what: `with a valid body, but ${described(one)}`,
  faults: one.faults,
  isUnknownId: one.isUnknownId,
  change(valid) {
    const whole = besides?.(valid) ?? valid
    return withJson(whole, changedBody([one], jsonOf(whole)))
  },
})

// Values of each kind.

export function kindOf(value: unknown): JsonKind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as JsonKind
}

type Samples = Readonly<Record<JsonKind, unknown>>

export const sample: Samples = {
  null: null,
  boolean: true,
  number: 42,
  string: 'text',
  array: ['text'],
  object: { key: 'text' },
}

/**
 * The sample to replace `own`, keeping the member's content as a lenient server would read it: in an array; as an
 * object of an array's items; as an object with a text under common names. One item in place of its array is never
 * used: a server may accept it.
 */
export function inPlaceOf(own: unknown, value: unknown): unknown {
  if (own === undefined || own === null || value !== sample[kindOf(value)]) return value
  if (Array.isArray(own)) {
    const isOfItems = value === sample.object && own.length > 0 && !isObject(own[0])
    return isOfItems ? { ...(own as readonly unknown[]) } : value
  }
  if (typeof own === 'string' && value === sample.object)
    return { text: own, value: own, id: own, name: own }
  return value === sample.array ? [own] : value
}

/** Ranges of standalone characters: Latin, Greek, Cyrillic, Hebrew, Chinese, emoji. */
const scripts = [' ~', '¡ſ', 'ΑΡ', 'Ая', 'את', '一龥', '😀🙏'] as const
const character = fc
  .oneof(
    ...scripts.map((ends) => {
      const [min, max] = [...ends].map((end) => end.codePointAt(0)!)
      return fc.integer({ min, max })
    }),
  )
  .map((code) => String.fromCodePoint(code))

/** Texts of many scripts; fast-check's own graphemes load a table of some MB. */
export const anyText = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: character, minLength: 1, maxLength })

const word = fc.stringMatching(/^[a-z]{1,12}$/)
const item = fc.oneof(word, fc.integer({ min: 0, max: 99 }))

/** Small values of each kind that shrink in a few steps; never empty. */
const ofKind: Readonly<Record<JsonKind, fc.Arbitrary<unknown>>> = {
  null: fc.constant(null),
  boolean: fc.boolean(),
  number: fc.oneof(
    fc.integer({ min: -1000, max: 1000 }),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
  ),
  string: word,
  array: fc.array(item, { minLength: 1, maxLength: 3 }),
  object: fc.dictionary(word, item, { minKeys: 1, maxKeys: 2 }),
}

export const ofKindsAny = (...kinds: JsonKind[]): fc.Arbitrary<unknown> =>
  fc.oneof(...kinds.map((kind) => ofKind[kind]))

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
  const { requirement, operation, valid } = material
  const declared = valid.params[parameter] ?? ''
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
    'of another kind': [
      `the id of another kind of object as ${parameter}`,
      idOfAnother(material, parameter),
    ],
  }
  return (ways ?? (Object.keys(ids) as Way[])).flatMap((way): Case[] => {
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

/** The id of an object of another kind, if a uuid: other forms may be ambiguous. Nothing declared may be destroyed. */
function idOfAnother(material: Material, parameter: string): string | undefined {
  const { effect, params } = operationOf(material.operation)
  const { others = [] } = (effect !== 'destroys' && params?.[parameter]) || {}
  return others
    .map((pointer) => getAt(material.target.file, pointer))
    .find((id) => typeof id === 'string' && isUuid(id)) as string | undefined
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
  comment: ['and a comment in it', (text) => `${text[0]}/* no comment */${text.slice(1)}`],
  '# comment': ['and a line with # in it', (text) => `${text[0]} # no comment\n${text.slice(1)}`],
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
  text: () => '"text"',
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
    isNamed && roleOf(member) !== undefined
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
  if (judgedBy.empty === name)
    changes.push(...emptyOf(kinds).map((value) => change(place, 'empty', 'empty', () => value)))
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
  readonly besides?: (known: Known, valid: Probe) => Probe
  readonly otherTypes?: { readonly at: string; readonly expects: Pairs }
}

export const byRecord = (options: RecordOptions = {}): CaseCondition =>
  byCases((material) => recordCases(material, options))

function recordCases(material: Material, options: RecordOptions): Case[] | Open {
  const { operation, requirement, valid } = material
  const { otherTypes, besides: change } = options
  const besides = change && ((own: Probe): Probe => change(material, own))
  const name = conditionOf(requirement.id)
  const whole = besides?.(valid) ?? valid
  const body = jsonOf(whole)
  const places = placesIn(material, operation, body).filter((place) => {
    const { judgedBy = {}, supportedIf } = place.member
    if (!Object.values(judgedBy).includes(name)) return false
    // The target supports what the member is part of: the declared body has it, or a scenario shows it.
    return (
      supportedIf === undefined ||
      hasParent(body, place.pointer) ||
      Object.hasOwn(material.target.scenarios, `${operation}/${supportedIf}`)
    )
  })
  const changes = places.flatMap((place) => [
    ...withLater(place, faultsUnder(material, name, place)),
    ...(place.member.judgedBy?.type === name ? otherFormsOf(place) : []),
  ])
  if (changes.length === 0)
    return {
      outcome: 'open',
      why: `put a value at ${places[0]?.pointer ?? ''} into operations.${operation}.body: the suite sends it as another type`,
    }
  const asCase = (one: Change): Case => {
    const isMore = withoutFault(one, body) !== undefined
    const control = (own: Probe): Probe => {
      const probe = besides?.(own) ?? own
      return isMore ? withJson(probe, withoutFault(one, jsonOf(probe))) : probe
    }
    const isCoerced = mayBeCoerced(one)
    const isOther = one.place.member.at === otherTypes?.at
    let expects: Pairs | undefined
    // Converted to a number it is 0, which may be out of range (§7.2).
    if (isCoerced && one.value(undefined) === false) expects = anyBadRequest
    else if (isOther && jsonKinds.some((kind) => isOf(one, kind))) expects = otherTypes.expects
    return {
      ...caseOf(one, besides),
      control: isMore || whole !== valid ? control : undefined,
      expects,
      coercion: isCoerced ? asText(one) : undefined,
      mayStay: operationOf(operation).freshFileAt !== undefined && isOf(one, 'deleted'),
    }
  }
  // A server may cache a known word. In an array, it appears in two items.
  const again = changes
    .filter((one) => one.place.member.isChosen && isOf(one, 'value') && roleOf(one.place.member))
    .map(({ called, ...one }): Case => {
      const faults = [inMember('again', one.place.member.at)]
      const repeated = { ...one, called: `${called}, asked for again`, faults }
      return { ...asCase(repeated), when: 'after the others' }
    })
  return [
    ...changes.filter((one) => !mayBeCoerced(one)).map(asCase),
    ...(options.orNoBody ? [missingBodyCase] : []),
    ...changes.filter(mayBeCoerced).map(asCase),
    ...again,
  ]
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
