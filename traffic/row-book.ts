import type { Exchange } from '../harness/engine/exchange.ts'
import type { RequirementId } from '../catalogue/catalogue.ts'

/** What recorded answers say of one requirement. */
export interface RowSighting {
  cases: number
  readonly failures: { readonly exchange: Exchange; readonly expected: string; readonly actual?: string }[]
  /** Why answers that could have told were not judged. */
  unjudged?: string
}

/** First failures kept a row. */
const mostKept = 3

/** What was seen of each requirement, while the recording is read. */
export interface RowBook {
  pass(id: RequirementId): void
  /** @param actual where it is not the answer as a whole */
  fail(id: RequirementId, exchange: Exchange, expected: string, actual?: string): void
  skip(id: RequirementId, reason: string): void
  sighting(id: RequirementId): RowSighting | undefined
}

export function createRowBook(): RowBook {
  const sightings = new Map<RequirementId, RowSighting>()
  const of = (id: RequirementId): RowSighting => {
    const known = sightings.get(id) ?? { cases: 0, failures: [] }
    sightings.set(id, known)
    return known
  }
  return {
    pass: (id) => void of(id).cases++,
    fail(id, exchange, expected, actual) {
      const sighting = of(id)
      sighting.cases++
      if (sighting.failures.length < mostKept) {
        sighting.failures.push({ exchange, expected, ...(actual === undefined ? {} : { actual }) })
      }
    },
    skip(id, reason) {
      of(id).unjudged ??= reason
    },
    sighting: (id) => sightings.get(id),
  }
}
