import { conditionOf } from '../../catalogue/requirement.ts'
import type { MemberFault } from '../../catalogue/operation.ts'
import type { GrantedCheck, MemberCase, Placed, RefusalContext } from '../../harness/checks/index.ts'
import {
  absent,
  arraysAbove,
  atRole,
  bodyOf,
  condition,
  examplesFor,
  falsy,
  faultsOfKinds,
  faultsOfType,
  having,
  inOtherItem,
  judgeEach,
  judgeTries,
  respelled,
  ofOtherTypes,
  refused,
  sampled,
  shownMembers,
  unknownWord,
  unknownWords,
  validRequest,
  valueAt,
} from '../../harness/checks/index.ts'
import type { CheckContext, Judge, Probe, Run } from '../../harness/engine/index.ts'
import { jsonOf, jsonValue, judgeGranted, judgeShape, NotExercised, withJson } from '../../harness/engine/index.ts'
import { getAt, isObject } from '../../schemas/json.ts'

/** More that is wrong with a member, beside its absence and its type. */
type More = (place: Placed) => readonly MemberCase[]

/** The faults of a member that the record counts under a condition. */
function casesOf(place: Placed, condition: string, more: More): MemberCase[] {
  const counts = (fault: MemberFault): boolean => place.member?.judgedBy?.[fault] === condition
  return [
    ...(counts('absent') ? absent(place) : []),
    ...(counts('null') ? faultsOfKinds(place, ['null']) : []),
    ...(counts('type') ? faultsOfType(place) : []),
    ...more(place),
  ]
}

/**
 * Each case by itself, and in a later item of the array that it stands in. Of an item within an item one case is sent in a
 * later one of the outer array as well: whoever looks at each of them looks at all that is in them. Of a
 * single item one case stands before it, too: a server may look at the last alone.
 */
function withLater(place: Placed, cases: readonly MemberCase[]): MemberCase[] {
  const arrays = arraysAbove(place)
  const inner = arrays.at(-1)
  const outer = arrays.at(-2)
  // A server may take what counts as false for absent: of the two booleans each is sent.
  const later = cases.map((one) =>
    one.fault === `boolean @ ${place.at}` ? having(place, false, 'false', 'boolean') : one,
  )
  return [
    ...cases,
    ...(inner === undefined ? [] : later.flatMap((one) => inOtherItem(place, one, inner, 'last'))),
    ...(inner === undefined || !place.at.endsWith('/*') || hasMore(place, inner)
      ? []
      : cases.slice(0, 1).flatMap((one) => inOtherItem(place, one, inner, 'first'))),
    ...(outer === undefined
      ? []
      : cases.slice(0, 1).flatMap((one) => inOtherItem(place, { ...one, fault: '' }, outer, 'last'))),
  ]
}

function hasMore({ body }: Placed, array: string): boolean {
  const items = getAt(body, array)
  return Array.isArray(items) && items.length > 1
}

/** Everything that the record of a chat counts under the requirement's condition. */
async function judgeMembers(refusal: RefusalContext, more: More = () => []): Promise<void> {
  const { context, operation, valid, judge } = refusal
  const condition = conditionOf(context.requirement.id)
  const first = await valid()
  const fields = context.run.target.operations[operation]?.fields ?? {}
  const body = jsonOf(first)
  const places = shownMembers(operation, body, fields, examplesFor(context.run, operation, body))
  const cases = places.flatMap((place) => withLater(place, casesOf(place, condition, more)))
  await judgeEach(sampled(context, cases), async ({ what, fault, body: faulty }) => {
    const probe = refused(withJson(await valid(), faulty))
    await judge({ ...probe, ...(fault === '' ? {} : { fault }) }, what)
  })
}

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

/** No array; items that are no objects; tools without a type; llm tools that lack what §2.8 shows of them, or have it of another type. */
export const malformedTools = condition((refusal) =>
  judgeMembers(refusal, (place) =>
    place.at === '/tools/*/function' ? [having(place, {}, 'an empty object', 'empty')] : [],
  ),
)

const faultsAt = (name: string, kinds: Parameters<typeof ofOtherTypes>[0]) =>
  ofOtherTypes(kinds, { boolean: falsy.boolean }).map((fault) => ({
    ...fault,
    fault: `${fault.fault ?? ''} @ /${name}`,
  }))

/** Numbers, booleans and arrays, with the declared tools if the body has them. */
export const malformedToolChoice = condition(async ({ context, valid, judge }) => {
  const tools = declaredTools(context.run)
  const faults = faultsAt('tool_choice', ['number', 'boolean', 'array'])
  await judgeEach(sampled(context, faults), async ({ what, value, fault }) => {
    const probe = await valid()
    const equipped = tools === undefined ? probe : atRole(context.run, probe, 'tools', tools)
    await judge(
      { ...atRole(context.run, equipped, 'tool_choice', value), fault },
      `with a valid body, but tool_choice ${what}`,
    )
  })
})

/** With `stream: true`: words, numbers, booleans and arrays. */
export const invalidStreamOptions = condition(async ({ context, valid, judge }) => {
  const faults = faultsAt('stream_options', ['string', 'number', 'boolean', 'array'])
  await judgeEach(sampled(context, faults), async ({ what, value, fault }) => {
    const streaming = atRole(context.run, await valid(), 'stream', true)
    await judge(
      { ...atRole(context.run, streaming, 'stream_options', value), fault },
      `with a valid body, but stream_options ${what}`,
    )
  })
})
