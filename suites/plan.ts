import {
  type CatalogueRequirement,
  catalogue,
  grantedRequirement,
  requirementOf,
} from '../catalogue/catalogue.ts'
import { isOperationId, readsOf } from '../catalogue/operations.ts'
import { bringsBody, countGenerating } from '../harness/checks/index.ts'
import { operationOf, plannedCases, requestsOf } from './planned-cases.ts'
import type { LeftOutBy, Reason } from '../harness/report/index.ts'
import {
  absentReason,
  isAssignedTo,
  isObserved,
  isSelected,
  leftOut,
  plainReason,
  unreachableReason,
} from '../harness/report/index.ts'
import type { Target } from '../harness/target-file/index.ts'
import {
  declares,
  exclusiveIds,
  isDeclared,
  missingReason,
  readOnlyTarget,
} from '../harness/target-file/index.ts'
import type { Plan, PlanEntry, RunOptions } from '../harness/engine/index.ts'

/** Parts from which a plan is made: the options that choose, and what the target declares. */
type PlanOptions = Pick<
  RunOptions,
  | 'only'
  | 'chosenBy'
  | 'skip'
  | 'shard'
  | 'readOnly'
  | 'refusalRuns'
  | 'grantedRuns'
  | 'depth'
  | 'seed'
>

/** A requirement that is not sent, and why. */
type Refused = Extract<PlanEntry, { readonly run: false }>

/** Plans what becomes of each requirement, as far as it is known before anything is sent. */
export function planRun(target: Target, options: PlanOptions): Plan {
  const exclusive = exclusiveIds(target)
  // 0 is no limit.
  const budget = { left: target.limits.maxGenerations || Infinity, paid: new Set<string>() }
  const sendsForOthers = observesAlone(options)
  const reading = options.readOnly ? readOnlyTarget(target) : target
  const plan = new Map<string, PlanEntry>()
  for (const requirement of catalogue) {
    const left = leftOutBy(requirement, options, exclusive)
    const kept = left === undefined || (sendsForOthers && left === chosenBy(options))
    const refused =
      notApplicable(requirement, target) ??
      (kept ? undefined : notExercised(leftOut(left))) ??
      readOnly(requirement, target, options, exclusive) ??
      withoutSetup(requirement, target, reading) ??
      withoutKey(requirement, target) ??
      undeclared(requirement, target) ??
      overBudget(requirement, target, options, budget)
    // What nobody selected is left out, whatever else keeps it from being sent.
    const isLeftOut = left !== undefined && refused?.outcome === 'not-exercised'
    const planned = { run: true, ...(left === undefined ? {} : { leftOut: left }) } as const
    plan.set(requirement.id, isLeftOut ? notExercised(leftOut(left)) : (refused ?? planned))
  }
  if (target.limits.maxGenerations > 0) shareOut(plan, target, options, budget.left)
  return plan
}

/**
 * Shares out what the others leave among bad input that a target may grant: as much as each needs at most, or else equal shares
 * of it, the smallest needs first.
 */
function shareOut(
  plan: Map<string, PlanEntry>,
  target: Target,
  options: PlanOptions,
  left: number,
): void {
  const needs = catalogue
    .filter(({ id, effect }) => effect === 'none' && plan.get(id)?.run === true)
    .filter((requirement) => mayGenerate(requirement, target))
    .map((requirement) => {
      const { cases } = plannedCases(requirement, target, options) ?? { cases: [] }
      return { id: requirement.id, need: countGenerating(cases) }
    })
    .filter(({ need }) => need > 0)
    .toSorted((one, other) => one.need - other.need)
  let rest = left
  for (const [at, { id, need }] of needs.entries()) {
    const mayGenerate = Math.min(need, Math.floor(rest / (needs.length - at)))
    rest -= mayGenerate
    plan.set(id, { ...(plan.get(id) as PlanEntry & { readonly run: true }), mayGenerate })
  }
}

/**
 * With nothing but `envelope/` requirements selected every probe is sent, if one of them is judged on everything that comes back. A
 * requirement that sends requests of its own needs no others.
 */
function observesAlone(options: PlanOptions): boolean {
  const selected = catalogue.filter(({ id }) => isSelected(id, options))
  return (
    selected.every(({ operation }) => operation === 'envelope') &&
    selected.some(({ id }) => isObserved(id))
  )
}

function notExercised(reason: string | Reason): Refused {
  return { run: false, outcome: 'not-exercised', ...plainReason(reason) }
}

function inapplicable(reason: string | Reason): Refused {
  return { run: false, outcome: 'not-applicable', ...plainReason(reason) }
}

/** Why a requirement does not apply to the target; undefined if it does. */
export function notApplicable(
  { id, operation, onlyIf, seenBy }: CatalogueRequirement,
  target: Target,
): Refused | undefined {
  const absence = operation === 'envelope' ? undefined : target.absent[operation]
  if (absence === 'not-served') return inapplicable(absentReason(absence))
  if (onlyIf !== undefined)
    return absence === onlyIf ? undefined : inapplicable(`${operation} is not declared ${onlyIf}`)
  if (absence === 'removed') return inapplicable(absentReason(absence))
  if (seenBy?.every((other) => target.absent[other] !== undefined))
    return inapplicable(absentReason('not-served', seenBy))
  const reason = Object.hasOwn(target.unreachable, id) ? target.unreachable[id] : undefined
  return reason === undefined ? undefined : inapplicable(unreachableReason(reason))
}

/** The option by which requirements are chosen, if any is. */
const chosenBy = (options: PlanOptions): LeftOutBy => options.chosenBy ?? '--only'

function leftOutBy(
  requirement: CatalogueRequirement,
  options: PlanOptions,
  exclusive: ReadonlySet<string>,
): LeftOutBy | undefined {
  const chosen = { only: options.only, skip: [] }
  if (!isSelected(requirement.id, chosen)) return chosenBy(options)
  if (!isSelected(requirement.id, options)) return '--skip'
  if (options.shard && !isAssignedTo(requirement, options.shard, exclusive)) return '--shard'
  return undefined
}

/** Leaves out, if read-only, what a conforming target answers by creating or generating, and scenarios that change its state. */
function readOnly(
  requirement: CatalogueRequirement,
  target: Target,
  options: PlanOptions,
  exclusive: ReadonlySet<string>,
): Refused | undefined {
  if (!options.readOnly) return undefined
  const reads = isOperationId(requirement.operation) ? readsOf(requirement.operation) : undefined
  const readsAny =
    reads &&
    requirement.needs.some((need) => Array.isArray(need) && need.includes(reads.declaredAt))
  const makes = readsAny ? !declares(target.file, reads.declaredAt) : requirement.effect !== 'none'
  return makes || exclusive.has(requirement.id) ? notExercised(leftOut('--read-only')) : undefined
}

/** Refuses what needs an object that only `setup` makes, if nothing may be made. */
function withoutSetup(
  requirement: CatalogueRequirement,
  target: Target,
  reading: Target,
): Refused | undefined {
  const scenario = target.scenarios[requirement.id]
  // A scenario changes the valid request of its operation.
  const needing =
    scenario && !bringsBody(scenario)
      ? requirementOf(grantedRequirement[scenario.operation])
      : requirement
  const isMade = isDeclared(target.file, needing) && !isDeclared(reading.file, needing)
  return isMade ? notExercised(leftOut('--read-only')) : undefined
}

/** Leaves out, without a full key, whatever needs one. */
function withoutKey(
  { operation, keyless }: CatalogueRequirement,
  target: Target,
): Refused | undefined {
  if (target.keys.full) return undefined
  return keyless || operation === 'envelope'
    ? undefined
    : notExercised('no key: give the full key with --key, keys.full or CONFORM_API_KEY')
}

function undeclared(
  { id, needs, operation }: CatalogueRequirement,
  target: Target,
): Refused | undefined {
  if (Object.hasOwn(target.scenarios, id)) return undefined
  const reason = missingReason(target.file, needs, operation)
  return reason === undefined ? undefined : notExercised(reason)
}

/** Whether any request of it may make the target generate something: only of such ones the cases are looked at. */
function mayGenerate(requirement: CatalogueRequirement, target: Target): boolean {
  const operation = operationOf(requirement, target)
  const granted = operation && requirementOf(grantedRequirement[operation]).effect
  return requirement.effect === 'generates' || granted === 'generates'
}

/** Goes in catalogue order; a requirement whose generations exceed what is left of `maxGenerations` is not exercised. */
function overBudget(
  requirement: CatalogueRequirement,
  target: Target,
  options: PlanOptions,
  budget: { left: number; readonly paid: Set<string> },
): Refused | undefined {
  if (!mayGenerate(requirement, target)) return undefined
  const { generations: granted, controls, isGenerating } = requestsOf(requirement, target, options)
  // Of bad input only what a lenient target takes all the same generates: that keeps nothing from being judged.
  const generations = requirement.effect === 'generates' ? granted : 0
  const operation = operationOf(requirement, target) ?? ''
  const unpaid = (isGenerating ? ['', ...controls] : [])
    .map((name) => `${operation} ${name}`)
    .filter((name) => !budget.paid.has(name))
  const cost = generations + unpaid.length
  if (cost === 0) return undefined
  if (cost > budget.left) {
    return notExercised(
      `maxGenerations: ${cost} more would exceed limits.maxGenerations (${target.limits.maxGenerations})`,
    )
  }
  budget.left -= cost
  for (const name of unpaid) budget.paid.add(name)
  return undefined
}
