import type { OperationId } from '../../catalogue/operations.ts'
import { closeErrandTransports, sendErrand } from './errand.ts'
import type { Errand } from '../target/model.ts'
import type { Run } from './run.ts'

/** Deadline of a clean-up request, in ms; a shorter one, and a bound on all of them, when the run was ended. */
const cleanupMs = 15_000
const cleanupAfterEndMs = 300
const allCleanupAfterEndMs = 600
/** Clean-up requests under way at once. */
const cleanupConcurrency = 8

/** Ends a run: what it created is cleaned up, the sockets are closed. */
export async function finishRun(run: Run): Promise<void> {
  run.client.liveness.stop()
  run.client.throttle.release()
  if (run.life.ended?.cause !== 'unreachable') await cleanUp(run)
  await Promise.all([run.client.transport.close(), closeErrandTransports(run)])
  run.client.recorder.close()
}

/** The request with the object's id filled in. */
function filled(errand: Errand, id: string): Errand {
  const body =
    errand.body === undefined
      ? {}
      : { body: JSON.parse(JSON.stringify(errand.body).replaceAll('{id}', JSON.stringify(id).slice(1, -1))) as unknown }
  return { ...errand, url: errand.url.replaceAll('{id}', encodeURIComponent(id)), ...body }
}

async function cleanUp(run: Run): Promise<void> {
  const errands = run.objects.created.flatMap(({ operation, id }) => {
    const binding = run.target.operations[operation as OperationId]
    return (binding?.cleanup ?? []).map((errand) => filled(errand, id))
  })
  const deadline = performance.now() + (run.life.ended ? allCleanupAfterEndMs : Infinity)
  const worker = async (): Promise<void> => {
    for (let next = errands.shift(); next && performance.now() < deadline; next = errands.shift()) {
      const timeoutMs = run.life.ended ? cleanupAfterEndMs : cleanupMs
      await sendErrand(run, next, { role: 'cleanup', requirement: null, timeoutMs })
    }
  }
  await Promise.all(Array.from({ length: Math.min(cleanupConcurrency, run.client.ceiling.size) }, worker))
}
