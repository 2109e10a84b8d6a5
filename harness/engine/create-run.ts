import { createRecorder } from '../recording/index.ts'
import { type FetchHandler, readOnlyTarget, redactorFor, type Target } from '../target/index.ts'
import {
  createHandlerTransport,
  createTransport,
  handlerOf,
  proxyFor,
  type Transport,
} from '../http/index.ts'
import type { Exchange } from './exchange.ts'
import { createKeys } from './keys.ts'
import { createLiveness } from './liveness.ts'
import { createLog } from './log.ts'
import { createCircuitBreaker, createLosses } from './losses.ts'
import { allEnded, createLifetime } from './outcome.ts'
import type { Findings, Interface, Objects, Plan, Run, RunHook, RunOptions } from './run.ts'
import { createPacer, createSemaphore, createThrottle, longestPauseMs, type Wall } from './pace.ts'
import { createSigns } from './signs.ts'

/** Parts of a run besides target and options. */
export interface RunParts {
  readonly api: Interface
  readonly plan: Plan
  readonly hooks: readonly RunHook[]
  /** How requests are sent; default: sockets. */
  readonly transport?: Transport
  readonly handler?: FetchHandler
}

/** Creates a run; nothing is sent yet. */
export function createRun(given: Target, options: RunOptions, parts: RunParts): Run {
  const { api, plan, hooks, handler } = parts
  const target = options.readOnly ? readOnlyTarget(given) : given
  const redactor = redactorFor(target)
  const { limits, baseUrl, tls } = target
  const { insecure, nonce } = options
  const bodyLimit = limits.maxAnswerBytes
  const injected = handler
    ? createHandlerTransport({ handle: handlerOf(handler), baseUrl, bodyLimit })
    : parts.transport
  const to = (url: string, connections: number): Transport =>
    createTransport({ baseUrl: url, connections, insecure, tls, bodyLimit })
  const life = createLifetime()
  const recorder = createRecorder(options.exchangeLog, redactor)
  const findings = newFindings(target)
  const throttle = createThrottle({
    baseMs: options.backoffMs,
    onTimeout: (wall) => void endWaiting(run, wall),
  })
  const { log, signs } = findings
  const unanswered = (exchange: Exchange): void => {
    if (!exchange.response) for (const hook of hooks) hook.unanswered?.(run, exchange)
  }
  const observed = (exchange: Exchange): void => {
    for (const hook of hooks) hook.observe?.(run, exchange)
  }
  const run: Run = {
    options,
    target,
    plan,
    keys: createKeys(target, redactor, life),
    client: {
      transport: injected ?? to(baseUrl, limits.concurrency + 1),
      elsewhere: waysElsewhere(baseUrl, injected, (url) => to(url, limits.concurrency)),
      proxy: injected ? undefined : proxyFor(baseUrl),
      semaphore: createSemaphore(limits.concurrency),
      pacer: createPacer(limits.requestsPerSecond),
      throttle,
      breaker: createCircuitBreaker(),
      losses: createLosses(),
      liveness: createLiveness(() => run),
      recorder,
      watchers: [throttle.see, log.see, unanswered],
      observers: [observed, signs.observe, log.observe],
    },
    life,
    objects: newObjects(target, nonce),
    findings,
    hooks,
    api,
  }
  return run
}

function newFindings({ baseUrl }: Target): Findings {
  return {
    log: createLog(),
    signs: createSigns(baseUrl),
    wrongKeys: 0,
    looks: new Map(),
    failures: 0,
    shown: new WeakMap(),
    poisoned: new Map(),
    poisonedResponses: new WeakSet(),
    gatewayErrors: new WeakSet(),
    wrongAnywhere: new Set(),
  }
}

function waysElsewhere(
  baseUrl: string,
  injected: Transport | undefined,
  make: (url: string) => Transport,
): Run['client']['elsewhere'] {
  const own = new Map<string, Transport>()
  const { origin, pathname } = new URL(baseUrl)
  const prefix = pathname.replace(/\/$/, '')
  const below = (path: string): string =>
    path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
  return {
    to(url) {
      if (injected && url === origin)
        return {
          send: (request, options) =>
            injected.send({ ...request, path: below(request.path) }, options),
        }
      const known = own.get(url) ?? make(url)
      own.set(url, known)
      return known
    },
    close: () => allEnded([...own.values()].map((transport) => transport.close())),
  }
}

/** Stops waiting after nothing but throttled answers: the whole run, or these operations if others are answered. */
async function endWaiting(
  { client, life }: Pick<Run, 'client' | 'life'>,
  wall: Wall,
): Promise<void> {
  const isAll = await client.liveness.isThrottling().catch(() => true)
  if (isAll) life.end('throttled', wallSentence(wall))
  else for (const operation of wall.operations) client.breaker.stop(operation)
}

/** Describes a run with nothing but throttled answers: a daily quota or an outage, which no rate avoids. */
function wallSentence({ ms, askedMs, statuses }: Wall): string {
  const given = [...statuses].toSorted().join(' or ')
  const sentence = `for ${Math.round(ms / 1000)} s the target answered only ${given}`
  if (!statuses.has(429)) return `${sentence}: it is out of service, or accepts no more requests`
  return askedMs > longestPauseMs
    ? `${sentence}, and asks to wait ${Math.round(askedMs / 1000)} s: a quota of hours or days`
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
