import { closest } from 'fastest-levenshtein'
import { catalogue } from '../../catalogue/catalogue.ts'
import { matchesId } from '../../harness/report/selection.ts'

const ids: readonly string[] = catalogue.map(({ id }) => id)
const areas: readonly string[] = [...new Set(ids.map((id) => id.slice(0, id.indexOf('/'))))]

/** The id or pattern that a misspelt one was most likely meant to be: first the nearest operation, then its nearest row. */
export function nearestId(written: string): string {
  const slash = written.indexOf('/')
  if (slash < 0) {
    const groups = areas.map((area) => area.slice(0, area.indexOf('.'))).filter((group) => group !== '')
    return ids.find((id) => id.endsWith(`/${written}`)) ?? `${patternOf(written, groups)}/*`
  }
  const condition = written.slice(slash + 1)
  const before = written.slice(0, slash)
  const near = areas.filter((area) => matchesId(area, before))
  const [area = ''] = near.length > 0 ? near : [closest(before, [...areas])]
  const rows = ids.filter((id) => (near.length > 0 ? matchesId(id, `${before}/*`) : id.startsWith(`${area}/`)))
  const beginning = condition.split('*')[0]!
  if (condition.includes('*')) {
    const fits = beginning !== '' && rows.some((id) => id.startsWith(`${area}/${beginning}`))
    return `${area}/${fits ? beginning : ''}*`
  }
  return rows.find((id) => id.includes(`/${condition}`)) ?? nearestBy(condition, rows)
}

/** The row whose condition is nearest. */
function nearestBy(condition: string, rows: readonly string[]): string {
  const conditionOf = (id: string): string => id.slice(id.indexOf('/') + 1)
  const nearest = closest(condition, rows.map(conditionOf))
  return rows.find((id) => conditionOf(id) === nearest)!
}

/** `jobs` is the beginning of several operations. */
function patternOf(written: string, groups: readonly string[]): string {
  const word = written.replaceAll('*', '')
  if (!areas.includes(word) && groups.includes(word)) return `${word}.*`
  return closest(word, [...areas])
}
