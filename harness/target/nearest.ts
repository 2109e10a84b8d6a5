import { closest } from 'fastest-levenshtein'

/** `; did you mean x?`, x being the candidate nearest to what was written; empty where there is none. */
export function didYouMean(written: string, candidates: readonly string[], prefix = ''): string {
  return candidates.length === 0 ? '' : `; did you mean ${prefix}${closest(written, [...candidates])}?`
}
