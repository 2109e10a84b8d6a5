import { operations } from '../catalogue/operations.ts'
import type { Report, RequirementResult } from '../harness/report/model.ts'
import type { Operations } from './statement.ts'

/** How that report judged each of the 17 operations. */
export function operationsOf({ requirements, run }: Report): Operations {
  const asked = new Map(run.notServed.map(({ operation, answered }) => [operation, answered]))
  const found: Operations = { judged: [], notServed: [], removed: [], notExercised: [] }
  for (const { id } of operations) {
    const results = requirements.filter((result) => result.operation === id)
    const place = placeOf(results)
    if (place === 'notServed') found.notServed.push({ operation: id, answered: asked.get(id) ?? null })
    else found[place].push(id)
  }
  return found
}

/** How many operations the interface has. */
export const operationCount = operations.length

function placeOf(results: readonly RequirementResult[]): keyof Operations {
  const isDeclared = (word: string) =>
    results.some(({ outcome, reason }) => outcome === 'not-applicable' && reason === `declared ${word}`)
  if (isDeclared('not served')) return 'notServed'
  if (isDeclared('removed')) return 'removed'
  return results.some(({ outcome }) => outcome === 'passed' || outcome === 'failed') ? 'judged' : 'notExercised'
}
