import type { Effect, Member } from '../../catalogue/operation.ts'
import { Failed, jsonOf } from '../engine/index.ts'
import { type Case, judgeCase, type Material } from './case.ts'
import { judgeEach, maxAtOnce } from './at-once.ts'
import type { Allowance } from './created.ts'
import type { RefusalContext } from './refusals.ts'
import { isLoose } from '../../catalogue/faults.ts'
import { oddBodies, oddNumbers, oddTexts } from '../../catalogue/odd-values.ts'
import { operation as operationOf } from '../../catalogue/operations.ts'
import { type Change, change, changedBody, described, isOf, ofKinds } from './changes.ts'
import { isSetting, type Placed } from './places.ts'
import * as odd from './odd-values.ts'

/**
 * Judges cases, several at once, until none is left or no more may be granted; those that were judged are taken out. If all
 * that a request holds is granted, each of its parts was looked at. A refusal may be of the first of them alone, and a 5xx
 * does not say which it was: both are followed by the parts.
 */
export async function judgeCases(
  refusal: RefusalContext,
  cases: Case[],
  { left, keep }: Allowance,
): Promise<void> {
  const { open } = refusal.context
  while (cases.length > 0 && left() > 0) {
    const batch = cases.splice(0, Math.min(maxAtOnce, left()))
    const giveBack = keep?.(batch.length)
    const parts = await openParts(refusal, batch).finally(giveBack)
    open.settle(batch.length)
    open.plan(parts.length)
    cases.unshift(...parts)
  }
}

/** Parts of refused cases, in their order. */
async function openParts(refusal: RefusalContext, cases: readonly Case[]): Promise<Case[]> {
  const open = new Map<Case, readonly Case[]>()
  await judgeEach(cases, async (one) => open.set(one, await partsAfter(refusal, one)))
  return cases.flatMap((one) => open.get(one) ?? [])
}

async function partsAfter(refusal: RefusalContext, one: Case): Promise<readonly Case[]> {
  const { parts = [], isConclusive = false } = one
  try {
    const isGranted = await judgeCase(refusal, one)
    return isGranted || isConclusive ? [] : parts
  } catch (error) {
    if (error instanceof Failed && error.failure.exchange?.response) await showWhich(refusal, parts)
    throw error
  }
}

/** Throws the failure of the first part that fails by itself. */
async function showWhich(refusal: RefusalContext, parts: readonly Case[]): Promise<void> {
  for (const part of parts) await showWhich(refusal, await partsAfter(refusal, part))
}

/** Parts from which the cases of an operation are made. */
export interface Ground {
  readonly material: Material
  readonly places: readonly Placed[]
  /** Effect of a request that is granted. */
  readonly effect: Effect
}

/** A request that some other requirement wants refused has no effect; any other may be granted, with the effect of a valid one. */
function effectOfFault(
  { effect }: Ground,
  { place: { member }, faults: [fault = ''] }: Change,
): Effect {
  return isLoose(member, fault.slice(0, fault.indexOf(' '))) ? effect : 'none'
}

/** The case of a single fault of one member. */
export const memberCase = (ground: Ground, one: Change): Case =>
  together({ ...ground, effect: effectOfFault(ground, one) }, [one])

type Bodies = readonly (typeof oddBodies)[number][]

/** Values at several places of one body, and members besides. */
function together({ effect }: Ground, changes: readonly Change[], bodies: Bodies = []): Case {
  const faults = [...changes.flatMap((one) => one.faults), ...bodies.map((kind) => `body: ${kind}`)]
  const all = [...changes.map(described), ...bodies.map((kind) => odd.calledBodies[kind])]
  return {
    what: `with a valid body, but ${all.join(', ')}`,
    fault: faults.join(' + '),
    effect,
    change: (valid) => ({
      ...valid,
      body: odd.written(changedBody(changes, jsonOf(valid)), bodies),
    }),
  }
}

/** Several changes in one request: what is granted was looked at whole; else each by itself tells more. */
function groupCase(ground: Ground, changes: readonly Change[], isConclusive = false): Case {
  const whole = together(ground, changes)
  const milder = changes.flatMap((one) => one.milder ?? [])
  if (changes.length < 2)
    return milder.length === 0 ? whole : { ...whole, parts: [together(ground, milder)] }
  return { ...whole, parts: changes.map((one) => groupCase(ground, [one])), isConclusive }
}

/** Texts that name what is created: there may be names that are none. */
function isName({ material: { operation } }: Ground, { member }: Placed): boolean {
  const name = operationOf(operation).creates?.name
  return name !== undefined && 'role' in name && name.role === member.role
}

/** Odd texts of all members, all at once; then each kind at all members, then each by itself. With them the odd bodies. */
export function textCases(ground: Ground, changes: readonly Change[]): Case[] {
  const groups = odd.grouped(
    ground.places.flatMap(
      (place) => odd.everyText(changes.filter((one) => one.place === place)) ?? [],
    ),
    (place) => isName(ground, place),
  )
  const named = oddBodies.map((kind) => together(ground, [], [kind]))
  if (groups.length === 0) return [{ ...together(ground, [], oddBodies), parts: named }]
  return groups.map((group, at) => {
    const bodies = at === 0 ? oddBodies : []
    const kinds = oddTexts.map((kind) =>
      changes.filter((one) => isOf(one, kind) && group.some(({ place }) => place === one.place)),
    )
    const parts = [...(at === 0 ? named : []), ...kinds.map((own) => groupCase(ground, own))]
    return { ...together(ground, group, bodies), parts }
  })
}

/** `null` at members that may be left out, and texts for numbers, several at once; else each by itself. */
export function togetherCases(ground: Ground): Case[] {
  const all = (
    places: readonly Placed[],
    kind: string,
    called: string,
    value: unknown,
  ): Change[][] => odd.grouped(places.map((place) => change(place, kind, called, () => value)))
  const asText = ground.places.filter(({ member }) => member.kinds.includes('number'))
  const nulls = ground.places.filter(({ member }) => !member.kinds.includes('null'))
  const settings = asText.filter(({ member }) => isSetting(member))
  const optional = nulls.filter(({ member }) => isOptional(member))
  const required = nulls.filter((place) => !optional.includes(place))
  return [
    ...all(optional, 'null', 'null', null).map((group) => groupCase(ground, group)),
    // A server that refuses what could be read as a number refuses it everywhere; what could not is sent one by one.
    ...[
      ...all(asText, 'string', 'the text "1"', '1'),
      ...all(settings, 'boolean', 'true', true),
    ].map((group) => groupCase(ground, group, true)),
    ...required.flatMap((place) => ofKinds(place, ['null'])).map((one) => memberCase(ground, one)),
  ]
}

/** The spec shows what it is for, and other requests without it. */
function isOptional(member: Member): boolean {
  if (member.required || !isLoose(member, 'null')) return false
  return (
    member.isExtra === true || member.kinds.some((kind) => kind === 'number' || kind === 'boolean')
  )
}

/** Odd values that are no texts: what may be granted together at once, anything else by itself. First what most servers refuse. */
export function valueCases(ground: Ground, changes: readonly Change[]): Case[] {
  const kinds = [
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
  return kinds.flatMap((kind) => {
    const own = changes.filter((one) => isOf(one, kind))
    return [
      ...odd
        .grouped(own.filter(odd.isFree), (place) => isName(ground, place))
        .map((group) => groupCase(ground, group)),
      ...own.filter((one) => !odd.isFree(one)).map((one) => together(ground, [one])),
    ]
  })
}
