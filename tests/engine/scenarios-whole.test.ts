import { expect, test } from 'vitest'
import { jsonOf } from '../../harness/engine/exchange.ts'
import type { Transport } from '../../harness/http/message.ts'
import type { TargetFile } from '../../harness/target-file/model.ts'
import { getAt } from '../../schemas/json.ts'
import { judgeReference, type JudgeSettings } from '../matrix/judge-reference.ts'

/** A scenario is a change to the declared request, whole. */

const id = 'chat.create/200-tool-choice-auto'
const extras = { stream: false, response_format: { type: 'text' } }
const choosing: JudgeSettings['change'] = (file) => withChat(file, extras)

function withChat(file: TargetFile, more: object): TargetFile {
  const chat = file.operations?.['chat.create'] as { readonly body: object }
  return {
    ...file,
    operations: { ...file.operations, 'chat.create': { ...chat, body: { ...chat.body, ...more } } },
    scenarios: { ...file.scenarios, [id]: { merge: { tool_choice: 'auto' } } },
  }
}

test('scenarios of a chat are sent with all members of the declared body', async () => {
  const sent = new Map<string | null, unknown>()
  const { results, run } = await judgeReference(
    {},
    {
      options: { only: [id, 'chat.create/403-model-access', 'guardrails/400-blocked-by-provider'] },
      change: choosing,
      prepare: ({ client }) =>
        client.observers.push(({ probe, purpose }) => {
          if (purpose.role === 'probe') sent.set(purpose.requirement, jsonOf(probe))
        }),
    },
  )
  const judged = results.filter(({ reason }) => reason !== 'left out: --only')
  expect(judged.filter(({ operation }) => operation === 'chat.create')).toMatchObject([
    { outcome: 'passed' },
    { outcome: 'passed' },
  ])
  const tools = getAt(run.target.operations['chat.create']?.body, '/tools')
  expect(tools).toHaveLength(1)
  expect(sent.size).toBe(3)
  for (const body of sent.values()) expect(body).toMatchObject({ tools, ...extras })
  expect(sent.get(id)).toMatchObject({ tool_choice: 'auto' })
})

test('a server that refuses every tool does not pass by a scenario', async () => {
  // What is sent in its place is no body that an operation takes.
  const refusing = (transport: Transport): Transport => ({
    ...transport,
    send: (request, options) =>
      transport.send(
        String(request.body).includes('"tools"') ? { ...request, body: '"text"' } : request,
        options,
      ),
  })
  const { results } = await judgeReference(
    {},
    {
      options: { only: [id, 'chat.create/403-model-access'] },
      change: choosing,
      network: refusing,
    },
  )
  const of = (one: string) => results.find((result) => result.id === one)
  expect(of(id)).toMatchObject({ outcome: 'failed' })
  expect(of('chat.create/403-model-access')).toMatchObject({
    outcome: 'not-exercised',
    reason: expect.stringContaining('the control was not granted: answered 400 BadRequest'),
  })
})

test('a scenario that streams, since the body does, says what to add', async () => {
  const { results } = await judgeReference(
    {},
    { options: { only: [id] }, change: (file) => withChat(file, { stream: true }) },
  )
  expect(results.find((result) => result.id === id)).toMatchObject({
    outcome: 'not-exercised',
    reason: expect.stringContaining('add "stream": null to its merge'),
  })
})
