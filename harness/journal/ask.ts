import type { Exchange, Purpose, Source } from '../engine/index.ts'
import type { Reason } from '../report/index.ts'

/** What is sent, made anew each time, and what for. */
export interface Request {
  /** The same name is the same request: asked for by several at the same time it is sent once. */
  readonly name: string
  readonly source: Source
  readonly purpose: Purpose
}

/** A request that a rule needs, and the circumstance that is changed. Without any it is sent with patience. */
export interface Ask {
  readonly request: Request
  /** On a connection of its own. */
  readonly fresh?: true
  /** On a connection of its own that has just carried this one. */
  readonly after?: Request
  /** So many ms later. */
  readonly pauseMs?: number
}

/** A request that was asked for, and what came of it. */
export interface Entry {
  readonly ask: Ask
  readonly exchange: Exchange
}

/** What was asked for in a run and what came of it, by the request. Whoever sends appends to it; rules read it. */
export class Journal {
  readonly #entries = new Map<string, Entry[]>()
  readonly #unsent = new Map<string, Reason>()

  of({ name }: Pick<Request, 'name'>): readonly Entry[] {
    return this.#entries.get(name) ?? []
  }

  append(entry: Entry): void {
    const { name } = entry.ask.request
    const known = this.#entries.get(name)
    if (known) known.push(entry)
    else this.#entries.set(name, [entry])
  }

  /** Why a request could not be sent; undefined if nothing kept it from that. */
  whyUnsent({ name }: Pick<Request, 'name'>): Reason | undefined {
    return this.#unsent.get(name)
  }

  /** What is judged by now need not be kept. */
  forget(name: string): void {
    this.#entries.delete(name)
  }

  leave({ name }: Request, why: Reason): void {
    this.#unsent.set(name, why)
  }
}

/** What is known of a run besides the entries of one request. */
export interface Known {
  readonly settleMs: number
  /** When the run made the objects of these ids (`performance.now()`). */
  readonly madeAt: ReadonlyMap<string, number>
  /** Kinds of answers that are as wrong on a fresh connection. */
  readonly wrongAnywhere: ReadonlySet<string>
}

/** What the entries of a request come to: the exchange that is to be judged, more requests that would tell, or nothing. */
export type Answer =
  | {
      readonly judge: Exchange
      /** A wrong answer for which the request before it on its connection is to blame. */
      readonly blames?: Exchange
      /** Is added to `wrongAnywhere`. */
      readonly wrongAnywhere?: string
    }
  | { readonly asks: readonly [Ask] }
