import { createRecorder } from '../recording/index.ts'
import { type FetchHandler, readOnlyTarget, redactorFor, type Target } from '../target/index.ts'
import {
  createHandlerTransport,
  createTransport,
  handlerOf,
  proxyFor,
  type Transport,
} from '../http/index.ts'
import {
  Client,
  createKeys,
  allEnded,
  createLifetime,
  type Given,
  type Findings,
  type Objects,
  type Plan,
  type RunOptions,
  type State,
  createSigns,
} from '../client/index.ts'
import { type Hooks, noHooks, type Prepared } from './run.ts'
import { Journal } from '../journal/index.ts'

export interface RunParts {
  readonly plan: Plan
  hooksOf(client: Client, given: Given): Hooks
  readonly transport?: Transport
  readonly handler?: FetchHandler
}

/** Creates a run; nothing is sent yet. */
export function createRun(declared: Target, options: RunOptions, parts: RunParts): Prepared {
  const { plan, handler } = parts
  const target = options.readOnly ? readOnlyTarget(declared) : declared
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
  const findings = newFindings(target)
  const { signs } = findings
  const journal = new Journal(target.limits)
  const state: State = {
    options,
    target,
    plan,
    keys: createKeys(target, redactor, life),
    life,
    objects: newObjects(target, nonce),
    journal,
    findings,
    requests: {},
    others: {},
  }
  const client = new Client(state, {
    transport: injected ?? to(baseUrl, limits.concurrency + 1),
    elsewhere: waysElsewhere(baseUrl, injected, (url) => to(url, limits.concurrency)),
    proxy: injected ? undefined : proxyFor(baseUrl),
    recorder: createRecorder(options.exchangeLog, redactor),
    intercept: (probe, purpose, send) => prepared.hooks.intercept(probe, purpose, send),
    watchers: [
      (exchange) => {
        journal.appendAnswer(exchange)
        if (!exchange.response) journal.appendExchange(state.target, exchange)
      },
    ],
    observers: [
      (exchange) => {
        journal.appendExchange(state.target, exchange)
        prepared.hooks.answered(exchange)
        signs.observe(exchange)
        journal.noteOwn(exchange)
      },
    ],
  })
  const prepared: Prepared = { client, given: state, hooks: noHooks }
  prepared.hooks = parts.hooksOf(client, state)
  return prepared
}

function newFindings(target: Target): Findings {
  return {
    signs: createSigns(target.baseUrl),
    failures: 0,
    shown: new WeakMap(),
    spoiled: new Map(),
    onTraffic: new Map(),
    poisonedResponses: new WeakSet(),
    gatewayErrors: new WeakSet(),
    wrongAnywhere: new Set(),
  }
}

function waysElsewhere(
  baseUrl: string,
  injected: Transport | undefined,
  make: (url: string) => Transport,
) {
  const own = new Map<string, Transport>()
  const { origin, pathname } = new URL(baseUrl)
  const prefix = pathname.replace(/\/$/, '')
  const below = (path: string): string =>
    path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
  return {
    to(url: string): Pick<Transport, 'send'> {
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

function newObjects(target: Target, nonce: string): Objects {
  let made = 0
  return {
    created: [],
    cleanups: new Map(),
    takenIds: new Set(target.ids),
    madeAt: new Map(),
    suffix: () => `${nonce.slice(0, 4)}${(made++).toString(36).padStart(4, '0')}`.slice(0, 8),
  }
}
