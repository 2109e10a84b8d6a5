/** Finds the word that a misspelt one was most likely meant to be. */
import { closest, distance } from 'fastest-levenshtein'
import { catalogue } from '../../catalogue/catalogue.ts'
import { conditionOf } from '../../catalogue/requirement.ts'
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
  return candidates.length === 0 || candidates.length > maxListed ? '' : `; known: ${candidates.join(', ')}`
}

export const requirementIds: readonly string[] = catalogue.map(({ id }) => id)
const areas: readonly string[] = [...new Set(requirementIds.map((id) => id.slice(0, id.indexOf('/'))))]
const groups = areas.map((area) => area.slice(0, area.indexOf('.'))).filter((group) => group !== '')

/** `; did you mean jobs.create/*?`, if something is near, and where all of them are shown. */
export function idMeant(written: string): string {
  const near = nearestId(written)
  return near === undefined ? '; conform list shows all' : `; did you mean ${near}? (conform list shows all)`
}

/** The id or pattern that a misspelt one was most likely meant to be: first the nearest operation, then the nearest of its requirements. */
export function nearestId(written: string): string | undefined {
  const slash = written.indexOf('/')
  if (slash < 0) return ofOneWord(written)
  const before = written.slice(0, slash)
  const matched = areas.filter((area) => matchesId(area, before))
  const area = matched[0] ?? near(before, areas)
  if (area === undefined) return undefined
  const candidates = requirementIds.filter((id) =>
    matched.length > 0 ? matchesId(id, `${before}/*`) : id.startsWith(`${area}/`),
  )
  const condition = written.slice(slash + 1)
  const beginning = condition.split('*')[0]!
  if (condition.includes('*')) {
    const fits = beginning !== '' && candidates.some((id) => id.startsWith(`${area}/${beginning}`))
    return `${area}/${fits ? beginning : ''}*`
  }
  return candidates.find((id) => id.includes(`/${condition}`)) ?? nearestCandidate(condition, candidates) ?? `${area}/*`
}

/** An operation, the beginning of several, a condition, a word of some ids, or an operation with a slip. */
function ofOneWord(written: string): string | undefined {
  const word = written.replaceAll('*', '')
  if (areas.includes(word)) return `${word}/*`
  const group = groups.find((one) => distance(one, word) < 2)
  if (group !== undefined) return `${group}.*`
  const match = requirementIds.find((id) => id.endsWith(`/${word}`))
  if (match !== undefined) return match
  if (word.length > 2 && requirementIds.some((id) => id.includes(word))) return `*${word}*`
  const area = near(word, areas)
  return area === undefined ? undefined : `${area}/*`
}

function nearestCandidate(condition: string, candidates: readonly string[]): string | undefined {
  const nearestCondition = near(condition, candidates.map(conditionOf))
  return candidates.find((id) => conditionOf(id) === nearestCondition)
}

/** The nearest one, unless more than half of the word would have to change: of an id each part is looked at by itself. */
function near(word: string, candidates: readonly string[]): string | undefined {
  if (word === '') return undefined
  const found = closest(word, [...candidates])
  return distance(word, found) <= word.length / 2 ? found : undefined
}
