import { describe, expect, test } from 'vitest'
import { judgeReference } from '../matrix/judge-reference.ts'
import { judge, refusal } from './networks.ts'

/** Servers that break on a valid request now and then, in whole runs. */
const rows = [
  ['web-search.run/2xx-accepted', 'every-sixth'],
  ['pdf.parse/200-text', 'every-third'],
] as const

describe.each([1, 2])('with seed %s', (seed) => {
  test.each(rows)('%s fails under #%s, and says how often each answer came', async (id, how) => {
    const { of } = await judgeReference({ defects: [`${id}#${how}`] }, { options: { seed } })
    expect(of(id)).toMatchObject({ outcome: 'failed', failures: [{ takes: 'chance' }] })
    expect(of(id).failures[0]?.actual).toMatch(/500 .*the answers to one request differ: \d of \d/)
  })
})

test('a server that breaks on a corrupted upload is not accused of breaking on sound ones', async () => {
  const { failed, of } = await judge(['pdf.parse/400-corrupted-pdf', 'files.upload/2xx-accepted'], {
    change: ({ resources: { pdfFile: _, corruptedPdfFile: __, ...resources } = {}, ...file }) => ({
      ...file,
      resources,
    }),
    way: (request, send) =>
      request.headers.some(({ value }) => value.includes('corrupted'))
        ? refusal(500, 'InternalError')
        : send(),
  })
  expect(failed).toEqual([])
  expect(of('pdf.parse/400-corrupted-pdf').outcome).toBe('not-exercised')
})
