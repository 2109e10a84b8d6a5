import { type Exchange, perRun, type Run } from '../engine/index.ts'
import type { NotServed } from '../report/index.ts'

/** What the checks of a run make once and share, and what they note for each other. */
export const sharedBy = perRun(() => ({
  made: new Map<string, Promise<unknown>>(),
  /** Valid requests that broke the server, were granted with an envelope, or were refused with a fresh name each time. */
  wronglyRefused: [] as Exchange[],
  /** Faults of members that broke the server, whichever requirement sent them: they are bad input, too. */
  crashes: [] as { readonly exchange: Exchange; readonly what: string }[],
  uploads: {
    /** When each file was uploaded that requests of the run name, by id (`performance.now()`). */
    at: new Map<string, number>(),
    /** How long an upload took until it could be used, in ms. */
    lagMs: 0,
  },
  /** How much the target has generated, how much what is under way may add, and the cases that wait for the end of the run. */
  generated: { count: 0, underWay: 0, waiting: 0 },
  /** Requests in a row that got no answer, by the place that they went to. */
  unansweredAt: new Map<string, number>(),
  /** Answers of operations that are declared not served. */
  notServed: [] as NotServed[],
  /** Why scenarios that need the target to themselves cannot go on. */
  notGrantedAgain: undefined as string | undefined,
}))

/** Makes a thing once a run, whoever asks first. */
export function once<T>(run: Run, name: string, make: () => Promise<T>): Promise<T> {
  const { made } = sharedBy(run)
  const known = made.get(name)
  if (known) return known as Promise<T>
  const promise = make()
  promise.catch(() => undefined)
  made.set(name, promise)
  return promise
}
