import type { CatalogueRequirement } from '../../catalogue/catalogue.ts'
import type { NotServed, TakesState } from '../report/index.ts'
import {
  Client,
  type Given,
  type RunOptions,
  type ClientHooks,
  createKeys,
  createLifetime,
  type Plan,
  createSigns,
} from '../client/index.ts'
import {
  type Ask,
  type Exchange,
  Journal,
  type Open,
  type Purpose,
  type Source,
  type Verdict,
} from '../journal/index.ts'
import { createRecorder } from '../recording/recorder.ts'
import { Redactor } from '../recording/redactor.ts'
import { type FetchHandler, readOnlyTarget, type Scenario, type Target } from '../target/index.ts'
import {
  createHandlerTransport,
  createTransport,
  handlerOf,
  type Transport,
} from '../http/index.ts'

export interface Prepared {
  readonly client: Client
  readonly given: Given
  readonly hooks: Hooks
  readonly judgingOf: JudgingOf
}

/** How each requirement is judged, by id. */
export type JudgingOf = (id: string) => { readonly judge: Judge } | undefined

/** Judges a requirement; open if it cannot cause a state that it needs. */
export type Judge = (context: CheckContext) => Promise<Verdict | Later>

/** It holds so far, and is judged once more at the end of the run, concurrently with others. */
export interface Later {
  readonly outcome: 'later'
  readonly cases: number
  judge(): Promise<Verdict>
}

export interface CheckContext {
  readonly client: Client
  readonly given: Given
  readonly hooks: Hooks
  readonly requirement: CatalogueRequirement
  readonly scenario: Scenario | undefined
  /** Sends a request for this requirement. Requests to a declared application wait until it is idle. */
  send(
    source: Source,
    purpose?: Partial<Purpose>,
    how?: Pick<Ask, 'fresh' | 'awaitFree' | 'isUrgent' | 'otherwise' | 'settles'>,
  ): Promise<Exchange | Open>
}

/** What the suites know of the interface besides its requirements, such as the jobs of an application; bound to a run. */
export interface Hooks extends ClientHooks {
  /** Looks at the target before anything is judged, and may end the run. */
  before(client: Client, given: Given): Promise<void>
  /** Prepares what is judged last, concurrently with everything else. */
  start(): Promise<unknown>
  /** Comes before the last requirements, unless the run was ended. */
  finish(): Promise<unknown>
  /** Remark after the expectation: why the target may still be right. */
  remarkOn(exchange: Exchange): string
  /** State that a failure of that requirement depends on; undefined if its request alone shows it. */
  takesState(id: string): TakesState | undefined
  /** Other requirements needed to reproduce a failure. */
  rerunNeeds(id: string, exchange: Exchange): readonly string[]
  /** Ids of jobs. */
  unfinished(): readonly string[]
  readonly notServed: readonly NotServed[]
}

const noHooks: Hooks = {
  before: async () => undefined,
  start: async () => undefined,
  finish: async () => undefined,
  answered: () => undefined,
  accessFor: () => undefined,
  remarkOn: () => '',
  takesState: () => undefined,
  rerunNeeds: () => [],
  unfinished: () => [],
  notServed: [],
}

/** How many generations bad input may cause; undefined without a limit. */
export function mayGenerate(given: Given, id: CatalogueRequirement['id']): number | undefined {
  const entry = given.plan.get(id)
  return entry?.run ? entry.mayGenerate : undefined
}

export function isPlanned(given: Given, id: CatalogueRequirement['id']): boolean {
  return given.plan.get(id)?.run === true
}

/** A state that is made once a run. */
export function perRun<T extends object>(make: () => T): (client: Client) => T {
  const states = new WeakMap<Client['journal'], T>()
  return (client) => {
    let state = states.get(client.journal)
    if (!state) states.set(client.journal, (state = make()))
    return state
  }
}

export interface RunParts {
  readonly plan: Plan
  readonly judgingOf: JudgingOf
  readonly transport?: Transport
  readonly handler?: FetchHandler
}

/** Creates a run without hooks; nothing is sent yet. */
export function createRun(declared: Target, options: RunOptions, parts: RunParts): Prepared {
  const { plan, handler } = parts
  const target = options.readOnly ? readOnlyTarget(declared) : declared
  const redactor = new Redactor(target)
  const { limits, baseUrl, tls } = target
  const { insecure, nonce } = options
  const bodyLimit = limits.maxAnswerBytes
  const injected = handler
    ? createHandlerTransport({ handle: handlerOf(handler), baseUrl, bodyLimit })
    : parts.transport
  const sending = { insecure, tls, bodyLimit, connections: limits.concurrency }
  const life = createLifetime()
  let made = 0
  const given: Given = {
    options,
    target,
    plan,
    keys: createKeys(target, redactor, life),
    objects: {
      created: [],
      cleanups: new Map(),
      takenIds: new Set(target.ids),
      madeAt: new Map(),
      suffix: () => `${nonce.slice(0, 4)}${(made++).toString(36).padStart(4, '0')}`.slice(0, 8),
    },
    requests: {},
    changeTo: async () => undefined,
  }
  const client = new Client(given, {
    journal: new Journal(limits),
    life,
    findings: {
      signs: createSigns(baseUrl),
      failures: 0,
      shown: new WeakMap(),
      spoilers: new Map(),
      onTraffic: new Map(),
      spoiledAnswers: new WeakSet(),
      wrongAnywhere: new Set(),
    },
    transport: injected ?? createTransport({ ...sending, baseUrl }),
    transportTo(origin) {
      const base = new URL(baseUrl)
      if (!injected || origin !== base.origin)
        return createTransport({ ...sending, baseUrl: origin })
      const prefix = base.pathname.replace(/\/$/, '')
      return {
        send(request, options) {
          const isBelow = request.path.startsWith(`${prefix}/`)
          const path = isBelow ? request.path.slice(prefix.length) : request.path
          return injected.send({ ...request, path }, options)
        },
        close: async () => undefined,
      }
    },
    recorder: createRecorder(options.exchangeLog, redactor),
  })
  client.hooks = noHooks
  return { client, given, hooks: noHooks, judgingOf: parts.judgingOf }
}
