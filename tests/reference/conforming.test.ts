import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { withReference } from './client.ts'
import { isRefused, provoke, refusalRows } from './refusal-rows.ts'
import { stories } from './stories.ts'

test('every requirement is looked at here, but the removal of the PDF parser', () => {
  const covered = new Set([...refusalRows.map(([id]) => id), ...Object.keys(stories)])
  expect(catalogue.map(({ id }) => id).filter((id) => !covered.has(id))).toEqual([
    'pdf.parse/4xx-removed',
  ])
})

test('every refusal is one that the interface asks for', () =>
  withReference({}, async (server) => {
    for (const row of refusalRows) {
      const [id, , ...pairs] = row
      const answer = await provoke(server, row)
      expect(isRefused(answer, pairs), `${id}: ${answer.status} ${answer.text}`).toBe(true)
    }
  }))

test.each(Object.entries(stories))('%s', async (_, story) => {
  expect(await withReference({ slowJobMs: 700 }, story)).toBe(true)
})
