import type { OperationId } from '../../catalogue/operations.ts'
import { describeResponse } from './describe.ts'
import type { Exchange } from './exchange.ts'
import { forLiveness, livenessProbe } from './request.ts'
import { hasStatusOf } from './response.ts'
import { perRun, type Run } from './run.ts'
import { sendOnce } from './send.ts'

/** An operation that answers the full key with 401 so often in a row has not done so by chance. */
const questions = 3

/** Looks at the key after a 401 of an operation, each taken once. */
const looked = perRun(() => new Map<OperationId, Promise<void>>())

/**
 * After a 401 to a key that nobody expects: if another operation, which has accepted the full key before, answers it with
 * 401 too, the key is refused by now. That ends the run: nothing more can be learned, and no requirement is to blame.
 */
export async function confirmKey(run: Run, { response, probe, purpose }: Exchange): Promise<void> {
  const { operation, credential } = probe
  if (response?.status !== 401 || credential.value === undefined || operation === null) return
  const about = run.api.requirement(purpose.about ?? '')?.expects
  if (
    hasStatusOf(purpose.expects, response) ||
    hasStatusOf(Array.isArray(about) ? about : undefined, response)
  )
    return
  const other = operation === run.api.first ? run.api.reading : run.api.first
  if (!run.keys.accepting.has(other)) return
  const known = looked(run).get(operation) ?? askOther(run, other)
  looked(run).set(operation, known)
  await known
  run.life.signal.throwIfAborted()
}

async function askOther(run: Run, id: OperationId): Promise<void> {
  const { method, path } = run.api.operation(id)
  for (let question = 1; ; question++) {
    const exchange = await sendOnce(run, await livenessProbe(run, id), forLiveness, { fresh: true })
    if (exchange.response?.status !== 401) return
    if (question < questions) continue
    const why = `${method} ${path} was answered ${describeResponse(exchange)}`
    const remedy =
      'if it has expired, let keys.full be a command that gives a fresh one; if the target locks keys after wrong ones, declare "credentialProbes": "few" in limits'
    return run.life.end(
      'key',
      `the full key was accepted at first, and is refused by now (${why}): ${remedy}`,
    )
  }
}
