import { expect, test } from 'vitest'
import type { Transport } from '../../harness/http/message.ts'
import { getAt } from '../../schemas/json.ts'
import { judgeReference } from '../matrix/judge-reference.ts'

/** A probe is its control and one fault: what it adds besides, and a target does not support, accuses nobody. */

const parsed = (body: unknown): unknown => {
  try {
    return JSON.parse(String(body)) as unknown
  } catch {
    return undefined
  }
}

const refusal = JSON.stringify({ tpe: 'UnprocessableEntity', errors: [], extras: {} })

/** A network behind which a server refuses such bodies in a way of its own, whatever else is wrong with them. */
const refusing =
  (isUnsupported: (body: unknown) => boolean) =>
  (transport: Transport): Transport => ({
    ...transport,
    async send(request, options) {
      const result = await transport.send(request, options)
      if (result.kind !== 'answer' || !isUnsupported(parsed(request.body))) return result
      const headers = [{ name: 'content-type', value: 'application/json' }]
      return { ...result, status: 422, headers, body: Buffer.from(refusal) }
    },
  })

const several = (at: string) => (body: unknown) => {
  const items = getAt(body, at)
  return Array.isArray(items) && items.length > 1
}

test.each([
  ['streaming', '400-invalid-stream-options', (body: unknown) => getAt(body, '/stream') === true],
  ['a second tool', '400-malformed-tools', several('/tools')],
  ['a second message', '400-malformed-messages', several('/messages')],
  ['tools', '400-malformed-tool-choice', (body: unknown) => getAt(body, '/tools') !== undefined],
  ['tools', '400-query-config', (body: unknown) => getAt(body, '/tools') !== undefined],
  [
    'images',
    '400-malformed-messages',
    (body: unknown) => JSON.stringify(body ?? '').includes('image_url'),
  ],
] as const)('a chat without %s is not accused by %s', async (_, condition, isUnsupported) => {
  const id = `chat.create/${condition}`
  const { results } = await judgeReference(
    {},
    { options: { only: [id] }, network: refusing(isUnsupported) },
  )
  expect(results.find((result) => result.id === id)).toMatchObject({
    outcome: 'not-exercised',
    reason: expect.stringMatching(
      /^the same request without its fault was not granted: answered 422 UnprocessableEntity/,
    ),
    failures: [],
  })
})

test('a parser without markdown is not accused by what is wrong with a PDF', async () => {
  const ids = ['pdf.parse/400-corrupted-pdf', 'pdf.parse/400-encrypted-pdf']
  const { results } = await judgeReference(
    {},
    { options: { only: ids }, network: refusing((body) => getAt(body, '/format') === 'markdown') },
  )
  for (const id of ids)
    expect(results.find((result) => result.id === id)).toMatchObject({
      outcome: 'not-exercised',
      reason: expect.stringContaining('a valid PDF with format markdown was not granted'),
    })
})

test('images are no matter of a target that shows none', async () => {
  const id = 'chat.create/400-malformed-messages'
  const sent: string[] = []
  const { results } = await judgeReference(
    {},
    {
      options: { only: [id] },
      change: ({ scenarios, ...file }) => {
        const { 'chat.create/200-image-parts': _, ...others } = scenarios ?? {}
        return { ...file, scenarios: others }
      },
      prepare: ({ client }) => client.observers.push(({ probe }) => sent.push(String(probe.body))),
    },
  )
  expect(results.find((result) => result.id === id)?.outcome).toBe('passed')
  expect(sent.filter((body) => body.includes('data:image'))).toEqual([])
})
