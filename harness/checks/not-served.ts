import { isOperationId } from '../../catalogue/operations.ts'
import { sendPatiently } from '../engine/send.ts'
import { perRun } from '../engine/per-run.ts'
import type { Run, RunHook } from '../engine/run.ts'
import type { NotServed } from '../report/model.ts'
import { placeholderRequest } from './placeholder.ts'

const answersOf = perRun((): NotServed[] => [])

/** Sends one request with the full key to each operation that is declared as not served: the report shows the answer, unjudged. */
async function sendToEach(run: Run): Promise<void> {
  if (!run.keys.hasFull) return
  for (const [operation, absence] of Object.entries(run.target.absent)) {
    if (absence !== 'not-served' || !isOperationId(operation)) continue
    const probe = await placeholderRequest(run, operation)
    const { answer } = await sendPatiently(run, probe, { requirement: null, role: 'probe', unobserved: true })
    answersOf(run).push({ operation, answered: answer ? String(answer.status) : 'no answer' })
  }
}

export const notServedHook: RunHook = { gather: sendToEach, notServed: answersOf }
