import type { Exchange, Purpose, Source } from './exchange.ts'

/** A request to send, and how. */
export interface Ask {
  /** Equal names mean equal requests: what several rules ask for is sent once. */
  readonly name?: string
  readonly source: Source
  readonly purpose: Purpose
  /** Sent once, without retries, to learn what a changed circumstance changes. */
  readonly once?: true
  /** On a new connection. */
  readonly fresh?: boolean
  /** Sent first, on a new connection that the request itself then reuses. */
  readonly after?: Ask
  readonly pauseMs?: number
  /** While nothing else is open: a target may accept few requests at once. */
  readonly alone?: boolean
  /** No need to wait for its object: the caller has locked it, or there is none. */
  readonly isHeld?: boolean
  /** Ignores the rate: later requests wait correspondingly longer, or not at all. */
  readonly pace?: 'paid-back' | 'none'
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
  readonly spoiled: Pick<ReadonlySet<string>, 'has'>
}

export type Conclusion =
  | {
      readonly judge: Exchange
      /** The previous request on the connection, which caused the wrong answer. */
      readonly blames?: Exchange
      readonly wrongAnywhere?: string
    }
  | { readonly asks: readonly [Ask] }
