import { isObject } from '../../harness/ask/answer.ts'
import { getAt } from '../../harness/json/pointer.ts'
import { jsonOf, type Probe } from '../../harness/request/probe.ts'
import { NotExercised } from '../../harness/run/outcome.ts'
import type { Run } from '../../harness/run/run.ts'
import type { Fault } from '../../harness/words/conditions.ts'
import { type Condition, counted } from '../../harness/words/refusals.ts'
import { atRole, ofOtherTypes, pointerOf, unknownWord } from '../../harness/words/roles.ts'
import type { Story } from '../../harness/words/story.ts'

type Message = Readonly<Record<string, unknown>>

function messagesOf(run: Run, probe: Probe): readonly Message[] {
  const messages = getAt(jsonOf(probe), pointerOf(run, 'chat.create', 'messages') ?? '/messages')
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isObject)) {
    throw new NotExercised('declare operations.chat.create.body.messages, an array of messages')
  }
  return messages
}

/** The valid messages, each text given as an array of one text part. */
export function asTextParts(probe: Probe, { run }: Story): Probe {
  const messages = messagesOf(run, probe).map((message) =>
    typeof message['content'] === 'string'
      ? { ...message, content: [{ type: 'text', text: message['content'] }] }
      : message,
  )
  return { ...atRole(run, probe, 'messages', messages), effect: probe.effect }
}

/** The valid messages, the last of them changed. */
function withLast(run: Run, probe: Probe, change: (message: Message) => unknown): Probe {
  const messages = messagesOf(run, probe)
  return atRole(run, probe, 'messages', [...messages.slice(0, -1), change(messages.at(-1) as Message)])
}

/** No array; items that are no objects; content that is neither a string nor an array. */
export function malformedMessages(notArray: readonly Fault[]): Condition {
  return counted(
    () => notArray.length + 7,
    async ({ story, valid, judge }) => {
      const { run } = story
      for (const { what, value } of notArray) {
        await judge(atRole(run, await valid(), 'messages', value), `with a valid body, but messages ${what}`)
      }
      for (const { what, value } of ofOtherTypes(['string', 'number', 'boolean', 'array'])) {
        await judge(
          withLast(run, await valid(), () => value),
          `with a valid body, but a message ${what}`,
        )
      }
      for (const { what, value } of ofOtherTypes(['number', 'boolean', 'object'])) {
        const probe = withLast(run, await valid(), (message) => ({ ...message, content: value }))
        await judge(probe, `with a valid body, but the content of a message ${what}`)
      }
    },
  )
}

/** A random word of 12 letters, and values that are no string. */
export const invalidRoles: Condition = counted(
  () => 5,
  async ({ story, valid, judge }) => {
    const word = unknownWord(story.run, story.row.id)
    const faults = [{ what: `is ${word}`, value: word }, ...ofOtherTypes(['number', 'boolean', 'array', 'object'])]
    for (const { what, value } of faults) {
      const probe = withLast(story.run, await valid(), (message) => ({ ...message, role: value }))
      await judge(probe, `with a valid body, but the role of a message ${what}`)
    }
  },
)
