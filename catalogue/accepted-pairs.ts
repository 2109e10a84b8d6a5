import { isRefusal, pairsOf, type Pairs } from './answers.ts'
import { catalogue } from './catalogue.ts'
import { operations, type OperationId } from './operations.ts'

const pairs = new Map<OperationId, Pairs>(
  operations.map(({ id }) => [
    id,
    catalogue.flatMap((row) => (row.operation === id && isRefusal(row.gives) ? pairsOf(row, id) : [])),
  ]),
)

/** The pairs that some requirement of the operation accepts: whatever a request meant, none of them is a fault by itself. */
export function acceptedPairs(operation: OperationId | null): Pairs {
  return (operation && pairs.get(operation)) ?? []
}
