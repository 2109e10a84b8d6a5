import { catalogue, type CatalogueRow } from '../../catalogue/catalogue.ts'
import { isObserved } from '../report/shard.ts'
import { exclusiveIds } from '../target/exclusive.ts'
import type { Target } from '../target/model.ts'

/** The order of a run: what goes on at once, what needs the target to itself, what is judged last, what is observed on everything. */
export interface Phases {
  readonly concurrent: readonly CatalogueRow[]
  readonly exclusive: readonly CatalogueRow[]
  /** Judged on what all others made the target show. */
  readonly last: readonly CatalogueRow[]
  readonly observed: readonly CatalogueRow[]
}

export function phasesOf(target: Pick<Target, 'scenarios'>): Phases {
  const exclusive = exclusiveIds(target)
  const isLast = ({ id, judgedLast }: CatalogueRow): boolean => judgedLast === true && !exclusive.has(id)
  return {
    concurrent: catalogue.filter((row) => !exclusive.has(row.id) && !isObserved(row.id) && !isLast(row)),
    last: catalogue.filter(isLast),
    exclusive: catalogue.filter(({ id }) => exclusive.has(id)),
    observed: catalogue.filter(({ id }) => isObserved(id)),
  }
}
