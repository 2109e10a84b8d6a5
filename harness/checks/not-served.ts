import { perRun, type Run, askHolding, type RunHook } from '../engine/index.ts'
import type { NotServed } from '../report/index.ts'
import { isOperationId } from '../../catalogue/operations.ts'
import { placeholderRequest } from './valid-request.ts'

const responsesOf = perRun((): NotServed[] => [])

/** Sends one request with the full key to each operation that is declared as not served: the report shows the answer, unjudged. */
async function sendToEach(run: Run): Promise<void> {
  if (!run.keys.hasFull) return
  for (const [operation, absence] of Object.entries(run.target.absent)) {
    if (absence !== 'not-served' || !isOperationId(operation)) continue
    const probe = await placeholderRequest(run, operation)
    const { response } = await askHolding(run, probe, {
      requirement: null,
      role: 'probe',
      skipPassive: true,
    })
    responsesOf(run).push({ operation, answered: response ? String(response.status) : 'no answer' })
  }
}

export const notServedHook: RunHook = { start: sendToEach, notServed: responsesOf }
