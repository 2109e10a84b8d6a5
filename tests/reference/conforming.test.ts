import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReference, type Reference } from '../../reference/server.ts'
import { isRefused, provoke, refusalRows } from './refusal-rows.ts'
import { stories } from './stories.ts'

const ids = JSON.parse(readFileSync(new URL('requirement-ids.json', import.meta.url), 'utf8')) as string[]
let reference: Reference

beforeAll(async () => {
  reference = await startReference()
})
afterAll(() => reference.close())

test('every requirement is looked at here, but the removal of the PDF parser', () => {
  const covered = new Set([...refusalRows.map(([id]) => id), ...Object.keys(stories)])
  expect(ids.filter((id) => !covered.has(id))).toEqual(['pdf.parse/4xx-removed'])
})

test('every refusal is one that the interface asks for', async () => {
  for (const row of refusalRows) {
    const [id, , ...pairs] = row
    const answer = await provoke(reference.url, row)
    expect(isRefused(answer, pairs), `${id}: ${answer.status} ${answer.text}`).toBe(true)
  }
})

test.each(Object.entries(stories))('%s', async (_, story) => {
  const fresh = await startReference()
  try {
    expect(await story(fresh.url)).toBe(true)
  } finally {
    await fresh.close()
  }
})
