import { expect, test } from 'vitest'
import { defects, type ReferenceOptions } from '../../reference/server.ts'
import { play, send, withReference, type Server } from './client.ts'
import { isRefused, provoke, refusalRows } from './refusal-rows.ts'
import { stories } from './stories.ts'

/** Whether a server keeps a requirement, in each way that it is looked at. */
async function keeps(server: Server, id: string): Promise<boolean> {
  const story = stories[id]
  if (story && !(await story(server))) return false
  for (const row of refusalRows.filter(([of]) => of === id)) {
    const [, , ...pairs] = row
    if (!isRefused(await provoke(server, row), pairs)) return false
  }
  return true
}

const givesNoAnswer = /#(no-answer|answer-lost|closed|dropped|no-http)$/

async function isKept(defect: string): Promise<boolean> {
  const looked = withReference({ defects: [defect], silenceMs: 20 }, (server) =>
    keeps(server, defect.replace(/#.*/, '')),
  )
  return givesNoAnswer.test(defect) ? looked.catch(() => false) : looked
}

// Neither a story nor a row is about these; they have tests of their own below, and beside the connection variants.
const own =
  /^guardrails\/400-blocked#extras$|^pdf\.parse\/4xx-removed|#(spoils-connection|after-refusal)$/

test('every defect breaks the requirement that it is named after', async () => {
  const kept: string[] = []
  for (const defect of defects.filter((name) => !own.test(name)))
    if (await isKept(defect)) kept.push(defect)
  expect(kept).toEqual([])
})

async function statusOf(operation: string, options: ReferenceOptions): Promise<number> {
  return (await withReference(options, (server) => send(server, operation))).status
}

test('a removed operation is served on, or fails, under the defects of its removal', async () => {
  const variants = ['pdf-removed']
  expect(await statusOf('pdf.parse', { variants })).toBe(410)
  expect(await statusOf('pdf.parse', { variants, defects: ['pdf.parse/4xx-removed'] })).toBe(200)
  expect(await statusOf('pdf.parse', { variants, defects: ['pdf.parse/4xx-removed#5xx'] })).toBe(
    500,
  )
})

test('a blocked request names the guardrail, but under the defect of its extras', async () => {
  const blockedBy = async (options: ReferenceOptions) => {
    const { json } = await withReference(options, (server) =>
      play(server, 'guardrails/400-blocked'),
    )
    return json.errors[0].extras.guardrail_name as unknown
  }
  expect(await blockedBy({})).toBe('pii')
  expect(await blockedBy({ defects: ['guardrails/400-blocked#extras'] })).toBeUndefined()
})
