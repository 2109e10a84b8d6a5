import { createLiveness, type Liveness } from './liveness.ts'
import type { HttpRequest } from '../http/message.ts'
import type { Forerunner } from './exchange.ts'
import { operationProbe } from './operation-probe.ts'
import type { Run } from './run.ts'
import { recordExchange, httpRequest } from './send-once.ts'

/** The liveness of a run: its question is `GET /v1/files`, whatever is judged. */
export function livenessOf(run: () => Run): Liveness {
  const sent = new WeakMap<HttpRequest, Forerunner>()
  return createLiveness({
    target: () => run().target,
    async request() {
      const probe = await operationProbe(run(), 'files.list', {})
      const request = httpRequest(run(), probe)
      const unobserved = run().target.absent['files.list'] !== undefined
      sent.set(request, { probe, purpose: { requirement: null, role: 'liveness', unobserved }, request })
      return request
    },
    send(request, timeoutMs) {
      const { client, life } = run()
      const mark = sent.get(request) as Forerunner
      return client.transport.send(request, { timeoutMs, signal: life.signal, fresh: true, mark })
    },
    record: (request, result) => void recordExchange(run(), sent.get(request) as Forerunner, result),
    onDead: (cause, reason) => run().life.end(cause, reason),
  })
}
