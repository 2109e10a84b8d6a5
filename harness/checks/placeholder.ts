import { type OperationId, operation, operations, isOperationId } from '../../catalogue/operations.ts'
import { getAt } from '../../schemas/json.ts'
import { randomOf, seedFor } from './seed.ts'
import { type Run, type RunHook, perRun } from '../engine/run.ts'
import type { Probe } from '../engine/probe.ts'
import { operationProbe } from '../engine/operation-probe.ts'
import { freshUnknownId } from './unknown-id.ts'
import { sendWithRetries } from '../engine/send-with-retries.ts'
import type { NotServed } from '../report/model.ts'

/** Ids of an unknown form are taken for uuids of version 4. */
const anyUuid = '6f1d2c3b-8a4e-4b5f-9c6d-7e8f90a1b2c3'

/** An id after whose shape an unknown one of that path parameter is made: one that is declared for the operation, or for another. */
function knownIdLike(run: Run, id: OperationId, parameter: string): string {
  const places = [operation(id), ...operations.map((other) => operation(other.id))].flatMap(
    ({ params }) => params?.[parameter]?.declaredAt ?? [],
  )
  const ids = places.map((place) => getAt(run.target.file, place))
  return ids.find((known) => typeof known === 'string') ?? anyUuid
}

/** A request of an operation for which nothing is declared: `{}` for a body, unknown ids in the path. It creates nothing on a conforming server. */
export async function placeholderRequest(run: Run, id: OperationId): Promise<Probe> {
  const { params: names = {}, body } = operation(id)
  const random = randomOf(seedFor(run.options.seed, `stand-in ${id}`))
  const params = Object.fromEntries(
    Object.keys(names).map((name) => [name, freshUnknownId(run, knownIdLike(run, id, name), random)]),
  )
  return operationProbe(run, id, { params, ...(body === 'none' ? {} : { json: {} }) })
}

const responsesOf = perRun((): NotServed[] => [])

/** Sends one request with the full key to each operation that is declared as not served: the report shows the answer, unjudged. */
async function sendToEach(run: Run): Promise<void> {
  if (!run.keys.hasFull) return
  for (const [operation, absence] of Object.entries(run.target.absent)) {
    if (absence !== 'not-served' || !isOperationId(operation)) continue
    const probe = await placeholderRequest(run, operation)
    const { response } = await sendWithRetries(run, probe, { requirement: null, role: 'probe', skipPassive: true })
    responsesOf(run).push({ operation, answered: response ? String(response.status) : 'no answer' })
  }
}

export const notServedHook: RunHook = { start: sendToEach, notServed: responsesOf }
