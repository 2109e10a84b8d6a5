import type fc from 'fast-check'
import type { Effect } from '../../catalogue/operation.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import type { Pairs } from '../../catalogue/expected.ts'
import { Failed, isGranted, type Probe } from '../engine/index.ts'
import { judgeAlso, judgeEach, property } from './at-once.ts'
import { controlWith, nameOfControl, notGranted } from './control.ts'
import { drawnForOtherPath, grantsAtOtherPath } from './other-path.ts'
import { type Condition, type RefusalContext } from './refusals.ts'
import { validDraft, validRequest } from './valid-request.ts'
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
  /** Asks for what was asked before: sent once all others were answered. */
  readonly isAgain?: true
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

/** Further cases, as many as a run generates. */
type Generated = (material: Material) => fc.Arbitrary<Case>

export function materialOf(
  { target, options, objects }: Known,
  requirement: CatalogueRequirement,
  operation: OperationId,
): Material {
  const known = { target, options, objects }
  return { ...known, requirement, operation, valid: validDraft(known, operation) }
}

/** How many requests these cases come to if none that holds several answers for its parts. */
export function countAll(cases: readonly Case[]): number {
  return cases.reduce((sum, { parts = [] }) => sum + 1 + countAll(parts), 0)
}

/** How many of these cases a target may grant, each of which makes it generate something. */
export function countGenerating(cases: readonly Case[]): number {
  return cases
    .filter(({ effect }) => effect === 'generates')
    .reduce((sum, { parts = [] }) => sum + Math.max(1, countGenerating(parts)), 0)
}

interface CaseOptions {
  /** One after the other: each may depend on what was asked before. A quick run sends the first. */
  readonly inOrder?: true
  readonly generated?: Generated
}

/** A condition that is judged by these cases, and by as many generated ones as a run asks for. */
export function byCases(cases: Cases, { inOrder, generated }: CaseOptions = {}): CaseCondition {
  const chosen = (material: Material): readonly Case[] => {
    const all = cases(material)
    const named = all.filter(({ isAgain, coercion }) => !isAgain && !coercion)
    if (material.options.depth === 'full') return [...all, ...atOtherPath(material, named)]
    if (inOrder) return named.slice(0, 1)
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
      context.open.plan(all.filter(({ control }) => !control).length)
      const judge = async (one: Case): Promise<void> => {
        const name = controlName(material, one)
        if (!one.control || name === undefined) {
          await judgeCase(refusal, one)
          context.open.settle(1)
        } else await judgeAlso(context, () => withControl(refusal, one, name))
      }
      if (inOrder) for (const one of all) await judge(one)
      else
        for (const isAgain of [undefined, true])
          await judgeEach(
            all.filter((one) => one.isAgain === isAgain),
            judge,
          )
      // A quick run sends one case, and the first of them have a name.
      if (!generated || material.options.depth === 'quick') return
      await property(context, 'refusalRuns', generated(material), (one) => judgeCase(refusal, one))
    },
  }
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
  const { valid, judge } = refusal
  const { what, fault, expects, effect = 'none', coercion } = one
  try {
    return await judge({ ...one.change(await valid()), effect, fault }, what, expects)
  } catch (error) {
    if (!coercion || !isGrantedFault(error)) throw error
    const { response } = await refusal.context.send(coercion(await valid()), { role: 'control' })
    if (response === undefined || !isGranted(response)) throw error
    return true
  }
}

function isGrantedFault(error: unknown): boolean {
  const status = error instanceof Failed ? (error.failure.exchange?.response?.status ?? 0) : 0
  return status >= 200 && status < 300
}
