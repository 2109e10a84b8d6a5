/** Requests a second of a rate as people write it, `10` or `60/min`; undefined if it is none. */
export function rateOf(text: string): number | undefined {
  const [, number = '', minute] = /^\s*(\d+(?:\.\d+)?|\.\d+)\s*(\/\s*min)?\s*$/.exec(text) ?? []
  if (number === '') return undefined
  return minute === undefined ? Number(number) : Number(number) / 60
}

/** A rate in the unit that fits, as `--rate` takes it. */
export function rateText(perMinute: number): string {
  return perMinute >= 120 ? String(Math.floor(perMinute / 60)) : `${perMinute}/min`
}

/** The slowest of these rates. */
export function slowest(rates: readonly string[]): string {
  return rates.toSorted((one, other) => (rateOf(one) ?? 0) - (rateOf(other) ?? 0))[0]!
}

/** A number of requests a second in words: `10 a second`, `60 a minute`. */
export function spokenRate(requestsPerSecond: number): string {
  const perMinute = Math.round(requestsPerSecond * 60)
  return perMinute >= 120 ? `${requestsPerSecond} a second` : `${perMinute} a minute`
}
