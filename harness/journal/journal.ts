import { isDeepStrictEqual } from 'node:util'
import type { CatalogueResult, TakesState } from '../report/index.ts'
import type { Limits } from '../target/index.ts'
import { type HistoryEvent, idKey } from './event.ts'
import {
  type Credential,
  type Exchange,
  type Left,
  type Open,
  open,
  type Purpose,
  type Source,
} from './exchange.ts'
import { haveStatus, type Pairs } from '../../catalogue/answers.ts'

export interface Answer {
  /** Null: outside the interface. */
  readonly operation: string | null
  readonly credential: Credential
  readonly shown: 'full' | 'other' | 'none'
  readonly requirement: string | null
  readonly status: number
  readonly tpe: string | undefined
  readonly isAsked: boolean
  readonly sentAt: number
  readonly endedAt: number
  /** The target's own: not a gateway's, and not to a liveness question. */
  isOwn: boolean
}

export type HistoryLimits = Pick<Limits, 'settleMs' | 'jobTimeoutMs'>

/** The events about objects in a run, recording or test, in order. Senders only append; rules only read. */
export interface History {
  readonly events: readonly HistoryEvent[]
  readonly changes: number
  readonly limits: HistoryLimits
  /** True for recorded traffic, in which requests may be missing that changed the objects. */
  readonly isRecorded: boolean
  /** Times (ms) of undocumented requests that may have changed or removed objects. */
  readonly othersAt: readonly number[]
  of(id: string): readonly HistoryEvent[]
  within(id: string): readonly HistoryEvent[]
  follow(tell: (event: HistoryEvent) => void): void
}

function placesOf(event: HistoryEvent): string[] {
  const places: string[] = []
  // Bad input may have an empty id, which names nothing.
  if (event.object) places.push(`of ${idKey(event.object)}`)
  if (event.within) places.push(`within ${idKey(event.within)}`)
  return places
}

const saysTheSame = (one: HistoryEvent | undefined, other: HistoryEvent): boolean =>
  one !== undefined &&
  one.operation === other.operation &&
  one.status === other.status &&
  one.key === other.key &&
  one.fault === other.fault &&
  isDeepStrictEqual(placesOf(one), placesOf(other)) &&
  isDeepStrictEqual(one.body, other.body)

/**
 * What was sent and what came. Rules only read. A recording may be endless: of consecutive equal readings, uses or
 * refusals it keeps the first two and the last.
 */
export class Journal implements History {
  readonly limits: HistoryLimits
  readonly isRecorded: boolean
  readonly events: HistoryEvent[] = []
  readonly othersAt: number[] = []
  /** What is kept of each answer. */
  readonly answers: Answer[] = []
  /** Why asks of these names were not sent. */
  readonly unsent = new Map<string | undefined, Open['why']>()
  /** Whether the valid request of each requirement was accepted, by id. */
  readonly controls = new Map<string, CatalogueResult['control']>()
  changes = 0
  /** Requests that are not shared are named by their number. */
  calls = 0
  readonly #byPlace = new Map<string, HistoryEvent[]>()
  readonly #followers: ((event: HistoryEvent) => void)[] = []
  readonly #entries = new Map<string, Entry[]>()
  /** The names of what each requirement alone has asked for. */
  readonly #names = new Map<string, string[]>()

  constructor(limits: HistoryLimits, isRecorded = false) {
    this.limits = limits
    this.isRecorded = isRecorded
  }

  of(id: string): readonly HistoryEvent[] {
    return this.#byPlace.get(`of ${idKey(id)}`) ?? []
  }

  within(id: string): readonly HistoryEvent[] {
    return this.#byPlace.get(`within ${idKey(id)}`) ?? []
  }

  follow(tell: (event: HistoryEvent) => void): void {
    this.events.forEach(tell)
    this.#followers.push(tell)
  }

  append(event: HistoryEvent | undefined): void {
    if (!event) return
    this.changes++
    const places = placesOf(event)
    // Creations without an object are compared by their request.
    if (this.isRecorded && places.length === 0)
      places.push(`asked ${event.operation} ${event.name} ${event.content}`)
    if (this.isRecorded && !(event.kind === 'creation' && event.isGranted)) {
      const last = this.#byPlace.get(places[0]!)?.slice(-3) ?? []
      if (last.length === 3 && last.every((one) => saysTheSame(one, event)))
        // In its place, as views hold it already.
        return void Object.assign(last[2]!, event)
    }
    this.events.push(event)
    for (const place of places) {
      const known = this.#byPlace.get(place)
      if (known) known.push(event)
      else this.#byPlace.set(place, [event])
    }
    for (const tell of this.#followers) tell(event)
  }

  appendAnswer({ probe, purpose, response, sentAt, endedAt }: Exchange): void {
    if (!response) return
    const { operation, credential } = probe
    const { status } = response
    this.answers.push({
      operation,
      credential,
      shown: credential.full ? 'full' : credential.value === undefined ? 'none' : 'other',
      requirement: purpose.requirement,
      status,
      tpe: response.tpe,
      isAsked: haveStatus(purpose.expects, status),
      sentAt,
      endedAt,
      isOwn: false,
    })
  }

  /** What was sent for an ask, and came. */
  entriesOf(ask: Pick<Ask, 'name'>): readonly Entry[] {
    return this.#entries.get(ask.name ?? '') ?? []
  }

  appendEntry(entry: Entry): void {
    const { name = '', purpose } = entry.ask
    const known = this.#entries.get(name)
    if (known) return void known.push(entry)
    this.#entries.set(name, [entry])
    const { requirement } = purpose
    if (requirement === null || !name.startsWith(requirement)) return
    const names = this.#names.get(requirement) ?? []
    this.#names.set(requirement, names)
    names.push(name)
  }

  /** Drops the answers to an ask that is not shared. */
  drop({ name = '' }: Ask): void {
    this.#entries.delete(name)
  }

  /** Drops what only this requirement has asked for: its asks are named after it, those of several by their content. */
  forget(requirement: string): void {
    for (const name of this.#names.get(requirement) ?? []) this.#entries.delete(name)
    this.#names.delete(requirement)
  }
}

export function derived<T>(make: (history: History) => T): (history: History) => T {
  const known = new WeakMap<History, { readonly changes: number; readonly value: T }>()
  return (history) => {
    const { changes } = history
    let last = known.get(history)
    if (last?.changes !== changes) known.set(history, (last = { changes, value: make(history) }))
    return last.value
  }
}

/**
 * Waits until the object of a request is free, which refused it these times: undefined once it can be sent, else what to
 * judge in its place.
 */
export type AwaitFree = (refusals: readonly Exchange[]) => Promise<Exchange | Left>

/** How to get at an object that takes one request at a time. */
export interface Access {
  /** For all attempts: another request would occupy the object in between. Returns a function to leave. */
  enter?(): Promise<() => void>
  readonly awaitFree: AwaitFree
}

/** A request to send, and how. */
export interface Ask {
  /** Equal names mean equal requests: what several rules ask for is sent once. */
  readonly name?: string
  readonly source: Source
  /** Sent in its place if it is refused for its content. */
  readonly otherwise?: Source
  readonly purpose: Purpose
  /** Sent once, without retries, to learn what a changed circumstance changes. */
  readonly once?: true
  /** On a new connection. */
  readonly fresh?: boolean
  /** Sent first, on a new connection that the request itself then reuses. */
  readonly after?: Ask
  readonly pauseMs?: number
  /** What was made at that time may not show at once: it is asked for again later, until an answer is good. */
  readonly settles?: { readonly since: number; isGood(exchange: Exchange): boolean }
  /** While nothing else is open: a target may accept few requests at once. */
  readonly alone?: boolean
  /** How many throttled answers came to it before: each doubles the pause. */
  readonly attempt?: number
  /** How the caller waits for its object; by default, as the hooks of the run say. */
  readonly awaitFree?: AwaitFree
  /** Goes before waiting requests: what is made after it must be old enough at the end. */
  readonly isUrgent?: boolean
  /** Ignores the rate: later requests wait correspondingly longer. */
  readonly isPaidBack?: boolean
}

export interface Entry {
  readonly ask: Ask
  readonly exchange: Exchange
}

export interface Known {
  readonly settleMs: number
  /** When the run made the objects of these ids (`performance.now()`). */
  readonly madeAt: ReadonlyMap<string, number>
  /** Kinds of answers that are equally wrong on a fresh connection. */
  readonly wrongAnywhere: ReadonlySet<string>
  /** What requests that spoiled their connections were sent for. */
  readonly spoilers: Pick<ReadonlySet<string>, 'has'>
}

export type Conclusion =
  | {
      readonly answer: Exchange
      /** The previous request on the connection, which caused the wrong answer. */
      readonly blames?: Exchange
      readonly wrongAnywhere?: string
    }
  | { readonly asks: readonly [Ask] }

export interface Evidence {
  readonly exchange: Exchange
  /** Continues the request line: `with a valid body`. */
  readonly what?: string
  readonly expected: string | Pairs
  readonly actual?: string | undefined
  readonly against?: Exchange | undefined
  /** The request that created the wrong state: a curl line sends it first. */
  readonly before?: Exchange | undefined
  /** What the failure depends on, if different from others of the requirement; null: on its request alone. */
  readonly takes?: TakesState | null | undefined
  /** The requirement whose requests created the wrong state, needed to reproduce the failure. */
  readonly shownBy?: string | null | undefined
  readonly path?: string | null
}

/** A rule's conclusion. */
export type Verdict =
  | { readonly outcome: 'held'; readonly cases: number }
  | {
      readonly outcome: 'broken'
      readonly cases: number
      /** The first one is reported; each further one strengthens it. */
      readonly evidence: readonly [Evidence, ...Evidence[]]
    }
  | Open
  | ((Asks | AsksAtEnd) & { readonly cases: number })

/** These requests would tell. */
export interface Asks {
  readonly outcome: 'asks'
  readonly asks: readonly Ask[]
  readonly atEnd?: undefined
}

/** They would, when everything else was sent. */
type AsksAtEnd = Omit<Asks, 'atEnd'> & { readonly atEnd: true }

/** Judges one requirement: pure, the same for a live run, a recording and a test. */
export type Rule = (history: History) => Verdict

export function verdictOf(evidence: readonly Evidence[], cases: number, why: string): Verdict {
  const [first, ...more] = evidence
  if (first) return { outcome: 'broken', cases, evidence: [first, ...more] }
  return cases > 0 ? { outcome: 'held', cases } : open(why)
}

/** Observations needed for a fault that another client or a replica could explain. */
export const timesAlike = 3

/** What one thing shows: a fault, that the rule holds, or why it proves nothing. */
export type Shown = Evidence | 'held' | { readonly why: string } | undefined

/**
 * What several things show together. All that is wrong is evidence: some may be due to a spoiled connection.
 * @param why if none of them says more
 */
export function judged(shown: readonly Shown[], why: string): Verdict {
  const held = shown.filter((one) => one === 'held').length
  const others = shown.filter((one) => typeof one === 'object')
  const evidence = others.filter((one) => 'exchange' in one)
  return verdictOf(evidence, held + evidence.length, others.find((one) => 'why' in one)?.why ?? why)
}

/** A rule about each of several things. */
export const eachOf =
  <T>(
    itemsOf: (history: History) => readonly T[],
    show: (item: T, history: History) => Shown,
    why: string,
  ): Rule =>
  (history) =>
    judged(
      itemsOf(history).map((item) => show(item, history)),
      why,
    )
