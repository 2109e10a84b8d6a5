import { looseBodies } from '../../catalogue/faults.ts'
import { jsonKinds, type Member } from '../../catalogue/operation.ts'
import { busyStatus, operation as operationOf } from '../../catalogue/operations.ts'
import { getAt } from '../../schemas/json.ts'
import type { Probe } from '../engine/index.ts'
import {
  wasAnswered,
  effectOf,
  jsonOf,
  mayGenerate,
  NotExercised,
  withHeader,
  Throttled,
} from '../engine/index.ts'
import { leftOut } from '../report/index.ts'
import {
  type Ground,
  judgeCases,
  memberCase,
  textCases,
  togetherCases,
  valueCases,
} from './odd-cases.ts'
import { countsAsGranted } from './control.ts'
import { requireOfInput } from './breaks-anyway.ts'
import { awaitEnd, enoughGenerations, generationsLeft } from './created.ts'
import { absent, type Change, change, inOtherItem, isOf, ofKinds, topOf } from './changes.ts'
import { arraysAbove, isSetting, type Placed, placesIn, undescribedMembers } from './places.ts'
import { oddChanges } from './odd-values.ts'
import { type Case, type CaseCondition, countAll, type Material, materialOf } from './case.ts'
import { crashesOf, type RefusalContext } from './refusals.ts'
import { falsy, randomOf, sampled, seedFor } from './values.ts'
import { validRequest } from './valid-request.ts'

/** Everything that can be wrong with one member: left out, null, of each other type, and a value that a server may convert. */
function changesOf(place: Placed): Change[] {
  const { member } = place
  const { at, kinds, judgedBy, isExtra } = member
  const others = jsonKinds.filter(
    (kind) => kind !== 'null' && !kinds.includes(kind) && !isElsewhere(member, kind),
  )
  const wrong = ofKinds(place, others, isExtra ? { boolean: falsy.boolean } : {})
  const array = arraysAbove(place).at(-1)
  // Which requirements look at later items is theirs to say. Whoever reads members of one stumbles over null.
  const kind = kinds.includes('object') ? 'null' : 'number'
  const later = at.includes('*') && judgedBy?.type === undefined ? ofKinds(place, [kind]) : []
  return [
    // What a query_config is without a member is sent for another requirement.
    ...(isSetting(member) && at !== '{query_config}' ? [] : absent(place).filter(isNoEmptyArray)),
    ...wrong,
    ...(kinds.includes('boolean') ? [change(place, 'number', 'the number 1', () => 1)] : []),
    ...(kinds.includes('array') ? firstItem(place) : []),
    ...(array === undefined
      ? []
      : [...(judgedBy?.absent === undefined ? absent(place) : []), ...later].flatMap((one) =>
          inOtherItem(one, array, 'last'),
        )),
  ]
}

/** One item in place of an array of it, which a server may take for an array of one. */
function firstItem(place: Placed): Change[] {
  const items = place.like
  if (!Array.isArray(items) || items.length === 0) return []
  return [change(place, 'one item', 'its first item alone', () => items[0] as unknown)]
}

/** `true` for a number of a query_config is sent for several of them at once, and as a number for a boolean 1. */
function isElsewhere(member: Member, kind: string): boolean {
  if (kind === 'number') return member.kinds.includes('boolean')
  return kind === 'boolean' && isSetting(member) && member.kinds.includes('number')
}

/** An array without its only item is an empty one, which is sent for itself. */
function isNoEmptyArray({ place: { body, pointer } }: Change): boolean {
  const above = getAt(body, pointer.slice(0, pointer.lastIndexOf('/')))
  return !Array.isArray(above) || above.length > 1
}

/** Stands in a text until the bytes take its place. */
export const badBytes = 'conform-bad-bytes'

/** The text with bytes that UTF-8 does not have where it is marked; undefined if it is not. */
export function withBytes(text: string, bytes: readonly number[]): Uint8Array | undefined {
  const [before = '', after] = text.split(badBytes)
  return after === undefined
    ? undefined
    : Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
}

/** A body that is none, or the valid one in an odd form. */
interface LooseBody {
  /** Description after the request line; default `with a body that is <its kind>`. */
  readonly what?: string
  /** Whether a server may read it as the valid one. */
  readonly isWhole?: true
  /** Value in place of the valid request's; undefined if it has none of that kind. */
  change(valid: Probe): Partial<Pick<Probe, 'body' | 'headers'>> | undefined
}

const bodies: Readonly<Record<(typeof looseBodies)[number], LooseBody>> = {
  null: { change: () => ({ body: 'null' }) },
  '[]': { change: () => ({ body: '[]' }) },
  // For a body with one member this equals leaving that member out.
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
    change: ({ body }) => ({ body: `\ufeff${String(body)}` }),
  },
  'no content type': {
    what: 'with the valid body, but no content type',
    isWhole: true,
    change: (valid) => withHeader(valid, 'content-type', undefined),
  },
}

function bodyCases({ material: { operation, valid }, effect }: Ground): Case[] {
  return looseBodies.flatMap((kind) => {
    const { what = `with a body that is ${kind}`, isWhole, change } = bodies[kind]
    if (change(valid) === undefined) return []
    const own = isWhole && busyStatus(operation) === undefined ? effect : 'none'
    return [
      {
        what,
        fault: `body: ${kind}`,
        effect: own,
        change: (probe: Probe) => ({ ...probe, ...change(probe) }),
      },
    ]
  })
}

/** All cases, first those that prove most if they are granted. */
function allCases(material: Material): Case[] {
  const { operation, options, requirement, target, valid } = material
  const body = jsonOf(valid)
  const shown = placesIn(material, operation, body)
  const places = [...shown, ...undescribedMembers(body, shown)]
  const ground: Ground = { material, places, effect: valid.effect }
  const random = randomOf(seedFor(options.seed, requirement.id))
  const { members } = operationOf(operation)
  const changes = places.flatMap((place) =>
    oddChanges({ run: material, members, places, random }, place),
  )
  const single = places.flatMap(changesOf)
  // A valid request without one of its members is mostly refused, and takes nothing from what may be generated.
  const isDeclared = ({ place }: Change): boolean => getAt(body, topOf(place)) !== undefined
  const needed = single.filter((one) => isOf(one, 'absent') && isDeclared(one))
  const others = single.filter((one) => !needed.includes(one)).map((one) => memberCase(ground, one))
  const loose = target.limits.maxGenerations === 0 ? others : shuffled(others, material)
  return [
    ...bodyCases(ground),
    ...needed.map((one) => memberCase(ground, one)),
    ...textCases(ground, changes),
    ...valueCases(ground, changes),
    ...togetherCases(ground),
    ...loose,
  ]
}

/** Judges that no fault of a body or of its members is answered by a 5xx. */
export const badInput: CaseCondition = {
  cases: casesOf,
  async bringAbout(refusal) {
    const { context, operation, granted } = refusal
    const { run } = context
    const effect = effectOf(run, operation)
    const all = [...casesOf(materialOf(run, context.requirement, operation))]
    await requireAnother(refusal)
    context.open.plan(all.length)
    const free = all.filter((one) => effect !== 'generates' || one.effect === 'none')
    await judgeCases(refusal, free, { left: () => Infinity })
    context.atEnd = async () => judgeCrashes(refusal)
    if (effect !== 'generates') return
    // What may be granted goes on until as much was generated as is this requirement's share.
    const may = (mayGenerate(run, context.requirement.id) ?? Infinity) + granted()
    const left = all.filter((one) => one.effect !== 'none')
    await judgeCases(refusal, left, { left: () => may - granted() })
    if (left.length === 0) return
    awaitEnd(run, countAll(left))
    // What the others did not need is theirs who have cases left; jobs would make that end a late one.
    context.atEnd = async () => {
      if (busyStatus(operation) === undefined) await judgeCases(refusal, left, generationsLeft(run))
      const { maxGenerations } = run.target.limits
      await judgeCrashes(refusal)
      context.open.leave(
        `maxGenerations: the target grants so much bad input that limits.maxGenerations (${maxGenerations}) is used up; ${enoughGenerations(run)} would do`,
      )
    }
  },
}

function casesOf(material: Material): readonly Case[] {
  // Some of it may be granted.
  if (material.options.readOnly && material.valid.effect !== 'none')
    throw new NotExercised(leftOut('--read-only'))
  return sampled({ run: material, requirement: material.requirement }, allCases(material))
}

/** A fault of a member that another requirement is about is bad input as well. */
async function judgeCrashes({ context, operation }: RefusalContext): Promise<void> {
  const crash = crashesOf(context.run).find(
    ({ exchange }) => exchange.probe.operation === operation,
  )
  if (!crash) return
  await requireOfInput(context.run, crash.exchange)
  context.shownBy = crash.exchange.purpose.requirement
  context.fail(crash.exchange, 'anything but a 5xx', crash.what)
}

/** A creation that may be granted shows nothing if no second valid one is: another requirement tells that it breaks then. */
async function requireAnother({ context, operation }: RefusalContext): Promise<void> {
  if (operationOf(operation).creates?.name === undefined) return
  // One of its own at each try: the answer to the first may be lost.
  const purpose = { role: 'setup', isSuccess: countsAsGranted } as const
  const another = await context.send(() => validRequest(context.run, operation), purpose)
  if (!countsAsGranted(another))
    throw new (another.throttled ? Throttled : NotExercised)(
      `a second valid request ${wasAnswered(another)}`,
    )
}

/** Shuffles by the seed: if a limit cuts the list, other seeds send the rest. */
function shuffled<T>(cases: readonly T[], { options, requirement }: Material): T[] {
  const random = randomOf(seedFor(options.seed, requirement.id))
  return cases
    .map((one) => [random(), one] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, one]) => one)
}
