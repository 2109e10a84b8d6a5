import { isDeepStrictEqual } from 'node:util'
import {
  emptyValues,
  isListed,
  isLoose,
  looseBodies,
  oddBodies,
  type OddBody,
  oddNumbers,
  oddTexts,
  type OddValue,
  oddValuesOf,
  twinOf,
} from '../../catalogue/faults.ts'
import {
  busyStatus,
  type Effect,
  jsonKinds,
  type Member,
  operationOf,
  type OperationId,
} from '../../catalogue/operations.ts'
import { type Client, effectOf, type Given } from '../../harness/client/index.ts'
import {
  type Ask,
  countsAsGranted,
  type Evidence,
  isOpen,
  jsonOf,
  type Open,
  type Probe,
  type Verdict,
  withHeader,
  withJson,
  open,
} from '../../harness/journal/index.ts'
import { leftOut } from '../../harness/report/index.ts'
import { type CheckContext, maxAtOnce, mayGenerate, sendShared } from '../../harness/run/index.ts'
import { getAt, hasParent, preview, setAt } from '../../schemas/json.ts'
import {
  type Case,
  type Condition,
  countAll,
  type Fault,
  type KnownCases,
  type Material,
  type Refusal,
} from './case.ts'
import { need, sharedBy } from './created.ts'
import {
  absent,
  type Change,
  change,
  changedBody,
  deletedIdAt,
  inOtherItem,
  isOf,
  ofKinds,
  sample,
  unknownIdAt,
  arraysAbove,
  isSetting,
  parentOf,
  type Placed,
  placesIn,
  topOf,
  undescribedMembers,
} from './changes.ts'
import { ruleOf } from './suite.ts'
import { type CaseVerdict, remembering } from './rules.ts'
import { randomFor, sampled, shuffled } from './random.ts'
import { validRequest, whyNotOfInput } from './valid-request.ts'

export const badInput: Condition & KnownCases = {
  cases: casesOf,
  async casesIn(material, context) {
    const cases = casesOf(material)
    if (isOpen(cases)) return cases
    const another = await requireAnother(context, material)
    return isOpen(another) ? another : cases
  },
  judge,
}

function casesOf(material: Material): readonly Case[] | Open {
  // Some of it may be accepted.
  if (material.options.readOnly && material.valid.effect !== 'none')
    return open(leftOut('--read-only'))
  return sampled(material, material.requirement.id, oddCases(material))
}

/** A crash on a creation proves nothing if a second valid creation crashes too: another requirement reports that. */
async function requireAnother(context: CheckContext, material: Material) {
  if (operationOf(material.operation).creates?.name === undefined) return undefined
  // A new object per try, since the answer to the first may be lost.
  const purpose = { role: 'setup', isSuccess: countsAsGranted } as const
  const make = () => validRequest(context.client, context.given, material.operation)
  return need('a second valid request', await context.send(make, purpose), countsAsGranted)
}

type JudgeCase = (one: Case) => CaseVerdict

/**
 * Sends first what cannot make the target generate, then the rest while the run may generate more. At the end, reports
 * what is left, and checks crashes found by other requirements.
 */
async function judge(refusal: Refusal, cases: readonly Case[], isEnd: boolean): Promise<Verdict> {
  const { context, material } = refusal
  const { client, given } = context
  const rules = new Map<Case, ReturnType<typeof remembering>>()
  const judgeCase: JudgeCase = (one) => {
    const rule = rules.get(one) ?? remembering(ruleOf(refusal, one))
    rules.set(one, rule)
    return rule(client.journal)
  }
  const generates = effectOf(given, material.operation) === 'generates'
  const mayTake = (one: Case): boolean => generates && one.effect !== 'none'
  const { generated } = sharedBy(client)
  const unlimited = { left: Infinity }
  const allowed = mayGenerate(given, context.requirement.id)
  const allowance = allowed === undefined ? unlimited : (generated.allowance ??= { left: allowed })
  const harmless = cases.filter((one) => !mayTake(one))
  const free = await settleWalk(client, judgeCase, harmless, unlimited)
  const costly = free.end
    ? free
    : await settleWalk(client, judgeCase, cases.filter(mayTake), allowance)
  const judged = free.judged + costly.judged
  const end = costly.end ?? (isEnd ? crashOf(client, material.operation) : undefined)
  if (end) return ended(client, given, end, judged)
  if (!isEnd) {
    generated.waiting += countAll(costly.pending.map((other) => other.one))
    return { outcome: 'asks', cases: judged, asks: [], atEnd: true }
  }
  const left = costly.pending.length
  const unjudged = costly.left ?? free.left
  if (left === 0) return { ...(unjudged ?? { outcome: 'held' }), cases: judged }
  const { maxGenerations } = given.target.limits
  // What was used, and what had to wait for it.
  const enough = Math.ceil((maxGenerations + generated.waiting) / 10) * 10
  const why = `maxGenerations: the target accepts so much bad input that limits.maxGenerations (${maxGenerations}) is used up; ${enough} would be enough; ${left} of ${judged + left} cases were not judged`
  return { outcome: 'open', cases: judged, why }
}

interface Walk {
  readonly pending: { readonly one: Case; readonly asks: readonly Ask[] }[]
  judged: number
  /** Why it goes no further: a 5xx, or what says nothing. */
  end?: Evidence | Open
  /** Why a case was not judged whose addition is refused without a fault, too. */
  left?: Open
}

/** Sends the requests of a walk, as long as the allowance covers them all if accepted; unanswered ones count. */
async function settleWalk(
  client: Client,
  judgeCase: JudgeCase,
  cases: readonly Case[],
  allowance: { left: number },
): Promise<Walk> {
  const isGranted = (one: Case): boolean => {
    const verdict = judgeCase(one)
    return verdict.outcome === 'held' && verdict.isGranted === true
  }
  for (;;) {
    const most = Math.min(maxAtOnce, allowance.left)
    const seen = walk(judgeCase, cases, most > 0 ? most : Infinity)
    const batch = seen.pending.slice(0, most)
    if (seen.end || batch.length === 0) return seen
    allowance.left -= batch.length
    await Promise.all(batch.flatMap((one) => one.asks).map((ask) => sendShared(client, ask)))
    allowance.left += batch.length - batch.filter((other) => isGranted(other.one)).length
  }
}

/**
 * Judges cases in order. A request that combines several odd values judges all of them if it is accepted. If
 * it gets a 4xx or 5xx, one value may be the cause, so each is sent alone. @param most stop at this many cases that are not judged yet
 */
function walk(judgeCase: JudgeCase, cases: readonly Case[], most: number): Walk {
  const seen: Walk = { pending: [], judged: 0 }
  const queue = cases.toReversed()
  for (let one = queue.pop(); one && !seen.end && seen.pending.length < most; one = queue.pop()) {
    const verdict = judgeCase(one)
    if (verdict.outcome === 'asks') {
      seen.pending.push({ one, asks: verdict.asks })
      continue
    }
    if (verdict.outcome === 'open' && one.control) {
      seen.left = verdict
      continue
    }
    seen.judged++
    if (verdict.outcome === 'open') seen.end = verdict
    else if (verdict.outcome !== 'held') {
      const which = whichBroke(judgeCase, one.parts ?? []) ?? verdict.evidence
      if ('asks' in which) return { ...seen, pending: [{ one, asks: which.asks }] }
      seen.end = which
    } else if (!verdict.isGranted) queue.push(...(one.parts ?? []).toReversed())
  }
  return seen
}

function whichBroke(
  judgeCase: JudgeCase,
  cases: readonly Case[],
): Evidence | { readonly asks: readonly Ask[] } | undefined {
  for (const one of cases) {
    const verdict = judgeCase(one)
    if (verdict.outcome === 'asks') return verdict
    if (verdict.outcome === 'open') return undefined
    const isOver = verdict.outcome === 'held' && verdict.isGranted
    const deeper = isOver ? undefined : whichBroke(judgeCase, one.parts ?? [])
    if (deeper) return deeper
    if (verdict.outcome !== 'held') return verdict.evidence
  }
  return undefined
}

async function ended(
  client: Client,
  given: Given,
  end: Evidence | Open,
  cases: number,
): Promise<Verdict> {
  if (isOpen(end)) return { ...end, cases }
  const why = await whyNotOfInput(client, given, end.exchange)
  return why === undefined
    ? { outcome: 'broken', cases, evidence: [end] }
    : { outcome: 'open', cases, why }
}

/** A crash on bad input of another requirement. */
function crashOf(client: Client, operation: OperationId): Evidence | undefined {
  for (const [exchange, what] of sharedBy(client).crashes)
    if (exchange.probe.operation === operation) {
      const shownBy = exchange.purpose.requirement
      return { exchange, what, expected: 'anything but a 5xx', shownBy }
    }
  return undefined
}

interface Ground {
  readonly material: Material
  readonly members: readonly Member[]
  readonly places: readonly Placed[]
}

/** All cases of bad input, those that prove most when accepted first. */
function oddCases(material: Material): Case[] {
  const { operation, requirement, target, valid } = material
  const { members } = operationOf(operation)
  const body = jsonOf(valid)
  const shown = placesIn(material, operation, body)
  const whole: unknown = { ...Object(material.target.operations[operation]?.body), ...Object(body) }
  const undescribed = undescribedMembers(whole, shown)
  const added = undescribed.filter((one) => !hasParent(body, one.pointer))
  const places = [...shown, ...undescribed.filter((one) => !added.includes(one))]
  const ground: Ground = { material, members, places }
  const changes = places.flatMap((place) => oddChanges(ground, place))
  const single = places.flatMap(changesOf)
  // Usually refused without the member, and so free of charge.
  const isNeeded = (one: Change): boolean =>
    isOf(one, 'absent') && getAt(body, topOf(one.place)) !== undefined
  const others = single.filter((one) => !isNeeded(one)).map((one) => memberCase(ground, one))
  const tops = [...new Set(added.map(topOf))]
  // If a limit cuts the list, other seeds send the rest.
  const isCut = target.limits.maxGenerations > 0
  return [
    ...bodyCases(material),
    ...single.filter(isNeeded).map((one) => memberCase(ground, one)),
    ...textCases(ground, changes),
    ...valueCases(ground, changes),
    ...togetherCases(ground),
    ...(isCut ? shuffled(others, randomFor(material, requirement.id)) : others),
    ...tops.flatMap((top) =>
      additionCases({ ...ground, places: added.filter((one) => topOf(one) === top) }, top),
    ),
  ]
}

/** What the target file declares in one member that a valid request leaves out, such as the tools of a chat. */
function additionCases(ground: Ground, top: string): Case[] {
  const addition: unknown = getAt(ground.places[0]?.body, top)
  const changes = ground.places.flatMap((place) => oddChanges(ground, place))
  const cases = [
    ...textCases(ground, changes, []),
    ...valueCases(ground, changes),
    ...togetherCases(ground),
    ...ground.places.flatMap(changesOf).map((one) => memberCase(ground, one)),
  ]
  const controlled = (one: Case): Case => ({
    ...one,
    ...(one.parts && { parts: one.parts.map(controlled) }),
    control: (valid) => withJson(valid, setAt(jsonOf(valid), top, addition)),
  })
  return cases.map(controlled)
}

// Faults of a member that no other requirement sends.

function changesOf(place: Placed): Change[] {
  const { member, like } = place
  const { at, kinds, judgedBy, isExtra } = member
  const others = jsonKinds.filter(
    (kind) => kind !== 'null' && !kinds.includes(kind) && !isElsewhere(member, kind),
  )
  const array = arraysAbove(place).at(-1)
  const later = (all: readonly Change[]): Change[] =>
    array === undefined ? [] : all.flatMap((one) => inOtherItem(one, array, 'last'))
  const items: unknown[] = Array.isArray(like) && kinds.includes('array') ? like : []
  // Removing the only item leaves an empty array, which is a separate case.
  const above = getAt(place.body, parentOf(place))
  const isOnly = Array.isArray(above) && above.length === 1
  // Absent members of a query_config belong to another requirement.
  const isAbsent = (isSetting(member) && at !== '{query_config}') || isOnly
  return [
    ...(isAbsent ? [] : absent(place)),
    ...ofKinds(place, others, { ...sample, boolean: !isExtra }),
    ...(kinds.includes('boolean') ? [change(place, 'number', 'the number 1', () => 1)] : []),
    // A server may accept one item as an array of one.
    ...(items.length > 0 ? [change(place, 'one item', 'only its first item', () => items[0])] : []),
    ...later(judgedBy?.absent === undefined ? absent(place) : []),
  ]
}

/** `true` for numbers of a query_config is sent for several at once, and 1 for booleans. */
function isElsewhere(member: Member, kind: string): boolean {
  if (kind === 'number') return member.kinds.includes('boolean')
  return kind === 'boolean' && isSetting(member) && member.kinds.includes('number')
}

function memberCase(ground: Ground, one: Change): Case {
  const mayBeGranted = isLoose(one.place.member, one.faults[0]?.kind ?? '')
  return together(mayBeGranted ? ground.material.valid.effect : 'none', [one])
}

// Odd bodies.

export const badBytes = 'conform-bad-bytes'

/** The text with bytes that are not UTF-8 in place of its mark; undefined without a mark. */
export function withBytes(text: string, bytes: readonly number[]): Uint8Array | undefined {
  const [before = '', after] = text.split(badBytes)
  return after === undefined
    ? undefined
    : Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
}

type LooseBody = (typeof looseBodies)[number]

/** Undefined if the valid body cannot be changed so. */
const looseBody: Readonly<Record<LooseBody, (valid: Probe) => Partial<Probe> | undefined>> = {
  null: () => ({ body: 'null' }),
  '[]': () => ({ body: '[]' }),
  // For a body with one member, this equals leaving that member out.
  '{}': (valid) =>
    Object.keys(Object(jsonOf(valid)) as object).length > 1 ? { body: '{}' } : undefined,
  'length 0': () => ({ body: '' }),
  'invalid UTF-8'(valid) {
    const text = JSON.stringify(jsonOf(valid)).replace(/(:\s*")/, `$1${badBytes}`)
    const body = withBytes(text, [0x80])
    return body && { body }
  },
  BOM: ({ body = '' }) => ({ body: `\ufeff${Buffer.from(body).toString()}` }),
  'no content type': (valid) => withHeader(valid, 'content-type', undefined),
}

const forms: Partial<Record<LooseBody, string>> = {
  BOM: 'a byte order mark before it',
  'no content type': 'no content type',
}

/** No server can read these as the valid body. */
const noObjects: readonly LooseBody[] = ['null', '[]', 'length 0']

const bodyCases = (material: Material): Case[] =>
  looseBodies
    .filter((kind) => looseBody[kind](material.valid) !== undefined)
    .map((kind): Case => ({
      what: forms[kind] ? `with the valid body, but ${forms[kind]}` : `with a body that is ${kind}`,
      faults: [{ part: 'body', kind }],
      effect:
        noObjects.includes(kind) || busyStatus(material.operation) !== undefined
          ? 'none'
          : material.valid.effect,
      change: (probe) => ({ ...probe, ...looseBody[kind](probe) }),
    }))

/** Levels of arrays: above the limits of common parsers, some of which fail internally. */
const levels = 1200

const oddMembers: Readonly<Record<OddBody, readonly [text: string, called: string]>> = {
  'member names': [
    '"__proto__":{"conform":true},"constructor":null,"hasOwnProperty":1,"toString":null,"":"","a.b[0]":1,"conform":1,"conform":2',
    'it has members named __proto__, constructor, hasOwnProperty, toString and the empty text, and one twice',
  ],
  'deep nesting': [
    `"nested":${'['.repeat(levels)}${']'.repeat(levels)}`,
    `it has a member that is ${levels} arrays in each other`,
  ],
}

/** Replaced by a number that JSON.stringify cannot write. */
const stand = 'conform-1e400'

function written(body: unknown, bodies: readonly OddBody[]): string {
  const text = JSON.stringify(body).replaceAll(`"${stand}"`, '1e400')
  const more = bodies.map((kind) => oddMembers[kind][0])
  if (more.length === 0 || !text.endsWith('}')) return text
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}${more.join(',')}}`
}

// Odd values of the right type.

/**
 * Longer than columns of 255 or 1,000 characters for names; than some pages for processed text; and than 64 KiB if it
 * may be as long as a file.
 */
function lengthOf({ isLimited, tolerates, kinds }: Member): number {
  if (isLimited) return 70_000
  return tolerates?.includes('array') || kinds.includes('array') ? 21_000 : 1200
}

/**
 * Characters with a meaning in formats, templates, SQL, patterns, paths, markup or lines, and some that narrow encodings lack. No
 * U+0000: a server that refuses it would hide the others.
 */
const characters = `%s%n{{'"[(&|:*/<$;\\\r\n\u2028\té茶\u202e\u{1f6b0}`

/** Characters of ordinary names, rarely forbidden: a server may refuse the others before using them. */
const plainer = `'s é茶\u{1f6b0}`

/** Texts that servers often fail on. */
export const awkwardTexts = [
  '😀 🏳️‍🌈',
  'שלום مرحبا',
  '"quoted" and \\ back',
  '%s %20 {} ${x} {{y}}',
  "<b>&amp;</b> '; --",
  'a\tb\nc',
  '\u0001\u007f',
  'a\u0000b',
  ' at both ends ',
  'two\r\nlines\u2028and more',
  '1234567890',
  '__proto__',
  `tea${plainer}`,
  `tea${characters}`,
  'long '.repeat(400),
]

type Odd = readonly [called: string, value: Change['value']]

const textOf = (own: unknown): string => (typeof own === 'string' ? own : '')

const followedBy = (words: string, more: string): Odd => [
  `followed by ${words}`,
  (own) => textOf(own) + more,
]

const being = (value: unknown, called = preview(value)): Odd => [called, () => value]

function oddChanges(ground: Ground, place: Placed): Change[] {
  const { material, members, places } = ground
  const { member, body } = place
  const { at, inside = [1], isFile, isId, kinds, shows } = member
  const length = lengthOf(member)
  const twin = places.find((other) => other.member === twinOf(member, members))
  const equal = twin && getAt(body, twin.pointer)
  const isCostly = members.some((one) => one.at === `${at}/*/file_id`)
  const made: Readonly<Record<Exclude<OddValue, 'unknown' | 'deleted'>, readonly Odd[]>> = {
    'odd characters': [followedBy('%s, {{, quotes, line ends and an emoji', characters)],
    'U+0000': [followedBy('U+0000', '\u0000')],
    'lone surrogate': [followedBy('half of a surrogate pair', '\ud83d')],
    long: [[`${length} characters long`, (own) => textOf(own).padEnd(length, ' and so on')]],
    negative: [being(-1)],
    zero: [being(0)],
    huge: [being(2 ** 63)],
    fraction: [being(Number(inside[0]) + 0.5)],
    infinite: [being(stand, '1e400')],
    empty: (isId ? (['string'] as const) : kinds).flatMap((kind) =>
      kind in emptyValues ? [being(emptyValues[kind])] : [],
    ),
    alone: [being(shows, `${preview(shows)} without its related members`)],
    blank: [being(' ', 'a blank')],
    equal: typeof equal === 'string' ? [being(equal)] : [],
    'object member': [being('__proto__', '__proto__')],
    repeated: [['its own items repeated', (own) => repeated(own, isCostly)]],
  }
  return oddValuesOf(member, members).flatMap((kind) => {
    if (kind === 'deleted') return deletedIdAt(material, place)
    if (kind === 'unknown') return [{ ...unknownIdAt(material, place), isUnknownId: isFile }]
    return made[kind].map(([called, value]) => change(place, kind, called, value))
  })
}

/** More items than a list usually has; items that name files may be costly, so each appears twice. */
const manyItems = 120

function repeated(own: unknown, isCostly: boolean): unknown {
  const items = Array.isArray(own) ? (own as unknown[]) : []
  const length = isCostly ? 2 * items.length : manyItems
  if (items.length === 0) return []
  return Array.from({ length }, (_, index) => items[index % items.length])
}

/** Odd values other than texts, the most often refused first. */
const otherOdd: readonly OddValue[] = [
  'unknown',
  'deleted',
  'equal',
  'alone',
  'repeated',
  'empty',
  'blank',
  'object member',
  ...oddNumbers,
]

/** Odd values other than texts: combined if they may be accepted together, others alone. */
const valueCases = (ground: Ground, changes: readonly Change[]): Case[] =>
  otherOdd.flatMap((kind) => {
    const own = changes.filter((one) => isOf(one, kind))
    return [
      ...groupsOf(ground, own.filter(isFree)).map((group) => groupCase(ground, group)),
      ...own.filter((one) => !isFree(one)).map((one) => groupCase(ground, [one])),
    ]
  })

/** Whether one request can combine it with other odd values. Lists and ids are refused, so each is sent alone. */
function isFree(change: Change): boolean {
  const { member } = change.place
  if (isListed(member) || member.isId) return false
  const isOfArrays = isOf(change, 'empty') || isOf(change, 'repeated')
  return !isOfArrays || member.kinds.includes('string') || member.isExtra === true
}

/** All odd texts at once, with the odd bodies; then each kind of text and body. */
function textCases(
  ground: Ground,
  changes: readonly Change[],
  bodies: readonly OddBody[] = oddBodies,
): Case[] {
  const { effect } = ground.material.valid
  const texts = ground.places.flatMap((place): Change[] => {
    const own = changes.filter(
      (one) => one.place === place && oddTexts.some((kind) => isOf(one, kind)),
    )
    const called = own.map((one) => one.called).join(', ')
    const faults = own.flatMap((one) => one.faults)
    const value = (valid: unknown): unknown => own.reduce((text, one) => one.value(text), valid)
    return own.slice(0, 1).map((first) => ({ ...first, called, faults, value }))
  })
  const named = bodies.map((kind) => together(effect, [], [kind]))
  const groups = groupsOf(ground, texts)
  return (groups.length === 0 && bodies.length > 0 ? [[]] : groups).map((group, at) => {
    const kinds = group.length === 0 ? [] : oddTexts
    const ofKind = kinds.map((kind) => {
      const isIn = (one: Change): boolean => group.some((other) => other.place === one.place)
      return groupCase(
        ground,
        changes.filter((one) => isOf(one, kind) && isIn(one)),
      )
    })
    return at === 0
      ? { ...together(effect, group, bodies), parts: [...named, ...ofKind] }
      : { ...together(effect, group), parts: ofKind }
  })
}

/** `null` for optional members, and texts for numbers, several at once; otherwise each alone. */
function togetherCases(ground: Ground): Case[] {
  const all = (places: readonly Placed[], kind: string, called: string, value: unknown): Case[] =>
    grouped(places.map((place) => change(place, kind, called, () => value))).map((group) =>
      groupCase(ground, group),
    )
  const asText = ground.places.filter((place) => place.member.kinds.includes('number'))
  const nulls = ground.places.filter((place) => !place.member.kinds.includes('null'))
  const settings = asText.filter((one) => isSetting(one.member))
  const optional = nulls.filter((one) => isOptional(one.member))
  const required = nulls.filter((place) => !optional.includes(place))
  return [
    ...all(optional, 'null', 'null', null),
    ...all(asText, 'string', 'the text "1"', '1'),
    ...all(settings, 'boolean', 'true', true),
    ...required.flatMap((place) => ofKinds(place, ['null'])).map((one) => memberCase(ground, one)),
  ]
}

function isOptional(member: Member): boolean {
  if (member.required || !isLoose(member, 'null')) return false
  const isPlain = member.kinds.some((kind) => kind === 'number' || kind === 'boolean')
  return member.isExtra === true || isPlain
}

// Several changes in one request.

function together(
  effect: Effect,
  changes: readonly Change[],
  bodies: readonly OddBody[] = [],
): Case {
  const all = [
    ...changes.map((one) => `${one.name} is ${one.called}`),
    ...bodies.map((kind) => oddMembers[kind][1]),
  ]
  return {
    what: `with a valid body, but ${all.join(', ')}`,
    faults: [
      ...changes.flatMap((one) => one.faults),
      ...bodies.map((kind): Fault => ({ part: 'body', kind })),
    ],
    isUnknownId: changes.some((one) => one.isUnknownId),
    effect,
    change: (valid) => ({ ...valid, body: written(changedBody(changes, jsonOf(valid)), bodies) }),
  }
}

/** Several changes in one request: accepting it covers all; otherwise each is sent alone, odd characters milder. */
function groupCase(ground: Ground, changes: readonly Change[]): Case {
  const { effect } = ground.material.valid
  const whole = together(effect, changes)
  if (changes.length > 1) return { ...whole, parts: changes.map((one) => groupCase(ground, [one])) }
  const [called, value] = followedBy("'s, letters of two scripts and an emoji", plainer)
  const milder = changes
    .filter((one) => isOf(one, 'odd characters'))
    .map((one) => ({ ...one, called, value }))
  return milder.length === 0 ? whole : { ...whole, parts: [together(effect, milder)] }
}

const isWithin = (one: Placed, other: Placed): boolean =>
  `${one.pointer}/`.startsWith(`${other.pointer}/`)

function fit(one: Placed, other: Placed): boolean {
  if (isWithin(one, other) || isWithin(other, one)) return false
  const top = topOf(one)
  return top !== topOf(other) || isDeepStrictEqual(getAt(one.body, top), getAt(other.body, top))
}

/** Groups of changes; names of created objects go alone, since some may be invalid. */
function groupsOf(ground: Ground, changes: readonly Change[]): Change[][] {
  const name = operationOf(ground.material.operation).creates?.name
  return grouped(
    changes,
    (one) => name !== undefined && 'role' in name && name.role === one.member.role,
  )
}

function grouped(
  changes: readonly Change[],
  isAlone: (place: Placed) => boolean = () => false,
): Change[][] {
  const groups: Change[][] = []
  for (const change of changes) {
    const { place } = change
    const fits = (one: Change): boolean =>
      fit(one.place, place) && !isAlone(one.place) && !isAlone(place)
    const group = groups.find((others) => others.every(fits))
    if (group) group.push(change)
    else groups.push([change])
  }
  return groups
}
