import { closest, distance } from 'fastest-levenshtein'
import { catalogue } from '../../catalogue/catalogue.ts'

const maxListed = 20

/** The most likely candidate: a prefix, a suffix, or one with a slip; undefined if none is near. */
export function nearest(written: string, candidates: readonly string[]): string | undefined {
  const word = written.toLowerCase()
  if (word === '' || candidates.length === 0) return undefined
  const part = candidates.find((one) => {
    const candidate = one.toLowerCase()
    return word.length > 2 && (candidate.startsWith(word) || candidate.endsWith(word))
  })
  const near = closest(written, candidates)
  const most = Math.min(written.length - 1, Math.max(2, Math.floor(written.length / 3)))
  return part ?? (distance(written, near) <= most ? near : undefined)
}

/** `; did you mean x?` if a candidate is near, else all candidates, if few. */
export function didYouMean(written: string, candidates: readonly string[], prefix = ''): string {
  const near = nearest(written, candidates)
  if (near !== undefined) return `; did you mean ${prefix}${near}?`
  return candidates.length === 0 || candidates.length > maxListed
    ? ''
    : `; known: ${candidates.join(', ')}`
}

export const requirementIds: readonly string[] = catalogue.map((one) => one.id)

const patterns = [...new Set(catalogue.map((one) => `${one.operation}/*`))]

const families = [...new Set(catalogue.map((one) => `${one.operation.split('.')[0]}.*`))]

/** `; did you mean jobs.create/*?` for a near id or pattern, else how to list all. */
export function idMeant(written: string): string {
  const near = written.endsWith('.*')
    ? nearest(written, families)
    : nearest(written.replaceAll('*', ''), [...patterns, ...requirementIds])
  return near === undefined
    ? '; conform list shows all'
    : `; did you mean ${near}? (conform list shows all)`
}
