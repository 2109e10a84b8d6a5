import type { Exchange, Purpose, Source } from './exchange.ts'
import type { Reason } from '../report/index.ts'

export interface Request {
  /** Equal names mean equal requests: simultaneous asks are sent once. */
  readonly name: string
  readonly source: Source
  readonly purpose: Purpose
}

export interface Ask {
  readonly request: Request
  readonly fresh?: true
  readonly after?: Request
  readonly pauseMs?: number
}

export interface Entry {
  readonly ask: Ask
  readonly exchange: Exchange
}

/** Asks of a run and their results, by request. Senders append; rules read. */
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

  whyUnsent({ name }: Pick<Request, 'name'>): Reason | undefined {
    return this.#unsent.get(name)
  }

  /** Drops what only this requirement has asked for: its requests are named after it, those of several by their content. */
  forget(requirement: string): void {
    for (const name of this.#entries.keys())
      if (name.startsWith(`${requirement} `)) this.#entries.delete(name)
  }

  leave({ name }: Request, why: Reason): void {
    this.#unsent.set(name, why)
  }
}

export interface Known {
  readonly settleMs: number
  /** When the run made the objects of these ids (`performance.now()`). */
  readonly madeAt: ReadonlyMap<string, number>
  /** Kinds of answers that are equally wrong on a fresh connection. */
  readonly wrongAnywhere: ReadonlySet<string>
  readonly spoilers: ReadonlySet<string>
}

export type Conclusion =
  | {
      readonly judge: Exchange
      /** The previous request on the connection, which caused the wrong answer. */
      readonly blames?: Exchange
      readonly wrongAnywhere?: string
    }
  | { readonly asks: readonly [Ask] }
