import { looseBodies, maxLooseGenerations } from '../../catalogue/faults.ts'
import { jsonKinds } from '../../catalogue/operation.ts'
import { busyStatus, operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { getAt } from '../../schemas/json.ts'
import type { CheckContext, Probe, Run } from '../engine/index.ts'
import {
  describeResponse,
  effectOf,
  jsonOf,
  lookAgainAtEnd,
  NotExercised,
  withHeader,
  Throttled,
} from '../engine/index.ts'
import { leftOut } from '../report/index.ts'
import type { Case, Ground } from './odd-cases.ts'
import { effectOfCase, isSetting, judgeCases, memberCase, textCases, togetherCases, valueCases } from './odd-cases.ts'
import { countsAsGranted } from './control.ts'
import { sendPastBlocks, generationsLeft } from './created.ts'
import type { MemberCase, Placed } from './member-faults.ts'
import {
  absent,
  arraysAbove,
  examplesFor,
  having,
  inOtherItem,
  faultsOfKinds,
  shownMembers,
  undescribedMembers,
} from './member-faults.ts'
import { changesOf } from './odd-values.ts'
import { type Condition, condition, type RefusalContext } from './refusals.ts'
import { randomOf, sampled, seedFor } from './seed.ts'
import { bodyOf, extraRoles, validRequest, withoutRoles } from './valid-request.ts'
import { kindOf } from './values.ts'

/** Everything that can be wrong with one member: left out, null, of each other type, and a value that a server may convert. */
function casesOf(place: Placed): MemberCase[] {
  const { kinds } = place
  const wrong = faultsOfKinds(
    place,
    jsonKinds.filter((kind) => kind !== 'null' && !kinds.includes(kind) && !isElsewhere(place, kind)),
  )
  const [array] = arraysAbove(place).toReversed()
  const number = wrong.find(({ fault }) => fault.startsWith('number'))
  // Which requirements look at later items is theirs to say.
  const isUnnamed = place.member?.at.includes('*') === true && place.member.judgedBy?.type === undefined
  return [
    // What a query_config is without a member is sent for another requirement.
    ...(isSetting(place) && place.at !== '{query_config}' ? [] : absent(place).filter(isNoEmptyArray)),
    ...wrong,
    ...(kinds.includes('boolean') ? [having(place, 1, 'the number 1', 'number')] : []),
    ...(isUnnamed && array !== undefined
      ? [...absent(place), ...(number ? [number] : [])].flatMap((one) => inOtherItem(place, one, array, 'last'))
      : []),
  ]
}

/** `true` for a number of a query_config is sent for several of them at once, and as a number for a boolean 1. */
function isElsewhere(place: Placed, kind: string): boolean {
  if (kind === 'number') return place.kinds.includes('boolean')
  return kind === 'boolean' && isSetting(place) && place.kinds.includes('number')
}

/** An array without its only item is an empty one, which is sent for itself. */
function isNoEmptyArray({ body, array }: MemberCase): boolean {
  return array === undefined || (getAt(body, array) as unknown[]).length > 0
}

/** Stands in a text until the bytes take its place. */
const stand = 'conform-bad-bytes'

/** The body with a lone continuation byte in its first text; undefined if it has none. */
function badUtf8(body: unknown): Uint8Array | undefined {
  const text = JSON.stringify(body).replace(/(:\s*")/, `$1${stand}`)
  const [before, after] = text.split(stand)
  if (before === undefined || after === undefined) return undefined
  return Buffer.concat([Buffer.from(before), Buffer.from([0x80]), Buffer.from(after)])
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
    change: (valid) => (Object.keys(Object(jsonOf(valid)) as object).length > 1 ? { body: '{}' } : undefined),
  },
  'length 0': { change: () => ({ body: '' }) },
  'invalid UTF-8': {
    isWhole: true,
    change(valid) {
      const body = badUtf8(jsonOf(valid))
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

function bodyCases({ refusal: { operation, valid }, first, effect }: Ground): Case[] {
  return looseBodies.flatMap((kind) => {
    const { what = `with a body that is ${kind}`, isWhole, change } = bodies[kind]
    if (change(first) === undefined) return []
    const own = isWhole && busyStatus(operation) === undefined ? effect : 'none'
    const make = async (): Promise<Probe> => {
      const probe = await valid()
      return { ...probe, ...change(probe), effect: own, fault: `body: ${kind}` }
    }
    return [{ what, effect: own, make }]
  })
}

/** All cases, first those that prove most if they are granted. */
function allCases(ground: Ground): Case[] {
  const { context } = ground.refusal
  const random = randomOf(seedFor(context.run.options.seed, context.requirement.id))
  const { members } = operationOf(ground.refusal.operation)
  const changes = ground.places.flatMap((place) => changesOf({ run: context.run, members, random }, place))
  const single = ground.places.flatMap((place) =>
    casesOf(place).map((one) => memberCase(ground, place, one, effectOfCase(ground, place, one.fault))),
  )
  const loose = shuffled(single, context)
  return [
    ...bodyCases(ground),
    ...textCases(ground, changes),
    ...valueCases(ground, changes),
    ...togetherCases(ground),
    ...(context.run.target.limits.maxGenerations === 0 ? single : loose),
  ]
}

function placesIn(run: Run, operation: OperationId, body: unknown): Placed[] {
  const fields = run.target.operations[operation]?.fields ?? {}
  const examples = examplesFor(run, operation, body)
  const ofBody = shownMembers(operation, body, fields, examples)
  const { settingsWith } = operationOf(operation)
  // Where a query_config stands in what a plain request lacks, it is looked for in a request that has it.
  const more = settingsWith ? shownMembers(operation, withExtra(run, operation, settingsWith), fields, examples) : []
  const shown = [...ofBody.filter((place) => !settingsWith || !isSetting(place)), ...more].filter(
    ({ at }, index, all) => all.findIndex((other) => other.at === at) === index,
  )
  // A parameter has the type of its value in the declared body.
  const typed = shown.map((place) =>
    place.kinds.length > 0 || place.member?.isId
      ? place
      : { ...place, kinds: [kindOf(getAt(place.body, place.pointer))] },
  )
  return [...typed, ...undescribedMembers(body, shown)]
}

/** Judges that no fault of a body or of its members is answered by a 5xx. */
export const badInput: Condition = condition(async (refusal) => {
  const { context, operation, valid, granted } = refusal
  const { run } = context
  const effect = effectOf(run, operation)
  // Some of it may be granted.
  if (run.options.readOnly && effect !== 'none') throw new NotExercised(leftOut('--read-only'))
  await requireAnother(refusal)
  const first = await valid()
  const all = sampled(context, allCases({ refusal, first, places: placesIn(run, operation, jsonOf(first)), effect }))
  if (effect !== 'generates') return judgeCases(refusal, [...all], () => Infinity)
  await judgeCases(
    refusal,
    all.filter((one) => one.effect === 'none'),
    () => Infinity,
  )
  // What may be granted goes on until as much was generated as is this requirement's share.
  const may = maxLooseGenerations(operation, run.target) + granted()
  const left = all.filter((one) => one.effect !== 'none')
  await judgeCases(refusal, left, () => may - granted())
  // What the others did not need is shared out at the end; jobs would make that end a late one.
  if (left.length === 0 || busyStatus(operation) !== undefined) return
  lookAgainAtEnd(context, () => {
    const most = generationsLeft(run) + granted()
    return judgeCases(refusal, left, () => most - granted())
  })
})

/** A creation that may be granted shows nothing if no second valid one is: another requirement tells that it breaks then. */
async function requireAnother({ context, operation }: RefusalContext): Promise<void> {
  if (operationOf(operation).creates?.name === undefined) return
  // One of its own at each try: the answer to the first may be lost.
  const purpose = { role: 'setup', isSuccess: countsAsGranted } as const
  const another = await sendPastBlocks(() => context.send(() => validRequest(context.run, operation), purpose))
  if (!countsAsGranted(another))
    throw new (another.throttled ? Throttled : NotExercised)(
      `a second valid request was answered ${describeResponse(another)}`,
    )
}

/** Shuffles by the seed: if a limit cuts the list, other seeds send the rest. */
function shuffled(cases: readonly Case[], { run, requirement }: CheckContext): Case[] {
  const random = randomOf(seedFor(run.options.seed, requirement.id))
  const drawn = cases.map((one) => [random(), one] as const).toSorted(([one], [other]) => one - other)
  return drawn.map(([, one]) => one)
}

/** The declared body with those of its extra members. */
function withExtra(run: Run, operation: OperationId, kept: readonly string[]): unknown {
  const left = extraRoles(operation).filter((role) => !kept.includes(role))
  return withoutRoles(run, operation, bodyOf(run, operation), left)
}
