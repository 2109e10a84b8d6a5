import type { Client } from '../../harness/client/index.ts'
import type fc from 'fast-check'
import type { Effect } from '../../catalogue/operation.ts'
import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import type { Pairs } from '../../catalogue/expected.ts'
import type { Exchange, Probe, Journal, Ask, Verdict } from '../../harness/journal/index.ts'
import type { CheckContext } from '../../harness/run/index.ts'
import type { OtherObject } from '../../harness/target/index.ts'
import { nameOfControl } from './control.ts'
import type { CaseRule, Look } from './rules.ts'
import { isDeclared, placeholderDraft, validDraft } from './valid-request.ts'
import { type Known, type OfTarget, randomOf, sampled, seedFor } from './values.ts'

/** A request and its accepted answers, both known before anything is sent. */
export interface Case {
  /** The one fault; continues the request line. */
  readonly what: string
  readonly fault?: string | undefined
  readonly expects?: Pairs | undefined
  change(valid: Probe): Probe
  readonly effect?: Effect
  readonly isAtOtherPath?: true
  readonly other?: OtherObject
  /**
   * The valid request with an addition of this case, which a target may not support: sent once per run, and must be
   * accepted.
   */
  readonly control?: (valid: Probe) => Probe
  /** After all other cases, or at the end of the run; default: at once. */
  readonly when?: 'after the others' | 'at the end'
  /** Sent immediately before, and not judged: its leftovers must not change the answer. */
  readonly before?: 'a valid request' | 'a refused one'
  /** The control itself, which another requirement sends or the run sends once. */
  readonly isControl?: true
  /** Sent only if the target shows support for it. */
  readonly mayBeAbsent?: true
  readonly ruleOf?: (sender: Sender) => CaseRule['judge']
  /** The valid request for that object: if it is refused now, the object is gone, and the fault proves nothing. */
  readonly object?: (valid: Probe) => Probe
  /** The valid request that the fault is put into, if not the operation's own. */
  readonly valid?: (context: CheckContext, valid: () => Promise<Probe>) => Promise<Probe>
  /** If this case is inconclusive, the other cases are still judged, as with cases that have their own control or rule. */
  readonly isFurther?: true
  /** Why nothing is judged if its control was refused. */
  readonly unsupported?: string
  /** Why an answer says nothing about the fault; undefined if it does. */
  readonly excuse?: (exchange: Exchange) => string | undefined
  /** Cases combined in it, each with fewer faults: sent if its answer does not settle them. */
  readonly parts?: readonly Case[]
  /** A refusal also settles all parts. */
  readonly isConclusive?: boolean
  /** A request that shows conversion by the server: if accepted too, accepting this one is not a fault. */
  readonly coercion?: (valid: Probe) => Probe
}

export interface Sender {
  readonly client: Client
  valid(): Promise<Probe>
  look(journal: Journal, request: Ask): Look
}

export interface Refusal {
  readonly context: CheckContext
  readonly material: Material
  readonly cases: readonly Case[]
  ruleOf(one: Case): CaseRule
}

/**
 * The cases of a refusal as sent, made once the control was accepted; in order, since each may depend on the previous
 * one.
 */
export interface Condition {
  casesIn(
    context: CheckContext,
    material: Material,
    valid: () => Promise<Probe>,
  ): Promise<readonly Case[]>
  readonly inOrder?: boolean
  readonly generated?: Generated | undefined
  readonly judge?: (refusal: Refusal, isEnd: boolean) => Promise<Verdict>
}

export interface CaseCondition extends Condition, KnownCases {}

export interface Material extends Known {
  readonly requirement: CatalogueRequirement
  readonly operation: OperationId
  /** As far as known before anything is sent. */
  readonly valid: Probe
}

/** The cases of a requirement; throws `NotExercised` if the target declares too little for any. */
export type Cases = (material: Material) => readonly Case[]

export type Generated = (material: Material) => fc.Arbitrary<Case> | undefined

export interface KnownCases {
  readonly cases: Cases
  readonly generated?: Generated
}

/** Throws `NotExercised` if the target does not declare the valid request. */
export function materialOf(
  { target, options, objects }: Known,
  requirement: CatalogueRequirement,
  operation: OperationId,
): Material {
  const known = { target, options, objects }
  // Keys can be checked with any request.
  const isAny = requirement.fault === 'credentials' && !isDeclared(known, operation)
  const valid = isAny ? placeholderDraft(known, operation) : validDraft(known, operation)
  return { ...known, requirement, operation, valid }
}

/** The number of requests if no combined case settles its parts. */
export const countAll = (cases: readonly Case[]): number =>
  cases.reduce(
    (sum, { parts = [], before, isControl }) =>
      sum + (isControl ? 0 : 1) + (before ? 1 : 0) + countAll(parts),
    0,
  )

/** The number of cases that may be accepted and make the target generate. */
export const countGenerating = (cases: readonly Case[]): number =>
  cases
    .filter((one) => one.effect === 'generates')
    .reduce((sum, { parts = [] }) => sum + Math.max(1, countGenerating(parts)), 0)

export const controlName = (material: Material, one: Case): string | undefined =>
  one.control && nameOfControl(one.control(material.valid))

/** A quick run sends one named case, and none at the end. */
export function quickCases(material: Material, all: readonly Case[]): readonly Case[] {
  const { requirement } = material
  return sampled(
    { given: material, requirement },
    all.filter((one) => !one.when),
  )
}

export function otherPathOf(given: OfTarget, id: OperationId): string | undefined {
  const { path, otherPaths } = operationOf(id)
  const own = given.target.operations[id]?.path ?? path
  return otherPaths.length === 0 ? undefined : [path, ...otherPaths].find((one) => one !== own)
}

/** A wrong or missing type: a server may check only types there. */
const isOfType = ({ fault = '' }: Case): boolean =>
  /^(?:absent|null|boolean|number|string|array|object) @ /.test(fault)

/**
 * What one path refuses, the other must refuse too: two cases also go there, chosen by the seed, one about a type and
 * one about a value, if available.
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
