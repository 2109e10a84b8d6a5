import { setMaxListeners } from 'node:events'
import { createCeiling } from './ceiling.ts'
import type { Exchange } from './exchange.ts'
import { createLiveness } from './liveness.ts'
import { createSilence } from './silence.ts'
import { settle, wireRequest } from './send-once.ts'
import { createThrottle } from './throttle.ts'
import { createGates } from '../../suites/jobs/gate.ts'
import { readableJob } from '../../suites/jobs/lifecycle.ts'
import { createJobBook } from '../../suites/jobs/job-book.ts'
import { createEnvelopeWatch } from '../checks/envelope-watch.ts'
import { createRecorder } from '../recording/recorder.ts'
import { createKeys, type ReadDynamicKey } from './keys.ts'
import { operationProbe } from './operation-probe.ts'
import { createdId } from '../checks/upload.ts'
import { redactorFor } from '../target/redactor-for.ts'
import type { Target } from '../target/model.ts'
import { createPacer } from '../http/rate.ts'
import { createWire } from '../http/wire.ts'
import { type EndCause, RunEnded } from './outcome.ts'
import { planRun } from './plan.ts'
import type { Run, RunOptions } from './run.ts'

const creating: readonly string[] = ['files.upload', 'graphs.create', 'applications.create', 'jobs.create']

/** A run that is ready to begin: nothing has been sent. */
export function createRun(target: Target, options: RunOptions, readDynamic: ReadDynamicKey): Run {
  const redactor = redactorFor(target)
  const { limits, baseUrl } = target
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  const wire = createWire({
    baseUrl,
    connections: limits.concurrency + 1,
    insecure: options.insecure,
    tls: target.tls,
  })
  const memo = new Map<string, Promise<unknown>>()
  const envelope = createEnvelopeWatch()
  let ended: RunEnded | undefined
  let made = 0
  const keyUse = { sent: 0, refused: 0 }
  const run: Run = {
    options,
    target,
    redactor,
    plan: planRun(target, options),
    keys: createKeys(target, readDynamic, redactor),
    wire,
    errandWires: new Map(),
    ceiling: createCeiling(limits.concurrency),
    pacer: createPacer(limits.requestsPerSecond),
    throttle: createThrottle({
      baseMs: options.backoffMs,
      onDrought: () => run.end('throttled', 'for 30 s every answer of the target was 429 or 503'),
    }),
    silence: createSilence(),
    recorder: createRecorder(options.exchangeLog, redactor),
    gates: createGates(() => run),
    jobs: createJobBook(() => run),
    envelope,
    liveness: createLiveness({
      baseUrl,
      timeoutMs: limits.timeoutMs,
      request: async () => wireRequest(run, await operationProbe(run, 'files.list', {})),
      send: (request, timeoutMs) => wire.send(request, { timeoutMs, signal: controller.signal, fresh: true }),
      record: async (request, result) => {
        const probe = await operationProbe(run, 'files.list', {})
        settle(
          run,
          probe,
          { requirement: null, role: 'liveness', unseen: target.absent['files.list'] !== undefined },
          request,
          result,
        )
      },
      onDead: (cause, reason) => run.end(cause, reason),
    }),
    jobToRead: async () => target.resources.job ?? (await readableJob(run)),
    signal: controller.signal,
    end(cause: EndCause, reason: string) {
      if (ended) return
      ended = new RunEnded(cause, reason)
      controller.abort(ended)
    },
    get ended() {
      return ended
    },
    uploads: new Map(),
    uploadLag: { ms: 0 },
    created: [],
    takenIds: new Set(target.ids),
    keyUse,
    exclusiveStuck: undefined,
    observers: [
      (exchange) => envelope.observe(exchange),
      (exchange) => noteCreated(run, exchange),
      (exchange) => noteKey(run, exchange),
    ],
    once<T>(key: string, make: () => Promise<T>): Promise<T> {
      const known = memo.get(key)
      if (known) return known as Promise<T>
      const promise = make()
      promise.catch(() => undefined)
      memo.set(key, promise)
      return promise
    },
    suffix: () => `${options.nonce.slice(0, 4)}${(made++).toString(36).padStart(4, '0')}`.slice(0, 8),
  }
  return run
}

function noteCreated(run: Run, exchange: Exchange): void {
  const { operation, creates } = exchange.probe
  if (operation === null || !creating.includes(operation)) return
  const id = createdId(run, exchange)
  if (id === undefined) return
  run.takenIds.add(id.toLowerCase())
  run.created.push({ operation, id, ...(creates === undefined ? {} : { name: creates }) })
}

/** Whether the full key is accepted is told by all answers to it together. */
function noteKey(run: Run, { probe, answer }: Exchange): void {
  // Unknown paths may be looked at before any key.
  if (!probe.credential.full || !answer || probe.operation === null) return
  run.keyUse.sent++
  if (answer.status === 401) run.keyUse.refused++
}
