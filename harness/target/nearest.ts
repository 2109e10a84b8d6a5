import { closest } from 'fastest-levenshtein'

/** `; did you mean x?`, x being the candidate that begins as was written, otherwise the nearest; empty if there is none. */
export function didYouMean(written: string, candidates: readonly string[], prefix = ''): string {
  if (candidates.length === 0) return ''
  const longer = written === '' ? undefined : candidates.find((candidate) => candidate.startsWith(written))
  return `; did you mean ${prefix}${longer ?? closest(written, [...candidates])}?`
}
