import { createRecorder } from '../recording/index.ts'
import {
  type FetchHandler,
  readOnlyTarget,
  redactorFor,
  type Target,
} from '../target-file/index.ts'
import {
  createHandlerTransport,
  createTransport,
  handlerOf,
  type Transport,
} from '../http/index.ts'
import { createPacer, createSemaphore } from './semaphore.ts'
import { createThrottle, longestPauseMs, type Wall } from './throttle.ts'
import type { Interface, RunHook, Objects, Plan, Run, RunOptions } from './run.ts'
import { absentOf } from './absent.ts'
import { hintsOf, pagesOf } from './events.ts'
import { createKeys, createKeyWatch } from './keys.ts'
import { createCircuitBreaker, createLosses } from './losses.ts'
import { createLifetime } from './outcome.ts'
import { tpeOf } from './response.ts'
import { createLiveness } from './liveness.ts'

/** Parts of a run besides the target and the options. */
export interface RunParts {
  readonly api: Interface
  readonly plan: Plan
  readonly hooks: readonly RunHook[]
  /** How requests travel below the base URL; sockets, unless somebody hands over another way. */
  readonly transport?: Transport
  /** Is judged in the same process, in place of a server. */
  readonly handler?: FetchHandler
}

/** A run that is ready to begin: nothing has been sent. */
export function createRun(given: Target, options: RunOptions, parts: RunParts): Run {
  const { api, plan, hooks, handler } = parts
  const target = options.readOnly ? readOnlyTarget(given) : given
  const redactor = redactorFor(target)
  const { limits, baseUrl, tls } = target
  const bodyLimit = limits.maxAnswerBytes
  const transport = handler
    ? createHandlerTransport({ handle: handlerOf(handler), baseUrl, bodyLimit })
    : parts.transport
  const life = createLifetime()
  const connections = limits.concurrency + 1
  const { insecure } = options
  const throttle = createThrottle({
    baseMs: options.backoffMs,
    onTimeout: (wall) => void endWaiting(run, wall),
  })
  const run: Run = {
    options,
    target,
    plan,
    keys: createKeys(target, redactor, life),
    client: {
      transport: transport ?? createTransport({ baseUrl, connections, insecure, tls, bodyLimit }),
      isInjected: transport !== undefined,
      semaphore: createSemaphore(limits.concurrency),
      pacer: createPacer(limits.requestsPerSecond),
      throttle,
      breaker: createCircuitBreaker(),
      losses: createLosses(),
      keyWatch: createKeyWatch(),
      liveness: createLiveness(() => run),
      recorder: createRecorder(options.exchangeLog, redactor),
      observers: [],
    },
    life,
    objects: newObjects(target, options.nonce),
    hooks,
    api,
  }
  const { observers } = run.client
  for (const { observe } of hooks) if (observe) observers.push((exchange) => observe(run, exchange))
  observers.push((exchange) => hintsOf(run).observe(exchange))
  observers.push((exchange) => pagesOf(run).observe(exchange))
  observers.push((exchange) => absentOf(run).observe(exchange))
  observers.push(({ probe, response }) => {
    // A server may answer unknown paths before it checks any key.
    if (response && probe.operation !== null)
      run.keys.note(probe.credential, response.status, tpeOf(response))
  })
  return run
}

/** Gives up waiting after throttled answers only: the run, or just these operations if the target answers others. */
async function endWaiting({ client, life }: Run, wall: Wall): Promise<void> {
  const isAll = await client.liveness.isThrottling().catch(() => true)
  if (isAll) life.end('throttled', wallSentence(wall))
  else for (const operation of wall.operations) client.throttle.suspect(operation)
}

/** What a run met that got nothing but throttled answers: no rate helps beyond a quota of a day, or in an outage. */
function wallSentence({ ms, askedMs, statuses }: Wall): string {
  const given = [...statuses].toSorted().join(' or ')
  const sentence = `for ${Math.round(ms / 1000)} s every answer of the target was ${given}`
  if (!statuses.has(429)) return `${sentence}: it is out of service, or takes no more requests`
  return askedMs > longestPauseMs
    ? `${sentence}, and it asks to wait ${Math.round(askedMs / 1000)} s: that is a quota of hours or days`
    : sentence
}

function newObjects({ ids }: Target, nonce: string): Objects {
  let made = 0
  return {
    created: [],
    cleanups: new Map(),
    takenIds: new Set(ids),
    madeAt: new Map(),
    suffix: () => `${nonce.slice(0, 4)}${(made++).toString(36).padStart(4, '0')}`.slice(0, 8),
  }
}
