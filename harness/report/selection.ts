export interface Selection {
  readonly only: readonly string[]
  readonly skip: readonly string[]
}

/** Whether `--only` and `--skip` leave the id in: every id if `--only` is not given; `--skip` counts after `--only`. */
export function isSelected(id: string, { only, skip }: Selection): boolean {
  if (only.length > 0 && !only.some((pattern) => matchesId(id, pattern))) return false
  return !skip.some((pattern) => matchesId(id, pattern))
}

/** Longest pattern that is taken, in characters: several times the longest id. */
export const longestPattern = 256

/** Most patterns that a file may hold in one place: several times as many as there are requirements. */
export const mostPatterns = 1000

/** Why a text can be no pattern; undefined if it can. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length <= longestPattern) return undefined
  return `a pattern has at most ${longestPattern} characters, and this one has ${pattern.length}`
}

/**
 * Whether the pattern matches the whole id; `*` matches any characters, `/` included; everything else matches itself. A
 * pattern that is too long matches nothing. Patterns come from strangers too (a bundle that is verified): a star is
 * never tried again once a later one was reached, so that no pattern takes more steps than its length times the id's.
 */
export function matchesId(id: string, pattern: string): boolean {
  if (pattern.length > longestPattern) return false
  let at = 0
  let read = 0
  let star = -1
  let taken = 0
  while (at < id.length) {
    if (pattern[read] === '*') {
      star = read++
      taken = at
    } else if (pattern[read] === id[at]) {
      read++
      at++
    } else if (star >= 0) {
      read = star + 1
      at = ++taken
    } else return false
  }
  while (pattern[read] === '*') read++
  return read === pattern.length
}
