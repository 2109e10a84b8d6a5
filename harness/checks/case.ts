import type fc from 'fast-check'
import type { Effect } from '../../catalogue/operation.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import type { Pairs } from '../../catalogue/expected.ts'
import { type CheckContext, Failed, isGranted, type Probe } from '../engine/index.ts'
import { judgeAlso, judgeEach, property } from './at-once.ts'
import { controlWith, nameOfControl, notGranted } from './control.ts'
import { drawnForOtherPath, grantsAtOtherPath } from './other-path.ts'
import type { Condition, RefusalContext } from './refusals.ts'
import { isDeclared, placeholderDraft, validDraft, validRequest } from './valid-request.ts'
import { type Known, sampled } from './values.ts'

/** A request that a requirement is judged by, and what may answer it: both are known before anything is sent. */
export interface Case {
  /** The one fault, in words that follow the request line. */
  readonly what: string
  /** Name in the fault matrix. */
  readonly fault?: string | undefined
  /** Pairs for this case, if the spec names others than for the rest of its requirement. */
  readonly expects?: Pairs | undefined
  /** The request, made from a valid one: each gets a fresh one, with names and files of its own. */
  change(valid: Probe): Probe
  /** What it has on a target that may grant it; `none` if nothing is said. */
  readonly effect?: Effect
  /** Goes to the path that §4.4 names besides, if the valid request is granted there. */
  readonly isAtOtherPath?: true
  /** The valid request with what this one adds to it beside its fault, which a target may not support: sent once a run, and has to be granted. */
  readonly control?: (valid: Probe) => Probe
  /** Sent once all others were answered, or when everything else of the run was; at once if nothing is said. */
  readonly when?: 'after the others' | 'at the end'
  /** Sent right before it, and judged as nothing: what it leaves behind is no reason to answer this one otherwise. */
  readonly before?: 'a valid request' | 'a refused one'
  /** The control itself: another requirement's request, or one that is sent once a run. */
  readonly isControl?: true
  /** Sent only if the target shows that it takes such a request. */
  readonly mayBeAbsent?: true
  /** Judges it if not the pairs do; returns without a case if there was nothing to judge, and throws `NotExercised` if it is left. */
  readonly judge?: (refusal: RefusalContext, one: Case) => Promise<void>
  /** Cases that it holds together, each with fewer faults: sent if its answer leaves open what they would be answered. */
  readonly parts?: readonly Case[]
  /** A refusal, too, answers for all of its parts. */
  readonly isConclusive?: boolean
  /** A request that a target grants as well which reads this one by converting it: then it is no fault that it was granted. */
  readonly coercion?: (valid: Probe) => Probe
}

/** What cases are made from: what the target declares, the options of the run, and the valid request. */
export interface Material extends Known {
  readonly requirement: CatalogueRequirement
  readonly operation: OperationId
  /** As far as it is known before anything is sent. */
  readonly valid: Probe
}

/** The cases of a requirement; throws `NotExercised` if the target declares too little for any. */
export type Cases = (material: Material) => readonly Case[]

/** A condition whose cases are known before anything is sent. */
export interface CaseCondition extends Condition {
  readonly cases: Cases
  readonly generated?: Generated
}

/** Further cases, as many as a run generates; undefined if it generates none for this operation. */
export type Generated = (material: Material) => fc.Arbitrary<Case> | undefined

/** What the cases of a requirement are made from. Throws `NotExercised` if the target does not declare the valid request. */
export function materialOf(
  { target, options, objects }: Known,
  requirement: CatalogueRequirement,
  operation: OperationId,
): Material {
  const known = { target, options, objects }
  // A key is looked at whatever the request is.
  const isAny = requirement.fault === 'credentials' && !isDeclared(known, operation)
  const valid = isAny ? placeholderDraft(known, operation) : validDraft(known, operation)
  return { ...known, requirement, operation, valid }
}

/** How many requests these cases come to if none that holds several answers for its parts. */
export function countAll(cases: readonly Case[]): number {
  return cases.reduce(
    (sum, { parts = [], before, isControl }) =>
      sum + (isControl ? 0 : 1) + (before ? 1 : 0) + countAll(parts),
    0,
  )
}

/** How many of these cases a target may grant, each of which makes it generate something. */
export function countGenerating(cases: readonly Case[]): number {
  return cases
    .filter(({ effect }) => effect === 'generates')
    .reduce((sum, { parts = [] }) => sum + Math.max(1, countGenerating(parts)), 0)
}

interface Order {
  /** One after the other: each may depend on what was asked before. A quick run sends the first. */
  readonly inOrder?: true
}

interface CaseOptions extends Order {
  readonly generated?: Generated
}

/** A condition that is judged by these cases, and by as many generated ones as a run asks for. */
export function byCases(cases: Cases, { generated, ...order }: CaseOptions = {}): CaseCondition {
  const chosen = (material: Material): readonly Case[] => {
    const all = cases(material)
    const named = all.filter(({ when, coercion }) => !when && !coercion)
    if (material.options.depth === 'full') return [...all, ...atOtherPath(material, named)]
    if (order.inOrder) return named.slice(0, 1)
    // One that needs a control of its own takes two requests.
    const plain = named.filter(({ control }) => !control)
    const few = plain.length > 0 ? plain : named
    return sampled({ run: material, requirement: material.requirement }, few)
  }
  return {
    cases: chosen,
    ...(generated && { generated }),
    async bringAbout(refusal) {
      const { context, operation } = refusal
      const material = materialOf(context.run, context.requirement, operation)
      const known = chosen(material)
      const hasOther =
        known.some(({ isAtOtherPath }) => isAtOtherPath) &&
        (await grantsAtOtherPath(context.run, operation))
      const all = known.filter((one) => !one.isAtOtherPath || hasOther)
      await judgeAll(refusal, material, all, order)
      await judgeGenerated(refusal, material, generated)
    },
  }
}

/** Judges all of these cases: several at once, or one after the other, and those of the end at the end of the run. */
export async function judgeAll(
  refusal: RefusalContext,
  material: Material,
  all: readonly Case[],
  order: Order = {},
): Promise<void> {
  const { context } = refusal
  const judgeOne = async (one: Case): Promise<void> => {
    const { judge } = one
    const name = controlName(material, one)
    if (judge) await judgeAlso(context, () => judge(refusal, one))
    else if (name !== undefined) await judgeAlso(context, () => withControl(refusal, one, name))
    else {
      await judgeCase(refusal, one)
      context.open.settle(1)
    }
  }
  await judgeInTurn(context, all, judgeOne, order)
}

/** Judges as many generated cases as the run asks for; a quick run sends one case, and the first of them have a name. */
export async function judgeGenerated(
  refusal: RefusalContext,
  material: Material,
  generated: Generated | undefined,
): Promise<void> {
  const arbitrary = material.options.depth === 'full' ? generated?.(material) : undefined
  if (arbitrary)
    await property(refusal.context, 'refusalRuns', arbitrary, (one) => judgeCase(refusal, one))
}

/** Judges cases when it is their turn. Those that are judged as a further case (`judgeAlso`) are planned there. */
export async function judgeInTurn(
  context: CheckContext,
  all: readonly Case[],
  judge: (one: Case) => Promise<void>,
  { inOrder }: Order = {},
): Promise<void> {
  context.open.plan(all.filter((one) => !one.control && !one.judge).length)
  const inTurn = async (when: Case['when']): Promise<void> => {
    const now = all.filter((one) => one.when === when)
    if (inOrder) for (const one of now) await judge(one)
    else await judgeEach(now, judge)
  }
  await inTurn(undefined)
  await inTurn('after the others')
  if (all.some(({ when }) => when === 'at the end')) context.atEnd = () => inTurn('at the end')
}

/** What is refused at one path of an operation is refused at the other: some of the cases go there, too. */
function atOtherPath(material: Material, named: readonly Case[]): Case[] {
  const { requirement, operation } = material
  const drawn = drawnForOtherPath(material, { id: requirement.id, operation }, named)
  return drawn.map(({ one, path }) => ({
    ...one,
    what: `${one.what}, at the path ${path}`,
    change: (valid) => ({ ...one.change(valid), path }),
    isAtOtherPath: true,
  }))
}

/** Tells the control of a case from others; undefined if that is the valid request. */
export function controlName({ valid }: Material, { control }: Case): string | undefined {
  if (!control) return undefined
  return nameOfControl(control(valid))
}

/** Judges a case if the target grants its control; throws `NotExercised` if not. */
async function withControl(refusal: RefusalContext, one: Case, name: string): Promise<void> {
  const { operation, context } = refusal
  const { run } = context
  const { control: change = (valid) => valid } = one
  const found = await controlWith(run, operation, name, async () => {
    const valid = await validRequest(run, operation)
    return { ...change(valid), effect: valid.effect }
  })
  if (found.state === 'refused')
    throw notGranted(found, 'the same request without its fault was not granted')
  await judgeCase(refusal, one)
}

/** Sends a case and judges the answer; tells whether it was granted. */
export async function judgeCase(refusal: RefusalContext, one: Case): Promise<boolean> {
  const { valid, judge, context } = refusal
  const { what, expects, effect = 'none', coercion, before, when } = one
  if (before === 'a valid request') await context.send(valid, { role: 'setup' })
  // By its fault a case is known, and is sent once a run; at the end it is sent again.
  const fault = when === 'at the end' ? undefined : one.fault
  try {
    return await judge({ ...one.change(await valid()), effect, fault }, what, expects)
  } catch (error) {
    if (!coercion || !isGrantedFault(error)) throw error
    const { response } = await context.send(coercion(await valid()), { role: 'control' })
    if (response === undefined || !isGranted(response)) throw error
    return true
  }
}

function isGrantedFault(error: unknown): boolean {
  const status = error instanceof Failed ? (error.failure.exchange?.response?.status ?? 0) : 0
  return status >= 200 && status < 300
}
