import { expect, test } from 'vitest'
import { jsonOf } from '../../harness/journal/exchange.ts'
import type { TargetFile } from '../../harness/target/model.ts'
import { getAt } from '../../schemas/json.ts'
import { answer, answered, envelope, judge, refusal } from './networks.ts'

/** A probe is its control and one fault: what it adds besides, and a target does not support, accuses nobody. */

/** A server refuses such bodies in a way of its own, whatever else is wrong with them. */
async function judgeRefusing(isUnsupported: (body: unknown) => boolean, only: string[]) {
  const { of } = await judge(only, {
    way: async ({ body }, send) => {
      const result = await send()
      let parsed: unknown
      try {
        parsed = JSON.parse(String(body))
      } catch {}
      return isUnsupported(parsed) ? answered(result, 422, envelope('UnprocessableEntity')) : result
    },
  })
  return only.map(of)
}

const several = (at: string) => (body: unknown) => {
  const items = getAt(body, at)
  return Array.isArray(items) && items.length > 1
}

test.each([
  ['streaming', '400-invalid-stream-options', (body: unknown) => getAt(body, '/stream') === true],
  ['a second tool', '400-malformed-tools', several('/tools')],
  ['tools', '400-malformed-tool-choice', (body: unknown) => getAt(body, '/tools') !== undefined],
  [
    'images',
    '400-malformed-messages',
    (body: unknown) => JSON.stringify(body ?? '').includes('image_url'),
  ],
] as const)('a chat without %s is not accused by %s', async (_, condition, isUnsupported) => {
  expect(await judgeRefusing(isUnsupported, [`chat.create/${condition}`])).toMatchObject([
    {
      outcome: 'not-exercised',
      reason: expect.stringMatching(
        /^the same request without its fault was refused: answered 422 UnprocessableEntity/,
      ),
      failures: [],
    },
  ])
})

test('a parser without markdown is not accused by what is wrong with a PDF', async () => {
  const open = {
    outcome: 'not-exercised',
    reason: expect.stringContaining('the same request without its fault was refused'),
  }
  const ids = ['pdf.parse/400-corrupted-pdf', 'pdf.parse/400-encrypted-pdf']
  const isMarkdown = (body: unknown): boolean => getAt(body, '/format') === 'markdown'
  expect(await judgeRefusing(isMarkdown, ids)).toMatchObject([open, open])
})

test('images are no matter of a target that shows none', async () => {
  const id = 'chat.create/400-malformed-messages'
  const sent: string[] = []
  const { passed } = await judge([id], {
    change: ({ scenarios, ...file }) => {
      const { 'chat.create/200-image-parts': _, ...others } = scenarios ?? {}
      return { ...file, scenarios: others }
    },
    observe: ({ probe }) => sent.push(String(probe.body)),
  })
  expect(passed).toEqual([id])
  expect(sent.filter((body) => body.includes('data:image'))).toEqual([])
})

// A scenario is a change to the declared request, whole.
const choice = 'chat.create/200-tool-choice-auto'
const access = 'chat.create/403-model-access'
const extras = { stream: false, response_format: { type: 'text' } }

function withChat(file: TargetFile, more: object = extras): TargetFile {
  const chat = file.operations?.['chat.create'] as { readonly body: object }
  return {
    ...file,
    operations: { ...file.operations, 'chat.create': { ...chat, body: { ...chat.body, ...more } } },
    scenarios: { ...file.scenarios, [choice]: { merge: { tool_choice: 'auto' } } },
  }
}

test('scenarios of a chat are sent with all members of the declared body', async () => {
  const sent = new Map<string | null, unknown>()
  const { passed, run } = await judge([choice, access, 'guardrails/400-blocked-by-provider'], {
    change: (file) => withChat(file),
    observe({ probe, purpose }) {
      if (purpose.role === 'probe') sent.set(purpose.requirement, jsonOf(probe))
    },
  })
  expect(passed).toEqual(expect.arrayContaining([choice, access]))
  const tools = getAt(run.given.target.operations['chat.create']?.body, '/tools')
  expect(tools).toHaveLength(1)
  expect(sent.size).toBe(3)
  for (const body of sent.values()) expect(body).toMatchObject({ tools, ...extras })
  expect(sent.get(choice)).toMatchObject({ tool_choice: 'auto' })
})

test.each([
  ['breaks on them fails', /"graph_ids":(?!\[)/, refusal(500, 'InternalError'), 'failed'],
  ['breaks on an odd one fails', /"graph_ids":\[\]/, refusal(500, 'InternalError'), 'failed'],
  [
    'refuses such tools is not judged whole',
    /"graph_ids"/,
    refusal(400, 'BadRequest'),
    'not-exercised',
  ],
])('wrong members of the declared tools: a server that %s', async (_, wrong, reply, outcome) => {
  const id = 'chat.create/bad-input-no-5xx'
  const { of } = await judge([id], {
    way: ({ body }, send) => (wrong.test(String(body)) ? reply : send()),
  })
  expect(of(id).outcome).toBe(outcome)
})

test('a server that refuses every tool does not pass by a scenario', async () => {
  const { of } = await judge([choice, access], {
    change: (file) => withChat(file),
    // What is sent in its place is no body that an operation takes.
    way: (request, send) =>
      send(String(request.body).includes('"tools"') ? { ...request, body: '"text"' } : request),
  })
  expect(of(choice)).toMatchObject({ outcome: 'failed' })
  expect(of(access)).toMatchObject({
    outcome: 'not-exercised',
    reason: expect.stringContaining('the valid request was refused: answered 400 BadRequest'),
  })
})

test('a scenario that streams, since the body does, says what to add', async () => {
  const { of } = await judge([choice], { change: (file) => withChat(file, { stream: true }) })
  expect(of(choice)).toMatchObject({
    outcome: 'not-exercised',
    reason: expect.stringContaining('add "stream": null to its merge'),
  })
})

test('calls stand in place of content where tools were sent', async () => {
  const structured = 'chat.create/200-structured-output'
  const rows = ['chat.create/200-completion', choice, 'chat.create/200-image-parts', structured]
  const calls = JSON.stringify({ choices: [{ message: { content: null, tool_calls: [{}] } }] })
  const { of } = await judge(rows, {
    change(file) {
      const changed = withChat(file)
      return { ...changed, scenarios: { ...changed.scenarios, [structured]: {} } }
    },
    way: (_, send, { probe }) => (probe?.operation === 'chat.create' ? answer(200, calls) : send()),
  })
  const outcomes = rows.map((row) => of(row).outcome)
  expect(outcomes).toEqual(['failed', 'passed', 'passed', 'not-exercised'])
})

test.each([4, 5])('generated answers vary: %i wrong ones in a row', async (wrong) => {
  const id = 'chat.create/200-completion'
  let count = 0
  const { failed } = await judge([id], {
    way: (_, send, { probe }) =>
      probe?.operation === 'chat.create' && count++ < wrong ? answer(200, '{}') : send(),
  })
  expect(failed).toEqual(wrong < 5 ? [] : [id])
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
