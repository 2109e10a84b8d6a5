import {
  firstOperation,
  type OperationId,
  operation as operationOf,
  readingOperation,
} from '../../catalogue/operations.ts'
import { hasStatusOf } from './answer.ts'
import { describeAnswer } from './describe.ts'
import type { Exchange } from './exchange.ts'
import { operationProbe } from './operation-probe.ts'
import { perRun, type Run } from './run.ts'
import { sendOnce } from './send.ts'

/** An operation that answers the full key with 401 so often in a row has not done so by chance. */
const questions = 3

/** What was learned after a 401 of an operation: asked for once. */
const looked = perRun(() => new Map<OperationId, Promise<void>>())

/**
 * After a 401 to a key that nobody expects: if another operation, which has accepted the full key before, answers it with
 * 401 too, the key is refused by now. That ends the run: nothing more can be learned, and no requirement is to blame.
 */
export async function confirmKey(run: Run, { answer, probe, purpose }: Exchange): Promise<void> {
  const { operation, credential } = probe
  if (answer?.status !== 401 || credential.value === undefined || operation === null) return
  if (hasStatusOf(purpose.expects, answer)) return
  const other = operation === firstOperation ? readingOperation : firstOperation
  if (!run.keys.accepting.has(other)) return
  const known = looked(run).get(operation) ?? askOther(run, other)
  looked(run).set(operation, known)
  await known
  run.life.signal.throwIfAborted()
}

async function askOther(run: Run, id: OperationId): Promise<void> {
  const { method, path, params = {} } = operationOf(id)
  const unknown = Object.fromEntries(Object.keys(params).map((name) => [name, 'unknown']))
  const purpose = { requirement: null, role: 'liveness', unobserved: true } as const
  for (let question = 1; ; question++) {
    const asked = await operationProbe(run, id, { params: unknown })
    const exchange = await sendOnce(run, asked, purpose, { fresh: true })
    if (exchange.answer?.status !== 401) return
    if (question < questions) continue
    const why = `${method} ${path} was answered ${describeAnswer(exchange)}`
    const remedy =
      'if it has expired, let keys.full be a command that gives a fresh one; if the target locks keys after wrong ones, declare "credentialProbes": "few" in limits'
    return run.life.end('key', `the full key was accepted at first, and is refused by now (${why}): ${remedy}`)
  }
}
