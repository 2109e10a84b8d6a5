import { catalogue, type CatalogueRow } from '../../catalogue/catalogue.ts'
import { isPassive } from '../report/shard.ts'
import { exclusiveIds } from '../target/exclusive.ts'
import type { Target } from '../target/model.ts'

/** The order of a run: what goes on at once, then what needs the target to itself, then what looks at everything. */
export interface Phases {
  readonly concurrent: readonly CatalogueRow[]
  readonly exclusive: readonly CatalogueRow[]
  readonly passive: readonly CatalogueRow[]
}

export function phasesOf(target: Pick<Target, 'scenarios'>): Phases {
  const exclusive = exclusiveIds(target)
  return {
    concurrent: catalogue.filter(({ id }) => !exclusive.has(id) && !isPassive(id)),
    exclusive: catalogue.filter(({ id }) => exclusive.has(id)),
    passive: catalogue.filter(({ id }) => isPassive(id)),
  }
}
