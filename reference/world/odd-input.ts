import { isDeepStrictEqual } from 'node:util'
import { type Call, isMembers, type Members } from './call.ts'

/** Anything in a body: the value itself, and all that is in it. */
function* within(value: unknown): Generator {
  yield value
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) yield* within(inner)
}

const some = (is: (value: unknown) => boolean) => (body: Members) => [...within(body)].some(is)
const someText = (is: (text: string) => boolean) => some((value) => typeof value === 'string' && is(value))
const someNumber = (is: (value: number) => boolean) => some((value) => typeof value === 'number' && is(value))

/** Deeper than a parser goes, and longer than a column. */
const [deepest, longest] = [1000, 1100]

function depthOf(value: unknown): number {
  let depth = 0
  for (let inner = value; typeof inner === 'object' && inner !== null; inner = Object.values(inner)[0]) depth++
  return depth
}

const variablesOf = ({ variables }: Members): readonly unknown[] => (Array.isArray(variables) ? variables : [])

/** Tests for what servers trip over in a body, by variant of the defect `bad-input-no-5xx`. */
const oddities: Readonly<Record<string, (body: Members, call: Call) => boolean>> = {
  nul: someText((text) => text.includes('\0')),
  surrogate: someText((text) => /\p{Cs}/u.test(text)),
  long: someText((text) => text.length > longest),
  'empty-text': someText((text) => text === ''),
  blank: someText((text) => text !== '' && text.trim() === ''),
  'empty-array': some((value) => Array.isArray(value) && value.length === 0),
  'empty-object': (body) => Object.values(body).some((value) => isMembers(value) && Object.keys(value).length === 0),
  negative: someNumber((value) => value < 0),
  zero: someNumber((value) => value === 0),
  repeated: some((value) => Array.isArray(value) && value.length > 1 && isDeepStrictEqual(value[0], value.at(-1))),
  huge: someNumber((value) => value > Number.MAX_SAFE_INTEGER && Number.isFinite(value)),
  infinite: someNumber((value) => !Number.isFinite(value)),
  fraction: ({ max_tokens: most }) => typeof most === 'number' && Number.isFinite(most) && !Number.isInteger(most),
  'member-names': (body) => Object.hasOwn(body, '__proto__'),
  nested: (body) => Object.values(body).some((value) => depthOf(value) > deepest),
  'later-item': (body) =>
    variablesOf(body)
      .slice(1)
      .some((item) => !isMembers(item)),
  'unknown-word': ({ response_type: type, tool_choice: choice }) =>
    [type, choice].some((word) => typeof word === 'string' && !/^(Entities|auto|none|required|.?)$/.test(word)),
  alone: ({ tool_choice: choice, tools }) => choice === 'auto' && tools === undefined,
  'unknown-id': (body, { world }) =>
    [body, ...variablesOf(body)].some((item) => {
      const id = isMembers(item) ? item['file_id'] : undefined
      return typeof id === 'string' && id !== '' && !world.store.files.has(id)
    }),
}

/** Breaks on an odd form of the body, before it is read. */
export function breakOnForm(call: Call): void {
  const isMarked = call.bytes[0] === 0xef && call.bytes[1] === 0xbb
  if (isMarked && call.broken('bad-input-no-5xx#byte-order-mark')) throw new Error('a byte order mark')
  const hasType = call.request.header('content-type') !== undefined
  if (!hasType && call.broken('bad-input-no-5xx#no-content-type')) throw new Error('no content type')
}

/** Breaks on an odd value in the body. */
export function breakOnOddity(call: Call, body: Members): void {
  for (const [kind, has] of Object.entries(oddities)) {
    const name = `bad-input-no-5xx#${kind}`
    if (call.world.switches.hasSome(`${call.operation}/${name}`) && has(body, call) && call.broken(name))
      throw new Error(`${kind} in the body`)
  }
}
