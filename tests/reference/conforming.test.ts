import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { withReference } from './client.ts'
import { isRefused, provoke, refusalRows } from './refusal-rows.ts'
import { stories } from './stories.ts'

const ids = JSON.parse(readFileSync(new URL('requirement-ids.json', import.meta.url), 'utf8')) as string[]

test('every requirement is looked at here, but the removal of the PDF parser', () => {
  const covered = new Set([...refusalRows.map(([id]) => id), ...Object.keys(stories)])
  expect(ids.filter((id) => !covered.has(id))).toEqual(['pdf.parse/4xx-removed'])
})

test('every refusal is one that the interface asks for', () =>
  withReference({}, async (server) => {
    for (const row of refusalRows) {
      const [id, , ...pairs] = row
      const answer = await provoke(server, row)
      expect(isRefused(answer, pairs), `${id}: ${answer.status} ${answer.text}`).toBe(true)
    }
  }))

test.concurrent.each(Object.entries(stories))('%s', async (_, story) => {
  expect(await withReference({ slowJobMs: 700 }, story)).toBe(true)
})
