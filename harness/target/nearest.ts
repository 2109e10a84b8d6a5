/** Finds the word that a misspelt one was most likely meant to be. */
import { closest, distance } from 'fastest-levenshtein'
import { catalogue } from '../../catalogue/catalogue.ts'

/** Most candidates that a message lists if none of them is near. */
const maxListed = 20

/** The candidate that was most likely meant: one that the word begins or ends, or one with a slip; undefined if none is near. */
export function nearest(written: string, candidates: readonly string[]): string | undefined {
  const word = written.toLowerCase()
  if (word === '' || candidates.length === 0) return undefined
  const part = (fits: (candidate: string) => boolean): string | undefined =>
    word.length > 2 ? candidates.find((candidate) => fits(candidate.toLowerCase())) : undefined
  const near = closest(written, candidates)
  const most = Math.min(written.length - 1, Math.max(2, Math.floor(written.length / 3)))
  return (
    part((candidate) => candidate.startsWith(word)) ??
    part((candidate) => candidate.endsWith(word)) ??
    (distance(written, near) <= most ? near : undefined)
  )
}

/** `; did you mean x?` if a candidate is near, else what there is, if that is not much. */
export function didYouMean(written: string, candidates: readonly string[], prefix = ''): string {
  const near = nearest(written, candidates)
  if (near !== undefined) return `; did you mean ${prefix}${near}?`
  return candidates.length === 0 || candidates.length > maxListed
    ? ''
    : `; known: ${candidates.join(', ')}`
}

export const requirementIds: readonly string[] = catalogue.map(({ id }) => id)

const patterns = [...new Set(catalogue.map(({ operation }) => `${operation}/*`))]

/** `; did you mean jobs.create/*?`, if an id or all of an operation is near, and where all of them are shown. */
export function idMeant(written: string): string {
  const near = nearest(written.replaceAll('*', ''), [...patterns, ...requirementIds])
  return near === undefined
    ? '; conform list shows all'
    : `; did you mean ${near}? (conform list shows all)`
}
