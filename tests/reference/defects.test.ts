import { expect, test } from 'vitest'
import { defects, startReference, type ReferenceOptions } from '../../reference/server.ts'
import { play, send } from './client.ts'
import { isRefused, provoke, refusalRows } from './refusal-rows.ts'
import { stories } from './stories.ts'

/** Whether a server of that defect still keeps the requirement, in each way that it is looked at. */
async function keeps(defect: string): Promise<boolean> {
  const id = defect.replace(/#.*/, '')
  const { url, close } = await startReference({ defects: [defect] })
  try {
    const story = stories[id]
    if (story && !(await story(url))) return false
    for (const row of refusalRows.filter(([of]) => of === id)) {
      const [, , ...pairs] = row
      if (!isRefused(await provoke(url, row), pairs)) return false
    }
    return true
  } finally {
    await close()
  }
}

// Neither a story nor a row is about these; they have tests of their own below.
const own = ['guardrails/400-blocked#extras', 'pdf.parse/4xx-removed', 'pdf.parse/4xx-removed#5xx']

test('every defect breaks the requirement that it is named after', async () => {
  const kept: string[] = []
  for (const defect of defects) if (!own.includes(defect) && (await keeps(defect))) kept.push(defect)
  expect(kept).toEqual([])
}, 120_000)

async function statusOf(operation: string, options: ReferenceOptions): Promise<number> {
  const { url, close } = await startReference(options)
  const { status } = await send(url, operation)
  await close()
  return status
}

test('a removed operation is served on, or fails, under the defects of its removal', async () => {
  const variants = ['pdf-removed']
  expect(await statusOf('pdf.parse', { variants })).toBe(410)
  expect(await statusOf('pdf.parse', { variants, defects: ['pdf.parse/4xx-removed'] })).toBe(200)
  expect(await statusOf('pdf.parse', { variants, defects: ['pdf.parse/4xx-removed#5xx'] })).toBe(500)
})

test('a blocked request names the guardrail, but under the defect of its extras', async () => {
  const blockedBy = async (options: ReferenceOptions) => {
    const { url, close } = await startReference(options)
    const { json } = await play(url, 'guardrails/400-blocked')
    await close()
    return json.errors[0].extras.guardrail_name as unknown
  }
  expect(await blockedBy({})).toBe('pii')
  expect(await blockedBy({ defects: ['guardrails/400-blocked#extras'] })).toBeUndefined()
})
