import { isObject } from '../../schemas/json-object.ts'
import { getAt } from '../../schemas/pointer.ts'
import { jsonOf, type Probe } from '../../harness/engine/probe.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Run } from '../../harness/engine/run.ts'
import { judgeTries } from '../../harness/checks/granted.ts'
import { having } from '../../harness/checks/member-faults.ts'
import { condition } from '../../harness/checks/refusals.ts'
import { sampled } from '../../harness/checks/seed.ts'
import { atRole, pointerOf, unknownWord, unknownWords } from '../../harness/checks/roles.ts'
import { validRequest } from '../../harness/checks/valid-request.ts'
import type { Judge } from '../../harness/engine/check-context.ts'
import { hasContent } from './content.ts'
import { judgeMembers } from './derived.ts'

type Message = Readonly<Record<string, unknown>>

function messagesOf(run: Run, probe: Probe): readonly Message[] {
  const messages = getAt(jsonOf(probe), pointerOf(run, 'chat.create', 'messages') ?? '/messages')
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isObject)) {
    throw new NotExercised('declare operations.chat.create.body.messages, an array of messages')
  }
  return messages
}

/** The valid messages, each text given as an array of one text part, or of two. */
function asTextParts(run: Run, probe: Probe, parts: 1 | 2): Probe {
  const text = (whole: string) => ({ type: 'text', text: whole })
  const messages = messagesOf(run, probe).map((message) => {
    const { content } = message
    if (typeof content !== 'string') return message
    return { ...message, content: parts === 1 ? [text(content)] : [text(content), text('Answer in one line.')] }
  })
  return { ...atRole(run, probe, 'messages', messages), effect: probe.effect, fault: `inside @ /messages/*/content` }
}

/** Content as one text part, and as two. */
export const judgeTextParts: Judge = async (context) => {
  for (const parts of context.run.target.scenarios[context.requirement.id]
    ? ([1] as const)
    : sampled(context, [1, 2] as const)) {
    const make = async () => asTextParts(context.run, await validRequest(context.run, 'chat.create'), parts)
    const what = `with content given as ${parts} text part${parts === 1 ? '' : 's'}`
    await judgeTries(context, { make, what, check: hasContent(what) })
  }
}

/** No array; items that are no objects; no role; content, its parts and what they hold that are not as shown. */
export const malformedMessages = condition((refusal) => judgeMembers(refusal))

/** A random word of 12 letters, one after a valid role, and values that are no string. */
export const invalidRoles = condition((refusal) => {
  const { run, requirement } = refusal.context
  const word = unknownWord(run, requirement.id)
  return judgeMembers(refusal, (place) =>
    place.at === '/messages/*/role'
      ? unknownWords(word, getAt(place.body, place.pointer)).map(({ value, fault = '' }) =>
          having(place, value, `the unknown ${String(value)}`, fault),
        )
      : [],
  )
})
