import { catalogue } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import type { HttpAnswer } from '../../harness/http/message.ts'
import { allowance } from './allowed.ts'
import { type Alter, answered } from './alteration.ts'
import { type Change, nameOf } from './change.ts'
import { changesOf } from './changes.ts'
import { judgeOperation } from './judge-operation.ts'
import { requestChanges } from './request-changes.ts'
import { stateChangesOf } from './state-changes.ts'

/**
 * What is altered: the form of one answer, what one answer has to do with its request (its state), or either of all answers
 * of one status that the operation gives.
 */
export type Scope = 'form' | 'state' | 'operation'

/** One thing that a server may do wrong. */
export interface Place {
  readonly operation: OperationId
  readonly scope: Scope
  /** Of the one request that is concerned; undefined for all of the operation. */
  readonly signature: string | undefined
  /** Status of the answer before the change; 0 for requests that are read as others, whatever they are answered. */
  readonly status: number
  readonly name: string
  /** Why a conforming server may do it; undefined if it may not. */
  readonly allowed: string | undefined
  readonly alter: Alter
}

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
  const forms = new Map<string, Pick<Place, 'status' | 'name' | 'alter'>>()
  const answers = new Map<string, HttpAnswer>()
  const place = (scope: Scope, status: number, name: string, alter: Alter, signature?: string): void => {
    places.push({
      operation,
      scope,
      signature,
      status,
      name,
      allowed: allowance({ operation, scope, status, name }),
      alter,
    })
  }
  const failed = await judgeOperation(operation, async ({ asked, past, ask }) => {
    const right = await ask()
    if (asked.operation !== operation || right.kind !== 'answer') return right
    const { signature } = asked
    const { status } = right
    answers.set(signature, right)
    for (const change of changesOf(right)) {
      const name = nameOf(change)
      const alter = ofForm(status, change)
      place('form', status, name, alter, signature)
      forms.set(`${status} ${name}`, { status, name, alter })
    }
    for (const { name, alter } of stateChangesOf(right, past, creates.has(operation))) {
      place('state', status, name, alter, signature)
      forms.set(`${status} ${name}`, { status, name, alter })
    }
    return right
  })
  if (failed.length > 0) throw new Error(`the reference fails ${failed.join(', ')} without any change`)
  for (const { status, name, alter } of forms.values()) place('operation', status, name, alter)
  for (const [name, alter] of requestChanges) place('operation', 0, name, alter)
  return { places, answers }
}
