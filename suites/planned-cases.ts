import type { CatalogueRequirement } from '../catalogue/catalogue.ts'
import { isOperationId } from '../catalogue/operations.ts'
import { type Case, controlName, type Known, materialOf } from '../harness/checks/index.ts'
import { NotExercised, type Probe } from '../harness/engine/index.ts'
import type { Target } from '../harness/target-file/index.ts'
import { casesOf } from './suites.ts'

/** The cases of a requirement that a run would send, and how many more it would generate. */
export interface PlannedCases {
  readonly cases: readonly Case[]
  readonly generated: number
  /** The valid request that they are made from; undefined if there are none. */
  readonly draft?: Probe
  /** Names of the requests that are to be granted besides the valid one, each once a run. */
  readonly controls: readonly string[]
}

/** What is known before anything is sent; undefined of a requirement whose cases are not, as it needs states of the target. */
export function plannedCases(
  requirement: CatalogueRequirement,
  target: Target,
  options: Known['options'],
): PlannedCases | undefined {
  const { id, operation } = requirement
  const condition = casesOf(id)
  // A scenario replaces them by its one request.
  if (!condition || !isOperationId(operation) || target.scenarios[id]) return undefined
  const objects = { takenIds: new Set(target.ids) }
  try {
    const material = materialOf({ target, options, objects }, requirement, operation)
    const cases = condition.cases(material)
    return {
      cases,
      draft: material.valid,
      controls: [...new Set(cases.flatMap((one) => controlName(material, one) ?? []))],
      generated: condition.generated && options.depth === 'full' ? options.refusalRuns : 0,
    }
  } catch (error) {
    if (error instanceof NotExercised) return { cases: [], generated: 0, controls: [] }
    throw error
  }
}
