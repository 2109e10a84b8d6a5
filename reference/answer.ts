/** What the server is about to send, before it is turned into bytes. */
export interface Answer {
  readonly status: number
  /** The JSON body; absent: an empty body. */
  readonly body?: unknown
  /** A body that is not JSON. */
  readonly text?: { readonly type: string; readonly value: string }
  readonly headers?: Readonly<Record<string, string>>
  /** No answer at all: the connection is closed in its place. */
  readonly dropped?: true
  /** Set on errors, whose body is an envelope (§2.6). */
  readonly error?: true
}

/** Ends an operation early with an answer: a refusal, or what stands in its place when a switch breaks it. */
export class Ending extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super('the answer is known')
    this.answer = answer
  }
}
