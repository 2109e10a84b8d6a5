import { isObject } from '../../schemas/json-object.ts'
import { getAt } from '../../schemas/pointer.ts'
import { jsonOf, type Probe } from '../../harness/engine/probe.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Run } from '../../harness/engine/run.ts'
import { condition, type RefusalContext } from '../../harness/checks/refusals.ts'
import { at, atRole, notArray, ofOtherTypes, pointerOf, unknownWord } from '../../harness/checks/roles.ts'
import type { Story } from '../../harness/engine/story.ts'

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

/** The valid messages, one of them changed: the last, or the first. */
function withMessage(run: Run, probe: Probe, at: 0 | -1, change: (message: Message) => unknown): Probe {
  const messages = messagesOf(run, probe)
  return atRole(run, probe, 'messages', messages.with(at, change(messages.at(at) as Message) as Message))
}

/** A fault in a message: all of them in the last, one of each kind in the first of several, since a server may look at some only. */
interface MessageFault {
  readonly what: string
  change(message: Message): unknown
  readonly alsoFirst: boolean
}

async function judgeMessages({ story, valid, judge }: RefusalContext, faults: readonly MessageFault[]): Promise<void> {
  const { run } = story
  for (const { what, change, alsoFirst } of faults) {
    await judge(withMessage(run, await valid(), -1, change), `with a valid body, but ${what}`)
    if (!alsoFirst || messagesOf(run, await valid()).length === 1) continue
    await judge(withMessage(run, await valid(), 0, change), `with a valid body, but ${what} (the first)`)
  }
}

const items = ofOtherTypes(['string', 'number', 'boolean', 'array'])
const contents = ofOtherTypes(['number', 'boolean', 'object'])

/** No array; items that are no objects; content that is neither a string nor an array. */
export const malformedMessages = condition(async (context) => {
  await at('messages', notArray).bringAbout(context)
  await judgeMessages(context, [
    ...items.map(({ what, value }, place) => ({
      what: `a message ${what}`,
      change: () => value,
      alsoFirst: place === 0,
    })),
    ...contents.map(({ what, value }, place) => ({
      what: `the content of a message ${what}`,
      change: (message: Message) => ({ ...message, content: value }),
      alsoFirst: place === 0,
    })),
  ])
})

/** A random word of 12 letters, and values that are no string. */
export const invalidRoles = condition(async (context) => {
  const { story } = context
  const word = unknownWord(story.run, story.row.id)
  const faults = [{ what: `is ${word}`, value: word }, ...ofOtherTypes(['number', 'boolean', 'array', 'object'])]
  const inRole = faults.map(({ what, value }, at) => ({
    what: `the role of a message ${what}`,
    change: (message: Message) => ({ ...message, role: value }),
    alsoFirst: at === 0,
  }))
  await judgeMessages(context, inRole)
})
