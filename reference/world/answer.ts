/** What comes in place of an answer: silence for a while, a closed connection, bytes that are no HTTP. */
export type Loss = 'silence' | 'closed' | 'noise'

/** What the server is about to send, before it is turned into bytes. */
export interface Answer {
  readonly status: number
  /** The JSON body; absent: an empty body. */
  readonly body?: unknown
  /** A body that is not JSON. */
  readonly text?: { readonly type: string; readonly value: string }
  readonly headers?: Readonly<Record<string, string>>
  /** No answer at all, and what comes in its place. */
  readonly lost?: Loss
  /** The server loses its place on the connection: it cannot read the next request there. */
  readonly spoils?: true
  /** ms that the server thinks about it. */
  readonly afterMs?: number
  /** Set on errors, whose body is an envelope (§2.6). */
  readonly error?: true
}

/**
 * Ends an operation early with an answer: a refusal, or what stands in its place when a switch breaks it. It is thrown, but
 * is no Error: nobody reads its stack, and to write one down costs more than the refusal.
 */
export class Ending {
  readonly answer: Answer

  constructor(answer: Answer) {
    this.answer = answer
  }
}
