import type { GrantedCheck } from '../../harness/checks/index.ts'
import {
  atRole,
  bodyOf,
  byRecord,
  judgeTries,
  respelled,
  sampled,
  validRequest,
  valueAt,
} from '../../harness/checks/index.ts'
import type { CheckContext, Judge, Probe, Run } from '../../harness/engine/index.ts'
import { jsonOf, jsonValue, judgeGranted, judgeShape, NotExercised } from '../../harness/engine/index.ts'
import { getAt, isObject } from '../../schemas/json.ts'

/** §2.8: a 2xx that has `choices[0].message.content`, a string. */
export const hasContent: GrantedCheck = (context, exchange, what) => {
  judgeGranted(context, exchange, 'a 2xx with choices[0].message.content', what)
  judgeShape(context, exchange, 'chat-completion', what)
}

/** Checks like `hasContent`, unless the model calls a tool in place of an answer. */
export const hasContentOrCalls: GrantedCheck = (context, exchange, what) => {
  const calls = getAt(jsonValue(exchange.response), '/choices/0/message/tool_calls')
  if (!Array.isArray(calls) || calls.length === 0) hasContent(context, exchange, what)
}

type Message = Readonly<Record<string, unknown>>

function messagesOf(run: Run, probe: Probe): readonly Message[] {
  const messages = valueAt(run, 'chat.create', 'messages', jsonOf(probe))
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
    return { ...message, content: [content, 'Answer in one line.'].slice(0, parts).map(text) }
  })
  return { ...atRole(run, probe, 'messages', messages), effect: probe.effect, fault: `inside @ /messages/*/content` }
}

/** Content as one text part, and as two. */
export const judgeTextParts: Judge = async (context) => {
  for (const parts of context.scenario ? ([1] as const) : sampled(context, [1, 2] as const)) {
    const valid = async () => asTextParts(context.run, await validRequest(context.run, 'chat.create'), parts)
    const make = async () => (parts === 1 ? valid() : respelled(await valid()))
    const what = `with content given as ${parts} text part${parts === 1 ? '' : 's'}`
    await judgeTries(context, { make, what, check: hasContent })
  }
}

/** The tools of the declared body; undefined if it has none. */
function declaredTools(run: Run): unknown {
  return valueAt(run, 'chat.create', 'tools', bodyOf(run, 'chat.create'))
}

/** The valid request with the declared tools and tool_choice auto. */
export function withDeclaredTools(probe: Probe, { run }: CheckContext): Probe {
  const tools = declaredTools(run)
  if (tools === undefined) throw new NotExercised('declare tools in operations.chat.create.body, or a scenario')
  return { ...atRole(run, atRole(run, probe, 'tools', tools), 'tool_choice', 'auto'), effect: probe.effect }
}

/** Numbers, booleans and arrays, with the declared tools if the body has them. */
export const malformedToolChoice = byRecord({
  besides(run, valid) {
    const tools = declaredTools(run)
    return tools === undefined ? valid : atRole(run, valid, 'tools', tools)
  },
})

/** With `stream: true`: words, numbers, booleans and arrays. */
export const invalidStreamOptions = byRecord({ besides: (run, valid) => atRole(run, valid, 'stream', true) })
