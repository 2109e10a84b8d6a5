import type { OperationId } from '../../catalogue/operations.ts'
import { closeHookTransports, sendHookRequest } from './hook-request.ts'
import type { HookRequest } from '../target/model.ts'
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
  await Promise.all([run.client.transport.close(), closeHookTransports(run)])
  run.client.recorder.close()
}

/** The request with the object's id filled in. */
function filled(request: HookRequest, id: string): HookRequest {
  const body =
    request.body === undefined
      ? {}
      : {
          body: JSON.parse(JSON.stringify(request.body).replaceAll('{id}', JSON.stringify(id).slice(1, -1))) as unknown,
        }
  return { ...request, url: request.url.replaceAll('{id}', encodeURIComponent(id)), ...body }
}

async function cleanUp(run: Run): Promise<void> {
  const requests = run.objects.created.flatMap(({ operation, id }) => {
    const binding = run.target.operations[operation as OperationId]
    return (binding?.cleanup ?? []).map((request) => filled(request, id))
  })
  const deadline = performance.now() + (run.life.ended ? allCleanupAfterEndMs : Infinity)
  const worker = async (): Promise<void> => {
    for (let next = requests.shift(); next && performance.now() < deadline; next = requests.shift()) {
      const timeoutMs = run.life.ended ? cleanupAfterEndMs : cleanupMs
      await sendHookRequest(run, next, { role: 'cleanup', requirement: null, timeoutMs })
    }
  }
  await Promise.all(Array.from({ length: Math.min(cleanupConcurrency, run.client.ceiling.size) }, worker))
}
