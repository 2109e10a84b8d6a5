import { catalogue, type CatalogueRow } from '../../catalogue/catalogue.ts'
import { passiveRows } from '../checks/envelope-watch.ts'
import { exclusiveIds } from './plan.ts'
import type { Target } from '../target/model.ts'

/** The order of a run: what goes on at once, then what needs the target to itself, then what looks at everything. */
export interface Phases {
  readonly concurrent: readonly CatalogueRow[]
  readonly exclusive: readonly CatalogueRow[]
  readonly passive: readonly CatalogueRow[]
}

export function phasesOf(target: Pick<Target, 'scenarios'>): Phases {
  const exclusive = exclusiveIds(target)
  const passive: ReadonlySet<string> = new Set(passiveRows)
  return {
    concurrent: catalogue.filter(({ id }) => !exclusive.has(id) && !passive.has(id)),
    exclusive: catalogue.filter(({ id }) => exclusive.has(id)),
    passive: catalogue.filter(({ id }) => passive.has(id)),
  }
}
