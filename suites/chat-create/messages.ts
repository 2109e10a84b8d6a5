import { isObject } from '../../schemas/json-object.ts'
import { getAt } from '../../schemas/pointer.ts'
import { jsonOf, type Probe } from '../../harness/engine/probe.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Run } from '../../harness/engine/run.ts'
import { condition, type RefusalContext } from '../../harness/checks/refusals.ts'
import { at, atRole, notArray, ofOtherTypes, pointerOf, unknownWord } from '../../harness/checks/roles.ts'
import type { CheckContext } from '../../harness/engine/check-context.ts'

type Message = Readonly<Record<string, unknown>>

function messagesOf(run: Run, probe: Probe): readonly Message[] {
  const messages = getAt(jsonOf(probe), pointerOf(run, 'chat.create', 'messages') ?? '/messages')
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isObject)) {
    throw new NotExercised('declare operations.chat.create.body.messages, an array of messages')
  }
  return messages
}

/** The valid messages, each text given as an array of one text part. */
export function asTextParts(probe: Probe, { run }: CheckContext): Probe {
  const messages = messagesOf(run, probe).map((message) =>
    typeof message['content'] === 'string'
      ? { ...message, content: [{ type: 'text', text: message['content'] }] }
      : message,
  )
  return { ...atRole(run, probe, 'messages', messages), effect: probe.effect }
}

/** What is wrong with a message. */
interface MessageFault {
  readonly what: string
  change(message: Message): unknown
  /** Also beside a sound message: a server may look at some of them only. */
  readonly alsoBeside: boolean
}

/** The places of a faulty message: each in words, and all messages with it. */
interface Place {
  readonly what: string
  readonly messages: readonly unknown[]
}

/** The last message, and beside it a sound one: the second of two; of several valid ones the first. */
function placesOf(valid: readonly Message[], { change, alsoBeside }: MessageFault): readonly Place[] {
  const [first, last] = [valid[0] as Message, valid.at(-1) as Message]
  const alone = { what: '', messages: [...valid.slice(0, -1), change(last)] }
  if (!alsoBeside) return [alone]
  const beside =
    valid.length === 1
      ? { what: ' (the second of two)', messages: [first, change(first)] }
      : { what: ` (the first of ${valid.length})`, messages: [change(first), ...valid.slice(1)] }
  return [alone, beside]
}

async function judgeMessages(
  { context, valid, judge }: RefusalContext,
  faults: readonly MessageFault[],
): Promise<void> {
  const { run } = context
  for (const fault of faults) {
    for (const { what, messages } of placesOf(messagesOf(run, await valid()), fault)) {
      await judge(atRole(run, await valid(), 'messages', messages), `with a valid body, but ${fault.what}${what}`)
    }
  }
}

const others = ofOtherTypes(['null', 'string', 'number', 'boolean', 'array'])
const items = others.map(({ what, value }) => ({ what: `a message ${what}`, change: () => value }))

const withoutRole = {
  what: 'a message has no role',
  change: ({ role: _role, ...message }: Message) => message,
}

const contents = [
  ...ofOtherTypes(['number', 'boolean', 'object']),
  ...others.map(({ what, value }) => ({ what: `is an array of one item, which ${what}`, value: [value] })),
].map(({ what, value }) => ({
  what: `the content of a message ${what}`,
  change: (message: Message) => ({ ...message, content: value }),
}))

/** No array; items that are no objects; no role; content that is neither a string nor an array of objects. */
export const malformedMessages = condition(async (refusal) => {
  await at('messages', notArray).bringAbout(refusal)
  const faults = [...items, withoutRole, ...contents]
  await judgeMessages(
    refusal,
    faults.map((fault) => ({ ...fault, alsoBeside: true })),
  )
})

/** A random word of 12 letters, and values that are no string. */
export const invalidRoles = condition(async (refusal) => {
  const { context } = refusal
  const word = unknownWord(context.run, context.row.id)
  const faults = [{ what: `is ${word}`, value: word }, ...ofOtherTypes(['number', 'boolean', 'array', 'object'])]
  const inRole = faults.map(({ what, value }, at) => ({
    what: `the role of a message ${what}`,
    change: (message: Message) => ({ ...message, role: value }),
    alsoBeside: at === 0,
  }))
  await judgeMessages(refusal, inRole)
})
