import { catalogue } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import type { HttpAnswer } from '../../harness/http/message.ts'
import { allowance } from './allowed.ts'
import { type Alter, answered } from './alteration.ts'
import { type Change, nameOf } from './change.ts'
import { changesOf } from './changes.ts'
import { judgeOperation } from './judge-operation.ts'
import type { Place } from './place.ts'
import { requestChanges } from './request-changes.ts'
import { stateChangesOf } from './state-changes.ts'

/** All places of one operation, and what its requests were answered. */
export interface Recorded {
  readonly places: readonly Place[]
  readonly answers: ReadonlyMap<string, HttpAnswer>
}

const creates = new Set<string>(
  catalogue.filter(({ effect }) => effect === 'creates').map(({ operation }) => operation),
)

/** A place in an answer that other answers do not have is left as it is. */
function applied(change: Change, answer: HttpAnswer): HttpAnswer {
  try {
    return change.apply(answer)
  } catch {
    return answer
  }
}

const ofForm = (status: number, change: Change): Alter => answered(status, (answer) => applied(change, answer))

/** Judges the operation as it is, and tells everything that could have been wrong. */
export async function record(operation: OperationId): Promise<Recorded> {
  const places: Place[] = []
  const kinds = new Map<string, Omit<Place, 'allowed'>>()
  const answers = new Map<string, HttpAnswer>()
  const place = (change: Omit<Place, 'allowed'>): void => {
    places.push({ ...change, allowed: allowance(change) })
  }
  const placeOnce = (change: Omit<Place, 'allowed'>, kind = change.name): void => {
    place(change)
    kinds.set(`${change.status} ${kind}`, { ...change, name: kind, signature: undefined })
  }
  const failed = await judgeOperation(operation, async ({ asked, past, ask }) => {
    const right = await ask()
    if (asked.operation !== operation || right.kind !== 'answer') return right
    const { signature } = asked
    const { status } = right
    answers.set(signature, right)
    for (const change of changesOf(right)) {
      placeOnce({ operation, subject: 'form', signature, status, name: nameOf(change), alter: ofForm(status, change) })
    }
    for (const { name, kind, alter } of stateChangesOf(right, past, creates.has(operation))) {
      placeOnce({ operation, subject: 'state', signature, status, name, alter }, kind)
    }
    return right
  })
  if (failed.length > 0) throw new Error(`the reference fails ${failed.join(', ')} without any change`)
  for (const change of kinds.values()) place(change)
  for (const [name, alter] of requestChanges) {
    place({ operation, subject: 'requests', signature: undefined, status: 0, name, alter })
  }
  return { places, answers }
}
