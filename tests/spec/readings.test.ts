import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readings } from '../../build/readings.ts'
import { catalogue } from '../../catalogue/catalogue.ts'

const text = readFileSync(new URL('../../catalogue/readings.md', import.meta.url), 'utf8')
const ids: readonly string[] = catalogue.map(({ id }) => id)

/** The ids and patterns that the page cites. */
const cited = [...text.matchAll(/`((?:\*|[a-z-]+(?:\.[a-z-]+)?)\/(?:[0-9a-z*-]+))`/g)].map(
  ([, id = '']) => id,
)
const matching = (pattern: string): string[] => {
  const expression = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
  return ids.filter((id) => expression.test(id))
}

const known: ReadonlySet<string> = new Set(readings().flatMap(({ about }) => about))

test('each id that is cited exists', () => {
  expect(cited.length).toBeGreaterThan(100)
  const mediaTypes = ['text/json', 'application/json']
  expect(cited.filter((id) => matching(id).length === 0 && !mediaTypes.includes(id))).toEqual([])
})

test('each requirement that accepts several answers has its reason', () => {
  const several = catalogue.filter(({ statement }) =>
    /\b[45]\d\d\b.*\b(?:or|also)\b/.test(statement),
  )
  expect(several.length).toBeGreaterThan(50)
  expect(several.map(({ id }) => id).filter((id) => !known.has(id))).toEqual([])
})

test('each should has its reason', () => {
  expect(catalogue.filter(({ id, level }) => level === 'should' && !known.has(id))).toEqual([])
})

test('each heading that is linked exists', () => {
  const slugs = [...text.matchAll(/^## (.*)$/gm)].map(([, heading = '']) =>
    heading.toLowerCase().replaceAll(' ', '-'),
  )
  const links = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, slug = '']) => slug)
  expect(links.filter((slug) => !slugs.includes(slug))).toEqual([])
  expect(slugs.filter((slug) => !links.includes(slug))).toEqual([])
})
