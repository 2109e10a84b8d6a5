import { createLiveness, type Liveness } from './liveness.ts'
import { operationProbe } from './operation-probe.ts'
import type { Run } from './run.ts'
import { recordExchange, wireRequest } from './send-once.ts'

/** The liveness of a run: its question is `GET /v1/files`, whatever is judged. */
export function livenessOf(run: () => Run): Liveness {
  const question = () => operationProbe(run(), 'files.list', {})
  return createLiveness({
    target: () => run().target,
    request: async () => wireRequest(run(), await question()),
    send(request, timeoutMs) {
      const { client, life } = run()
      return client.transport.send(request, { timeoutMs, signal: life.signal, fresh: true })
    },
    async record(request, result) {
      const unseen = run().target.absent['files.list'] !== undefined
      recordExchange(run(), await question(), { requirement: null, role: 'liveness', unseen }, request, result)
    },
    onDead: (cause, reason) => run().life.end(cause, reason),
  })
}
