import type { Probe } from './exchange.ts'

/** Below so many ms the answers between two throttled ones say nothing of a minute. */
const leastSpanMs = 10_000
/** A target that asks to wait for so many ms counts in windows: what it grants in a second of these says nothing of the others. */
const windowMs = 1500

/** Share of the requests of a second that a limit refuses at least, if it is one of requests. */
const nowAndThen = 0.1

/** Which key a request shows: a limit may count those with the full key alone, those with any, or all. */
export type Shown = 'full' | 'other' | 'none'

/** What a limit may count a request as. */
export interface Kind {
  /** Empty for what is no operation of the interface. */
  readonly operation: string
  readonly shown: Shown
}

export function kindOfRequest({ operation, credential: { full, value } }: Probe): Kind {
  return {
    operation: operation ?? '',
    shown: full ? 'full' : value === undefined ? 'none' : 'other',
  }
}

type Counts = Record<Shown, number>

/** Watches how many requests a target grants while it limits them. */
export function createGrantRate() {
  const seconds = new Map<number, { responses: Counts; limited: number }>()
  /** What was limited at least once: of other keys nobody knows whether they count; of others, none is limited by a rate of all. */
  const limitedKeys = new Set<Shown>()
  const limitedOperations = new Set<string>()
  const begun = performance.now()
  let first: number | undefined
  let last = 0
  /** When the last throttled answer allows the next request. */
  let until = 0
  /** By what no load gives: 429, or with a wait that is asked for. */
  let isLimit = false
  let asksForWindows = false
  /** Answers from the beginning; and by operation since the first throttled one, and between that and the last. */
  const all = none()
  const since = new Map<string, Counts>()
  let between = new Map<string, Counts>()
  const now = () => {
    const second = Math.floor(performance.now() / 1000)
    const known = seconds.get(second) ?? { responses: none(), limited: 0 }
    seconds.set(second, known)
    return known
  }
  const counted = (responses: Counts): number =>
    [...limitedKeys].reduce((sum, shown) => sum + responses[shown], 0)
  const countedOf = (operations: Iterable<string>): number =>
    [...operations].reduce((sum, one) => sum + counted(between.get(one) ?? none()), 0)
  const limitedSeconds = () => [...seconds.values()].filter(({ limited }) => limited > 0)
  /** Whether few requests are refused at any time by 503: by load, and by no rate. */
  const isNowAndThen = (): boolean => {
    const all = limitedSeconds()
    const refused = all.reduce((sum, { limited }) => sum + limited, 0)
    const granted = all.reduce((sum, { responses }) => sum + counted(responses), 0)
    return !isLimit && refused < nowAndThen * (refused + granted)
  }
  /** Whether more than a few operations were limited, and granted again. */
  const isOfAll = (): boolean =>
    countedOf(limitedOperations) > 0 && limitedOperations.size * 2 >= since.size
  return {
    /** @param sentAt what was under way when the first was throttled says nothing of a limit */
    answered({ operation, shown }: Kind, sentAt: number): void {
      now().responses[shown]++
      all[shown]++
      if (first === undefined || sentAt <= first) return
      const known = since.get(operation) ?? none()
      known[shown]++
      since.set(operation, known)
    },
    /** @param askedMs the time for which the answer asks to wait; 0: none */
    limited({ operation, shown }: Kind, askedMs: number, status: number): void {
      now().limited++
      limitedKeys.add(shown)
      limitedOperations.add(operation)
      last = performance.now()
      until = last + askedMs
      isLimit ||= askedMs > 0 || status === 429
      asksForWindows ||= askedMs > windowMs
      first ??= last
      between = new Map([...since].map(([one, counts]) => [one, { ...counts }]))
    },
    /**
     * Requests a minute that the target granted between its throttled answers; if those came within a few seconds, up to the end of
     * the wait that they asked for, else by the median of these seconds. Undefined if it limits some operations alone, refuses few at random, or granted
     * none of these between them, as beyond a quota of a day, in a lock-out or an outage.
     */
    perMinute(): number | undefined {
      if (first === undefined || !isOfAll() || isNowAndThen()) return undefined
      const spanMs = last - first
      if (spanMs >= leastSpanMs) return perMinute(countedOf(between.keys()), spanMs)
      if (asksForWindows) return perMinute(counted(all), until - begun)
      const middles = limitedSeconds()
        .map(({ responses }) => counted(responses))
        .sort((a, b) => a - b)
      return perMinute(middles[Math.floor((middles.length - 1) / 2)] ?? 0, 1000)
    },
  }
}

const none = (): Counts => ({ full: 0, other: 0, none: 0 })

/** A whole number; undefined for none. */
function perMinute(number: number, ms: number): number | undefined {
  // What is as good as whole is whole: times are no whole numbers.
  return Math.floor((number * 60_000) / ms + 1e-6) || undefined
}
