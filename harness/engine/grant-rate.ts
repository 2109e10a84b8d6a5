/** Below so many ms the answers between two throttled ones say nothing of a minute. */
const leastSpanMs = 10_000

/** Watches how many requests a target grants while it limits them. */
export function createGrantRate() {
  const seconds = new Map<number, { responses: number; isLimited: boolean }>()
  let first: number | undefined
  let last = 0
  /** Answers since the first throttled one, and up to the last. */
  let since = 0
  let between = 0
  const now = () => {
    const second = Math.floor(performance.now() / 1000)
    const known = seconds.get(second) ?? { responses: 0, isLimited: false }
    seconds.set(second, known)
    return known
  }
  return {
    /** @param sentAt what was under way when the first was throttled says nothing of a limit */
    answered(sentAt: number): void {
      now().responses++
      if (first !== undefined && sentAt > first) since++
    },
    limited(): void {
      now().isLimited = true
      last = performance.now()
      first ??= last
      between = since
    },
    /**
     * Requests a minute that the target granted between its throttled answers; where those came within a few seconds, by the
     * median of these. Undefined if it granted none between them, as beyond a quota of a day, in a lock-out or an outage.
     */
    perMinute(): number | undefined {
      if (first === undefined || between === 0) return undefined
      const spanMs = last - first
      if (spanMs >= leastSpanMs) return Math.floor((between * 60_000) / spanMs) || undefined
      const limited = [...seconds.values()]
        .filter(({ isLimited }) => isLimited)
        .map(({ responses }) => responses)
      const middle = limited.sort((a, b) => a - b)[Math.floor((limited.length - 1) / 2)] ?? 0
      return middle > 0 ? middle * 60 : undefined
    },
  }
}
