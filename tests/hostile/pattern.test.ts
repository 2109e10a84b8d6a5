/** A declared schema whose pattern takes more steps than there is time: the run goes on, and no answer is accused. */
import { expect, test } from 'vitest'
import { runConformance } from '../../library/index.ts'

const id = 'chat.create/200-structured-output'
/** Some 10 s for the engine of JavaScript. */
const text = `${'a'.repeat(29)}!`

async function judged(schema: object, content: unknown) {
  const message = { role: 'assistant', content: JSON.stringify(content) }
  const target = {
    keys: { full: 'a-key-of-many-letters' },
    fetch: () => Response.json({ choices: [{ index: 0, message }] }),
    operations: {
      'chat.create': {
        body: {
          messages: [{ role: 'user', content: 'Hello' }],
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'n', strict: true, schema },
          },
        },
      },
    },
  }
  const { requirements } = await runConformance(target, { only: [id], seed: 1 }).report
  return requirements.find((one) => one.id === id)!
}

test.each([
  ['a pattern', { properties: { name: { pattern: '^(a+)+$' } } }, { name: text }],
  ['a name of a member', { patternProperties: { '^(a+)+$': {} } }, { [text]: 1 }],
])('%s that never ends is given up, and no answer fails for it', async (_, schema, content) => {
  const { outcome, reason } = await judged(schema, content)
  expect({ outcome, reason }).toEqual({
    outcome: 'not-exercised',
    reason:
      'a pattern of the declared schema takes longer than 500 ms on the content of an answer: write it without repetitions of what repeats itself',
  })
})

test('a pattern that ends decides', async () => {
  const schema = { properties: { name: { pattern: '^a+$' } } }
  expect(await judged(schema, { name: 'aaa' })).toMatchObject({ outcome: 'passed' })
  expect(await judged(schema, { name: text })).toMatchObject({ outcome: 'failed' })
})
