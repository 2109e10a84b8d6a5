/** Finds the word that a misspelt one was most likely meant to be. */
import { closest, distance } from 'fastest-levenshtein'
import { catalogue } from '../../catalogue/catalogue.ts'
import { matchesId } from '../report/index.ts'

/** Most candidates that a message lists if none of them is near. */
const maxListed = 20

/** The candidate that was most likely meant: the same word written otherwise, one that it begins or ends, or one with a slip; undefined if none is near. */
export function nearest(written: string, candidates: readonly string[]): string | undefined {
  const word = plain(written)
  if (word === '' || candidates.length === 0) return undefined
  const begun = candidates.find((candidate) => candidate.startsWith(written))
  const isPart = (candidate: string): boolean => word.length > 2 && plain(candidate).endsWith(word)
  const same = candidates.find((candidate) => plain(candidate) === word)
  return same ?? begun ?? candidates.find(isPart) ?? withSlip(written, candidates)
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[^a-z\d]/g, '')
}

/** The candidate that differs by two letters at most, of a longer word by a third of them. */
function withSlip(word: string, candidates: readonly string[]): string | undefined {
  const near = closest(word, candidates)
  const most = Math.min(word.length - 1, Math.max(2, Math.floor(word.length / 3)))
  return distance(word, near) <= most ? near : undefined
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

/** `; did you mean jobs.create/*?`, if something is near, and where all of them are shown. */
export function idMeant(written: string): string {
  const near = nearestId(written)
  return near === undefined
    ? '; conform list shows all'
    : `; did you mean ${near}? (conform list shows all)`
}

/** The id or pattern that a misspelt one was most likely meant to be; of an id the operation is looked at first. */
export function nearestId(written: string): string | undefined {
  const areas = [...new Set(catalogue.map(({ operation }) => operation))]
  const [before = '', ...condition] = written.split('/')
  const isArea = condition.length > 0 && !before.includes('*')
  const area = isArea ? (nearest(before, areas) ?? before) : before
  const meant = [area, ...condition].join('/')
  if (meant.includes('*') && requirementIds.some((id) => matchesId(id, meant))) return meant
  const groups = new Set(areas.flatMap((one) => /^[^.]+\./.exec(one)?.[0] ?? []))
  const whole = [...groups].map((group) => `${group}*`)
  const patterns = [...whole, ...areas.map((one) => `${one}/*`), ...requirementIds]
  const word = meant.replaceAll('*', '')
  const begun = patterns.find((pattern) => pattern.startsWith(word))
  const ended = requirementIds.find((id) => id.endsWith(`/${word}`))
  const isPart = word.length > 2 && requirementIds.some((id) => id.includes(word))
  return begun ?? ended ?? (isPart ? `*${word}*` : nearest(meant, patterns))
}
