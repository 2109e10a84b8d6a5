import { type CatalogueRequirement, granting } from '../catalogue/catalogue.ts'
import { isRefusal } from '../catalogue/expected.ts'
import {
  firstOperation,
  isOperationId,
  type OperationId,
  triesOf,
} from '../catalogue/operations.ts'
import { type Case, controlName, countAll, countGenerating, materialOf } from './checks/case.ts'
import { declaresMore, draftRequest } from './checks/valid-request.ts'
import type { Known } from './checks/values.ts'
import { nameOfControl } from './checks/control.ts'
import { NotExercised, type Probe } from '../harness/journal/index.ts'
import type { Depth } from '../harness/report/index.ts'
import { isExclusive, readsDeclared, type Scenario, type Target } from '../harness/target/index.ts'
import { casesOf } from './suites.ts'

/** The options that decide how much a run sends. */
export type Runs = Known['options']

/** The planned cases of a requirement, and the number of generated ones. */
export interface PlannedCases {
  readonly cases: readonly Case[]
  readonly generated: number
  /** The valid request that they are made from, if any. */
  readonly draft?: Probe
  /** Names of additional valid requests, each once per run. */
  readonly controls: readonly string[]
}

const knownOf = (target: Target, options: Runs): Known => ({
  target,
  options,
  objects: { takenIds: new Set(target.ids) },
})

/** What is known before anything is sent; undefined for a requirement that needs states of the target. */
export function plannedCases(
  requirement: CatalogueRequirement,
  target: Target,
  options: Runs,
): PlannedCases | undefined {
  const { id, expects } = requirement
  const known = casesOf(id)
  // A scenario replaces them by its one request.
  if (!known || target.scenarios[id]) return undefined
  // A requirement of no operation only needs the key: any operation will do.
  const operation = isOperationId(requirement.operation) ? requirement.operation : firstOperation
  try {
    const material = materialOf(knownOf(target, options), requirement, operation)
    const cases = known.cases(material)
    const isMore = options.depth === 'full' && known.generated?.(material) !== undefined
    const more = isRefusal(expects) ? options.refusalRuns : options.grantedRuns
    return {
      cases,
      draft: material.valid,
      controls: [...new Set(cases.flatMap((one) => controlName(material, one) ?? []))],
      generated: isMore ? more : 0,
    }
  } catch (error) {
    if (error instanceof NotExercised) return { cases: [], generated: 0, controls: [] }
    throw error
  }
}

/** Requests of a requirement to a conforming target, besides the control. */
export interface Requests {
  /** Maximum requests to its own operation. */
  readonly most: number
  /** Number measured with a target with short jobs. */
  readonly usually: number
  /** Maximum requests that generate, including those to other operations. */
  readonly generations: number
  /** Maximum requests to other operations. */
  readonly also: Readonly<Partial<Record<OperationId, number>>>
  /** Names of additional valid requests, each once per run. */
  readonly controls: readonly string[]
}

/** Typical share of its bound that a requirement with states uses: a quick run stops after the first attempt. */
export const usualShare: Readonly<Record<Depth, number>> = { full: 1 / 3, quick: 1 / 10 }

/** Counts the requests of a requirement: its cases, its scenario, or its bound. */
export function requestsOf(
  requirement: CatalogueRequirement,
  target: Target,
  runs: Runs,
): Requests {
  const { atMost = { requests: 0 }, expects, effect } = requirement
  const scenario = target.scenarios[requirement.id]
  if (scenario) return byScenario(requirement, scenario, target, runs)
  const { also = {}, requests } = atMost
  const planned = plannedCases(requirement, target, runs)
  if (!planned) {
    const generated = atMost.andGenerated ? runs.grantedRuns : 0
    const most = requests + generated
    const usually = Math.ceil(most * usualShare[runs.depth])
    return { most, usually, generations: (atMost.generates ?? 0) + generated, also, controls: [] }
  }
  const { cases, generated, controls } = planned
  const operation = operationOf(requirement, target)
  const tries = operation && !isRefusal(expects) ? triesOf(operation) : 1
  const usual = cases.filter((one) => !one.mayBeAbsent).map(({ parts: _, ...one }) => one)
  return {
    most: (countAll(cases) + generated) * tries + requests,
    usually: countAll(usual) + generated,
    generations: countGenerating(cases) + (effect === 'generates' ? generated : 0),
    also,
    controls,
  }
}

function byScenario(
  { effect, control, times = 1 }: CatalogueRequirement,
  scenario: Scenario,
  target: Target,
  runs: Runs,
): Requests {
  const { operation, before, after, repeat } = scenario
  const usual = runs.depth === 'quick' || isExclusive(scenario) ? 1 : times
  const most = (repeat ?? usual) + before.length + after.length
  const known = knownOf(target, runs)
  const isMore = declaresMore(known, operation)
  // Repeats are accepted until the condition occurs; after an exclusive scenario the control is sent again.
  const granted = repeat ?? (effect === 'generates' && !control ? 1 : 0)
  return {
    most,
    usually: most,
    generations: generates(operation, target) ? granted + (isExclusive(scenario) ? 1 : 0) : 0,
    also: {},
    controls: isMore ? [nameOfControl(draftRequest(known, operation, 'whole'))] : [],
  }
}

/** Whether a valid request of the operation generates. */
export const generates = (operation: OperationId, target: Target): boolean =>
  granting(operation).effect === 'generates' && !readsDeclared(operation, target.file)

/** The operation of a requirement's requests: its own, or its scenario's. */
export function operationOf(
  requirement: CatalogueRequirement,
  target: Target,
): OperationId | undefined {
  const own = target.scenarios[requirement.id]?.operation ?? requirement.operation
  return isOperationId(own) ? own : undefined
}
