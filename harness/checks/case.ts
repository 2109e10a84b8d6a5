import type fc from 'fast-check'
import type { Effect } from '../../catalogue/operation.ts'
import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import type { Pairs } from '../../catalogue/expected.ts'
import type { Exchange, Probe, Run } from '../engine/index.ts'
import type { Journal, Request, Verdict } from '../journal/index.ts'
import type { CheckContext } from '../run/index.ts'
import { nameOfControl } from './control.ts'
import type { CaseRule, Look } from './rules.ts'
import { isDeclared, placeholderDraft, validDraft } from './valid-request.ts'
import { type Known, randomOf, sampled, seedFor } from './values.ts'

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
  /** Goes to another object than the declared one, if there is one that grants the valid request. */
  readonly isForOtherObject?: true
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
  /** Judges it, if not the pairs do. */
  readonly ruleOf?: (sender: Sender) => CaseRule['judge']
  /** The valid request for that object: if it is not granted any more, the object is gone, which is no matter of the fault. */
  readonly object?: (valid: Probe) => Probe
  /** The valid request that the fault is put into, if not the operation's own. */
  readonly valid?: (context: CheckContext, valid: () => Promise<Probe>) => Promise<Probe>
  /** If it says nothing the others are judged nevertheless; so it is of one with a control or a rule of its own. */
  readonly isFurther?: true
  /** Why nothing is judged if its control was refused. */
  readonly unsupported?: string
  /** Why an answer says nothing of the fault; undefined if it does. */
  readonly excuse?: (exchange: Exchange) => string | undefined
  /** Cases that it holds together, each with fewer faults: sent if its answer leaves open what they would be answered. */
  readonly parts?: readonly Case[]
  /** A refusal, too, answers for all of its parts. */
  readonly isConclusive?: boolean
  /** A request that a target grants as well which reads this one by converting it: then it is no fault that it was granted. */
  readonly coercion?: (valid: Probe) => Probe
}

/** What a case with a rule of its own asks with. */
export interface Sender {
  readonly run: Run
  /** The operation's valid request, fresh each time. */
  valid(): Promise<Probe>
  look(journal: Journal, request: Request): Look
}

/** A refusal that is being judged: its control was granted. */
export interface Refusal {
  readonly context: CheckContext
  readonly material: Material
  readonly cases: readonly Case[]
  /** The rule of one of its cases. */
  ruleOf(one: Case): CaseRule
}

/** A refusal: its cases as they are sent, made once its control was granted; in order: each may depend on what was asked before. */
export interface Condition {
  casesIn(
    context: CheckContext,
    material: Material,
    valid: () => Promise<Probe>,
  ): Promise<readonly Case[]>
  readonly inOrder?: boolean
  readonly generated?: Generated | undefined
  /** How its cases are judged together, if not each by itself. */
  readonly judge?: (refusal: Refusal, isEnd: boolean) => Promise<Verdict>
}

export interface CaseCondition extends Condition, KnownCases {}

/** What cases are made from: what the target declares, the options of the run, and the valid request. */
export interface Material extends Known {
  readonly requirement: CatalogueRequirement
  readonly operation: OperationId
  /** As far as it is known before anything is sent. */
  readonly valid: Probe
}

/** The cases of a requirement; throws `NotExercised` if the target declares too little for any. */
export type Cases = (material: Material) => readonly Case[]

/** Further cases, as many as a run generates; undefined if it generates none for this operation. */
export type Generated = (material: Material) => fc.Arbitrary<Case> | undefined

/** What a run sends for a requirement, if that is known before anything is sent. */
export interface KnownCases {
  readonly cases: Cases
  readonly generated?: Generated
}

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
export const countAll = (cases: readonly Case[]): number =>
  cases.reduce(
    (sum, { parts = [], before, isControl }) =>
      sum + (isControl ? 0 : 1) + (before ? 1 : 0) + countAll(parts),
    0,
  )

/** How many of these cases a target may grant, each of which makes it generate something. */
export const countGenerating = (cases: readonly Case[]): number =>
  cases
    .filter(({ effect }) => effect === 'generates')
    .reduce((sum, { parts = [] }) => sum + Math.max(1, countGenerating(parts)), 0)

/** Tells the control of a case from others; undefined if that is the valid request. */
export const controlName = ({ valid }: Material, { control }: Case): string | undefined =>
  control && nameOfControl(control(valid))

/** Of the cases that have a name a quick run sends one; those of the end it leaves out. */
export function quickCases(material: Material, all: readonly Case[]): readonly Case[] {
  const { requirement } = material
  return sampled(
    { run: material, requirement },
    all.filter(({ when }) => !when),
  )
}

/** The path that §4.4 names for the operation beside the one that requests are sent to; undefined if there is none. */
export function otherPathOf({ target }: Pick<Run, 'target'>, id: OperationId): string | undefined {
  const { path, otherPaths } = operationOf(id)
  const own = target.operations[id]?.path ?? path
  return otherPaths.length === 0 ? undefined : [path, ...otherPaths].find((one) => one !== own)
}

/** A value of another type, or none: a server may look at the types there and at nothing else. */
const isOfType = ({ fault = '' }: Case): boolean =>
  /^(?:absent|null|boolean|number|string|array|object) @ /.test(fault)

/**
 * What is refused at one path of an operation is refused at the other: of these cases two go there, too, drawn by the seed: one
 * about a type, and one about a value, as far as there are such.
 */
export function atOtherPath(material: Material, named: readonly Case[]): Case[] {
  const { requirement, operation, options } = material
  const path = otherPathOf(material, operation)
  if (path === undefined) return []
  const random = randomOf(seedFor(options.seed, `other path of ${requirement.id}`))
  return [named.filter(isOfType), named.filter((one) => !isOfType(one))]
    .flatMap((group) => group[Math.floor(random() * group.length)] ?? [])
    .map((one) => ({
      ...one,
      what: `${one.what}, at the path ${path}`,
      change: (valid) => ({ ...one.change(valid), path }),
      isAtOtherPath: true,
    }))
}
