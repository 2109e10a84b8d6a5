import {
  operation as operationOf,
  type OperationId,
  busyStatus,
} from '../../catalogue/operations.ts'
import { type Client, type Given, effectOf } from '../../harness/client/index.ts'
import {
  NotExercised,
  Throttled,
  wasAnswered,
  type Ask,
  countsAsGranted,
  type Evidence,
  type Journal,
  type Verdict,
  jsonOf,
  type Probe,
  withHeader,
} from '../../harness/journal/index.ts'
import { leftOut, type Reason } from '../../harness/report/index.ts'
import { mayGenerate, type CheckContext, maxAtOnce, sendShared } from '../../harness/run/index.ts'
import { type Case, type CaseCondition, countAll, type Material, type Refusal } from './case.ts'
import { whyNotOfInput } from './control.ts'
import { sharedBy } from './created.ts'
import { type CaseRule, remembering } from './rules.ts'
import { validRequest } from './valid-request.ts'
import { sampled, freshUnknownId, type Known, randomFor } from './values.ts'
import { isLoose, looseBodies } from '../../catalogue/faults.ts'
import {
  type OddBody,
  oddBodies,
  oddTexts,
  emptyOf,
  isListed,
  oddNumbers,
  type OddValue,
  oddValuesOf,
  twinOf,
} from '../../catalogue/odd-values.ts'
import { type Effect, jsonKinds, type Member } from '../../catalogue/operation.ts'
import { getAt, preview } from '../../schemas/json.ts'
import {
  absent,
  type Change,
  change,
  changedBody,
  described,
  inOtherItem,
  isOf,
  ofKinds,
  topOf,
  arraysAbove,
  isSetting,
  type Placed,
  placesIn,
  undescribedMembers,
  deletedIdAt,
  unknownIdAt,
  sample,
} from './changes.ts'
import { isDeepStrictEqual } from 'node:util'

export const badInput: CaseCondition = {
  cases: casesOf,
  async casesIn(context, material) {
    const cases = casesOf(material)
    await requireAnother(context, material)
    return cases
  },
  judge,
}

function casesOf(material: Material): readonly Case[] {
  // Some of it may be accepted.
  if (material.options.readOnly && material.valid.effect !== 'none')
    throw new NotExercised(leftOut('--read-only'))
  return sampled(material, material.requirement.id, oddCases(material))
}

/**
 * Sends first what cannot make the target generate, then the rest while the run may generate more. At the end, reports
 * what is left, and checks crashes found by other requirements.
 */
async function judge(refusal: Refusal, isEnd: boolean): Promise<Verdict> {
  const { context, material, cases } = refusal
  const { client, given } = context
  const rules = new Map<Case, CaseRule>()
  const ruleOf: RuleOf = (one) => {
    const known = rules.get(one) ?? remembering(refusal.ruleOf(one))
    rules.set(one, known)
    return known
  }
  const generates = effectOf(given, material.operation) === 'generates'
  const mayTake = (one: Case): boolean => generates && one.effect !== 'none'
  const look = (some: readonly Case[]) => (most: number) => walk(client.journal, ruleOf, some, most)
  const { generated } = sharedBy(client)
  const unlimited = { left: Infinity }
  const allowed = mayGenerate(given, context.requirement.id)
  const allowance = allowed === undefined ? unlimited : (generated.allowance ??= { left: allowed })
  const free = await settleWalk(
    client,
    ruleOf,
    look(cases.filter((one) => !mayTake(one))),
    unlimited,
  )
  const costly = free.end
    ? free
    : await settleWalk(client, ruleOf, look(cases.filter(mayTake)), allowance)
  const judged = free.judged + costly.judged
  const failed =
    (await ended(client, given, costly)) ??
    (isEnd && (await crashOf(client, given, material.operation)))
  if (failed) return { ...failed, cases: judged }
  if (!isEnd) {
    generated.waiting += countAll(costly.pending.map((other) => other.one))
    return { outcome: 'asks', cases: judged, asks: [], atEnd: true }
  }
  const left = costly.pending.length
  if (left === 0) return { outcome: 'held', cases: judged }
  const { maxGenerations } = given.target.limits
  // What was used, and what had to wait for it.
  const enough = Math.ceil((maxGenerations + generated.waiting) / 10) * 10
  const why = `maxGenerations: the target accepts so much bad input that limits.maxGenerations (${maxGenerations}) is used up; ${enough} would be enough; ${left} of ${judged + left} cases were not judged`
  return { outcome: 'open', cases: judged, why }
}

type RuleOf = (one: Case) => CaseRule

interface Walk {
  readonly pending: { readonly one: Case; readonly asks: readonly Ask[] }[]
  judged: number
  /** Why it goes no further: a 5xx, or what says nothing. */
  end?: Evidence | Reason
}

/**
 * Judges cases in order. A request that combines several odd values judges all of them if it is accepted. If
 * it gets a 4xx or 5xx, one value may be the cause, so each is sent alone. @param most stop at this many cases that are not judged yet
 */
function walk(journal: Journal, ruleOf: RuleOf, cases: readonly Case[], most: number): Walk {
  const seen: Walk = { pending: [], judged: 0 }
  const queue = cases.toReversed()
  for (let one = queue.pop(); one && !seen.end && seen.pending.length < most; one = queue.pop()) {
    const verdict = ruleOf(one).judge(journal)
    if (verdict.outcome === 'asks') {
      seen.pending.push({ one, asks: verdict.asks })
      continue
    }
    seen.judged++
    if (verdict.outcome === 'open') seen.end = verdict.why
    else if (verdict.outcome !== 'held') {
      const which = whichBroke(journal, ruleOf, one.parts ?? []) ?? verdict.evidence
      if ('asks' in which) return { ...seen, pending: [{ one, asks: which.asks }] }
      seen.end = which
    } else if (!verdict.isGranted) queue.push(...partsAfter(one).toReversed())
  }
  return seen
}

const partsAfter = ({ parts = [], isConclusive }: Case): readonly Case[] =>
  isConclusive ? [] : parts

function whichBroke(
  journal: Journal,
  ruleOf: RuleOf,
  cases: readonly Case[],
): Evidence | { readonly asks: Ask[] } | undefined {
  for (const one of cases) {
    const verdict = ruleOf(one).judge(journal)
    if (verdict.outcome === 'asks') return { asks: [...verdict.asks] }
    if (verdict.outcome === 'open') return undefined
    const isOver = verdict.outcome === 'held' && verdict.isGranted
    const deeper = isOver ? undefined : whichBroke(journal, ruleOf, partsAfter(one))
    if (deeper) return deeper
    if (verdict.outcome !== 'held') return verdict.evidence
  }
  return undefined
}

/** Sends the requests of a walk, as long as the allowance covers them all if accepted; unanswered ones count. */
async function settleWalk(
  client: Client,
  ruleOf: RuleOf,
  look: (most: number) => Walk,
  allowance: { left: number },
): Promise<Walk> {
  const isGranted = (one: Case): boolean => {
    const verdict = ruleOf(one).judge(client.journal)
    return verdict.outcome === 'held' && verdict.isGranted === true
  }
  for (;;) {
    const most = Math.min(maxAtOnce, allowance.left)
    const seen = look(most > 0 ? most : Infinity)
    const batch = seen.pending.slice(0, most)
    if (seen.end || batch.length === 0) return seen
    allowance.left -= batch.length
    await Promise.all(batch.flatMap((one) => one.asks).map((ask) => sendShared(client, ask)))
    allowance.left += batch.length - batch.filter((other) => isGranted(other.one)).length
  }
}

async function ended(
  client: Client,
  given: Given,
  one: Pick<Walk, 'end' | 'judged'>,
): Promise<Verdict | undefined> {
  if (!one.end) return undefined
  if ('reason' in one.end)
    return { outcome: 'open', cases: one.judged, why: one.end.reason, reason: one.end }
  const why = await whyNotOfInput(client, given, one.end.exchange)
  return why === undefined
    ? { outcome: 'broken', cases: one.judged, evidence: [one.end] }
    : { outcome: 'open', cases: one.judged, why }
}

async function crashOf(
  client: Client,
  given: Given,
  operation: OperationId,
): Promise<Verdict | undefined> {
  const crash = sharedBy(client).crashes.find((one) => one.exchange.probe.operation === operation)
  if (!crash) return undefined
  const { exchange, what } = crash
  const shownBy = exchange.purpose.requirement
  const end: Evidence = { exchange, what, expected: 'anything but a 5xx', shownBy }
  return ended(client, given, { judged: 1, end })
}

/** A crash on a creation proves nothing if a second valid creation crashes too: another requirement reports that. */
async function requireAnother(context: CheckContext, material: Material): Promise<void> {
  if (operationOf(material.operation).creates?.name === undefined) return
  // A new object per try, since the answer to the first may be lost.
  const purpose = { role: 'setup', isSuccess: countsAsGranted } as const
  const another = await context.send(
    () => validRequest(context.client, context.given, material.operation),
    purpose,
  )
  if (countsAsGranted(another)) return
  const Reason = another.throttled ? Throttled : NotExercised
  throw new Reason(`a second valid request ${wasAnswered(another)}`)
}

interface Ground {
  readonly material: Material
  readonly places: readonly Placed[]
  readonly effect: Effect
}

/** All cases of bad input, those that prove most when accepted first. */
export function oddCases(material: Material): Case[] {
  const { operation, requirement, target, valid } = material
  const body = jsonOf(valid)
  const shown = placesIn(material, operation, body)
  const places = [...shown, ...undescribedMembers(body, shown)]
  const ground: Ground = { material, places, effect: valid.effect }
  const { members } = operationOf(operation)
  const drawn = { run: material, members, places, random: randomFor(material, requirement.id) }
  const changes = places.flatMap((place) => oddChanges(drawn, place))
  const single = places.flatMap(changesOf)
  // Usually refused without the member, and so free of charge.
  const isNeeded = (one: Change): boolean =>
    isOf(one, 'absent') && getAt(body, topOf(one.place)) !== undefined
  const others = single.filter((one) => !isNeeded(one)).map((one) => memberCase(ground, one))
  // If a limit cuts the list, other seeds send the rest.
  const isCut = target.limits.maxGenerations > 0
  return [
    ...bodyCases(ground),
    ...single.filter(isNeeded).map((one) => memberCase(ground, one)),
    ...textCases(ground, changes),
    ...valueCases(ground, changes),
    ...togetherCases(ground),
    ...(isCut ? shuffled(others, randomFor(material, requirement.id)) : others),
  ]
}

const shuffled = <T>(cases: readonly T[], random: () => number): T[] =>
  cases
    .map((one) => [random(), one] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, one]) => one)

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
  return [
    // Absent members of a query_config belong to another requirement.
    ...(isSetting(member) && at !== '{query_config}' ? [] : absent(place).filter(isNoEmptyArray)),
    ...ofKinds(place, others, { ...sample, boolean: !isExtra }),
    ...(kinds.includes('boolean') ? [change(place, 'number', 'the number 1', () => 1)] : []),
    // A server may accept one item as an array of one.
    ...(items.length > 0 ? [change(place, 'one item', 'only its first item', () => items[0])] : []),
    ...later(judgedBy?.absent === undefined ? absent(place) : []),
    // Later items are checked by the member's requirement. Code that reads members of an item fails on null.
    ...(at.includes('*') && judgedBy?.type === undefined
      ? later(ofKinds(place, [kinds.includes('object') ? 'null' : 'number']))
      : []),
  ]
}

/** `true` for numbers of a query_config is sent for several at once, and 1 for booleans. */
function isElsewhere(member: Member, kind: string): boolean {
  if (kind === 'number') return member.kinds.includes('boolean')
  return kind === 'boolean' && isSetting(member) && member.kinds.includes('number')
}

/** Removing the only item leaves an empty array, which is a separate case. */
function isNoEmptyArray({ place: { body, pointer } }: Change): boolean {
  const above = getAt(body, pointer.slice(0, pointer.lastIndexOf('/')))
  return !Array.isArray(above) || above.length > 1
}

export const badBytes = 'conform-bad-bytes'

/** The text with bytes that are not UTF-8 in place of its mark; undefined without a mark. */
export function withBytes(text: string, bytes: readonly number[]): Uint8Array | undefined {
  const [before = '', after] = text.split(badBytes)
  return after === undefined
    ? undefined
    : Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
}

interface LooseBody {
  /** Continues the request line; default `with a body that is <its kind>`. */
  readonly what?: string
  /** Whether a server may read it as the valid one. */
  readonly isWhole?: true
  change(valid: Probe): Partial<Pick<Probe, 'body' | 'headers'>> | undefined
}

const looseBody: Readonly<Record<(typeof looseBodies)[number], LooseBody>> = {
  null: { change: () => ({ body: 'null' }) },
  '[]': { change: () => ({ body: '[]' }) },
  // For a body with one member, this equals leaving that member out.
  '{}': {
    isWhole: true,
    change: (valid) =>
      Object.keys(Object(jsonOf(valid)) as object).length > 1 ? { body: '{}' } : undefined,
  },
  'length 0': { change: () => ({ body: '' }) },
  'invalid UTF-8': {
    isWhole: true,
    change(valid) {
      const text = JSON.stringify(jsonOf(valid)).replace(/(:\s*")/, `$1${badBytes}`)
      const body = withBytes(text, [0x80])
      return body && { body }
    },
  },
  BOM: {
    what: 'with the valid body, but a byte order mark before it',
    isWhole: true,
    change: (one) => ({ body: `\ufeff${String(one.body)}` }),
  },
  'no content type': {
    what: 'with the valid body, but no content type',
    isWhole: true,
    change: (valid) => withHeader(valid, 'content-type', undefined),
  },
}

const bodyCases = ({ material: { operation, valid }, effect }: Ground): Case[] =>
  looseBodies
    .filter((kind) => looseBody[kind].change(valid) !== undefined)
    .map((kind) => {
      const { what = `with a body that is ${kind}`, isWhole, change } = looseBody[kind]
      return {
        what,
        fault: `body: ${kind}`,
        effect: isWhole && busyStatus(operation) === undefined ? effect : 'none',
        change: (probe) => ({ ...probe, ...change(probe) }),
      }
    })

function memberCase(ground: Ground, one: Change): Case {
  const [fault = ''] = one.faults
  const mayBeGranted = isLoose(one.place.member, fault.slice(0, fault.indexOf(' ')))
  return together({ effect: mayBeGranted ? ground.effect : 'none' }, [one])
}

function together(
  ground: Pick<Ground, 'effect'>,
  changes: readonly Change[],
  bodies: readonly OddBody[] = [],
): Case {
  const faults = [...changes.flatMap((one) => one.faults), ...bodies.map((kind) => `body: ${kind}`)]
  const all = [...changes.map(described), ...bodies.map(calledBody)]
  return {
    what: `with a valid body, but ${all.join(', ')}`,
    fault: faults.join(' + '),
    effect: ground.effect,
    change: (valid) => ({ ...valid, body: written(changedBody(changes, jsonOf(valid)), bodies) }),
  }
}

/** Several changes in one request: accepting it covers all; otherwise each is sent alone. */
function groupCase(ground: Ground, changes: readonly Change[], isConclusive = false): Case {
  const whole = together(ground, changes)
  if (changes.length > 1)
    return { ...whole, parts: changes.map((one) => groupCase(ground, [one])), isConclusive }
  const milder = changes.flatMap((one) => one.milder ?? [])
  return milder.length === 0 ? whole : { ...whole, parts: [together(ground, milder)] }
}

/** Groups of changes; names of created objects go alone, since some may be invalid. */
function groupsOf<T extends Pick<Change, 'place'>>(ground: Ground, changes: T[]): T[][] {
  const name = operationOf(ground.material.operation).creates?.name
  return grouped(
    changes,
    (one) => name !== undefined && 'role' in name && name.role === one.member.role,
  )
}

function textCases(ground: Ground, changes: readonly Change[]): Case[] {
  const texts = ground.places.flatMap(
    (place) => everyText(changes.filter((one) => one.place === place)) ?? [],
  )
  const groups = groupsOf(ground, texts)
  const named = oddBodies.map((kind) => together(ground, [], [kind]))
  if (groups.length === 0) return [{ ...together(ground, [], oddBodies), parts: named }]
  return groups.map((group, at) => {
    const kinds = oddTexts.map((kind) =>
      changes.filter((one) => isOf(one, kind) && group.some((other) => other.place === one.place)),
    )
    const ofKind = kinds.map((own) => groupCase(ground, own))
    return at === 0
      ? { ...together(ground, group, oddBodies), parts: [...named, ...ofKind] }
      : { ...together(ground, group), parts: ofKind }
  })
}

/** `null` for optional members, and texts for numbers, several at once; otherwise each alone. */
function togetherCases(ground: Ground): Case[] {
  const all = (places: readonly Placed[], kind: string, called: string, value: unknown) =>
    grouped(places.map((place) => change(place, kind, called, () => value)))
  const asText = ground.places.filter((place) => place.member.kinds.includes('number'))
  const nulls = ground.places.filter((place) => !place.member.kinds.includes('null'))
  const settings = asText.filter((one) => isSetting(one.member))
  const optional = nulls.filter((one) => isOptional(one.member))
  const required = nulls.filter((place) => !optional.includes(place))
  // A server that refuses convertible numbers does so everywhere; others are sent one by one.
  const converted = [
    ...all(asText, 'string', 'the text "1"', '1'),
    ...all(settings, 'boolean', 'true', true),
  ]
  return [
    ...all(optional, 'null', 'null', null).map((group) => groupCase(ground, group)),
    ...converted.map((group) => groupCase(ground, group, true)),
    ...required.flatMap((place) => ofKinds(place, ['null'])).map((one) => memberCase(ground, one)),
  ]
}

function isOptional(member: Member): boolean {
  if (member.required || !isLoose(member, 'null')) return false
  const isPlain = member.kinds.some((kind) => kind === 'number' || kind === 'boolean')
  return member.isExtra === true || isPlain
}

/** Odd values other than texts: combined if they may be accepted together, others alone. */
const valueCases = (ground: Ground, changes: readonly Change[]): Case[] =>
  otherOdd.flatMap((kind) => {
    const own = changes.filter((one) => isOf(one, kind))
    return [
      ...groupsOf(ground, own.filter(isFree)).map((group) => groupCase(ground, group)),
      ...own.filter((one) => !isFree(one)).map((one) => together(ground, [one])),
    ]
  })

/**
 * Longer than columns of 255 or 1,000 characters for names; than some pages for processed text; and than 64 KiB if it
 * may be as long as a file.
 */
function lengthOf({ isLimited, tolerates, kinds }: Member): number {
  if (isLimited) return 70_000
  return tolerates?.includes('array') || kinds.includes('array') ? 21_000 : 1200
}

/**
 * Characters with a meaning in formats, templates, SQL, patterns or lines, and some that narrow encodings lack. No
 * U+0000: a server that refuses it would hide the others.
 */
export const characters = `%s%n{{'"[(&|:*\\\r\n\u2028\té茶\u202e\u{1f6b0}`

/** Characters of ordinary names, rarely forbidden: a server may refuse the others before using them. */
export const plainer = `'s é茶\u{1f6b0}`

/** Replaced by a number that JSON.stringify cannot write. */
const stand = 'conform-1e400'

interface Drawn {
  readonly run: Known
  readonly members: readonly Member[]
  readonly places: readonly Placed[]
  readonly random: () => number
}

type Odd = (called: string, value: Change['value']) => Change
type Made = (odd: Odd, place: Placed, drawn: Drawn) => Change[]

const followedBy =
  (words: string, more: string): Made =>
  (odd) => [odd(`followed by ${words}`, (own) => textOf(own) + more)]

const ofNumber =
  (value: (member: Member) => number): Made =>
  (odd, one) => [odd(preview(value(one.member)), () => value(one.member))]

const textOf = (own: unknown): string => (typeof own === 'string' ? own : '')

const oddChange: Readonly<Record<OddValue, Made>> = {
  'odd characters'(odd) {
    const milder = odd("followed by 's, letters of two scripts and an emoji", (own) =>
      String(own).concat(plainer),
    )
    const called = 'followed by %s, {{, quotes, line ends and an emoji'
    return [{ ...odd(called, (own) => textOf(own) + characters), milder }]
  },
  'U+0000': followedBy('U+0000', '\u0000'),
  'lone surrogate': followedBy('half of a surrogate pair', '\ud83d'),
  long(odd, one) {
    const length = lengthOf(one.member)
    return [odd(`${length} characters long`, (own) => textOf(own).padEnd(length, ' and so on'))]
  },
  negative: ofNumber(() => -1),
  zero: ofNumber(() => 0),
  huge: ofNumber(() => 2 ** 63),
  fraction: ofNumber(({ inside = [1] }) => Number(inside[0]) + 0.5),
  infinite: (odd) => [odd('1e400', () => stand)],
  unknown(odd, place, one) {
    if (place.member.isFile) return [unknownIdAt(one.run, place)]
    return [
      odd('unknown', (own) => {
        const id = freshUnknownId(one.run, String(own), one.random)
        return typeof own === 'number' ? Number(id) : id
      }),
    ]
  },
  deleted: (_, place, one) => deletedIdAt(one.run, place),
  empty: (odd, { member: { isId, kinds } }) =>
    emptyOf(isId ? ['string'] : kinds).map((value) => odd(preview(value), () => value)),
  alone: (odd, { member: { shows } }) => [
    odd(`${preview(shows)} without its related members`, () => shows),
  ],
  blank: (odd) => [odd('a blank', () => ' ')],
  equal(odd, one, each) {
    const twin = twinOf(one.member, each.members)
    const place = each.places.find((other) => other.member === twin)
    const value = place && getAt(one.body, place.pointer)
    return typeof value === 'string' ? [odd(preview(value), () => value)] : []
  },
  'object member': (odd) => [odd('__proto__', () => '__proto__')],
  repeated: (odd, one, other) => [
    odd('its own items repeated', (own) => repeated(own, one.member, other.members)),
  ],
}

export const oddChanges = (drawn: Drawn, place: Placed): Change[] =>
  oddValuesOf(place.member, drawn.members).flatMap((kind) =>
    oddChange[kind]((called, value) => change(place, kind, called, value), place, drawn),
  )

/** More items than a list usually has; items that name files may be costly, so each appears twice. */
const manyItems = 120

function repeated(own: unknown, one: Member, members: readonly Member[]): unknown {
  const items = Array.isArray(own) ? (own as unknown[]) : []
  const isCostly = members.some((member) => member.at === `${one.at}/*/file_id`)
  const length = isCostly ? 2 * items.length : manyItems
  if (items.length === 0) return []
  return Array.from({ length }, (_, index) => items[index % items.length])
}

export function everyText(changes: readonly Change[]): Change | undefined {
  const own = changes.filter((one) => oddTexts.some((kind) => isOf(one, kind)))
  const [first] = own
  if (first === undefined) return undefined
  const called = own.map((one) => one.called).join(', ')
  const value = (valid: unknown): unknown => own.reduce((text, one) => one.value(text), valid)
  return { ...first, called, faults: own.flatMap((one) => one.faults), value }
}

/** Odd values other than texts, the most often refused first. */
export const otherOdd: readonly OddValue[] = [
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

/** Whether one request can combine it with other odd values. Lists and ids are refused, so each is sent alone. */
export function isFree(change: Change): boolean {
  const { member } = change.place
  if (isListed(member) || member.isId) return false
  const isOfArrays = isOf(change, 'empty') || isOf(change, 'repeated')
  return !isOfArrays || member.kinds.includes('string') || member.isExtra === true
}

const isWithin = (one: Placed, other: Placed): boolean =>
  `${one.pointer}/`.startsWith(`${other.pointer}/`)

function fit(one: Placed, other: Placed): boolean {
  if (isWithin(one, other) || isWithin(other, one)) return false
  const top = topOf(one)
  return top !== topOf(other) || isDeepStrictEqual(getAt(one.body, top), getAt(other.body, top))
}

export function grouped<T extends Pick<Change, 'place'>>(
  changes: readonly T[],
  isAlone: (place: Placed) => boolean = () => false,
): T[][] {
  const groups: T[][] = []
  for (const change of changes) {
    const fits = (one: T): boolean =>
      fit(one.place, change.place) && !isAlone(one.place) && !isAlone(change.place)
    const group = groups.find((others) => others.every(fits))
    if (group) group.push(change)
    else groups.push([change])
  }
  return groups
}

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

export const calledBody = (kind: OddBody): string => oddMembers[kind][1]

export function written(body: unknown, bodies: readonly OddBody[]): string {
  const text = JSON.stringify(body).replaceAll(`"${stand}"`, '1e400')
  const more = oddBodies.filter((kind) => bodies.includes(kind)).map((kind) => oddMembers[kind][0])
  if (more.length === 0 || !text.endsWith('}')) return text
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}${more.join(',')}}`
}
