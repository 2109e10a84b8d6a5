import { isDeepStrictEqual } from 'node:util'
import { type Call, isMembers, type Members, jsonType, Ending, page } from './call.ts'
import { planOf } from './preloaded.ts'
import { essential } from '../switches/table.ts'

/** Anything in a body: the value itself, and all that is in it. */
function* within(value: unknown): Generator {
  yield value
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) yield* within(inner)
}

const some = (is: (value: unknown) => boolean) => (body: Members) => [...within(body)].some(is)
const someText = (is: (text: string) => boolean) =>
  some((value) => typeof value === 'string' && is(value))
const someMember = (is: (value: unknown) => boolean) => (body: Members) =>
  Object.values(body).some(is)
const someNumber = (is: (value: number) => boolean) =>
  some((value) => typeof value === 'number' && is(value))

/** Deeper than a parser goes, and longer than a column. */
const [deepest, longest] = [1000, 1100]

function depthOf(value: unknown): number {
  let depth = 0
  for (
    let inner = value;
    typeof inner === 'object' && inner !== null;
    inner = Object.values(inner)[0]
  )
    depth++
  return depth
}

const variablesOf = ({ variables }: Members): readonly unknown[] =>
  Array.isArray(variables) ? variables : []
const laterVariables = (body: Members) => variablesOf(body).slice(1)

/** Tests for what servers trip over in a body, by variant of the defect `bad-input-no-5xx`. */
const oddities: Readonly<Record<string, (body: Members, call: Call) => boolean>> = {
  nul: someText((text) => text.includes('\0')),
  'line-end': someText((text) => text.includes('\n')),
  surrogate: someText((text) => /\p{Cs}/u.test(text)),
  long: someText((text) => text.length > longest),
  '64-kib': someText((text) => text.length >= 65_536),
  'empty-text': someText((text) => text === ''),
  blank: someText((text) => text !== '' && text.trim() === ''),
  'object-member': someText((text) => text === '__proto__'),
  'empty-array': some((value) => Array.isArray(value) && value.length === 0),
  'empty-object': someMember((value) => isMembers(value) && Object.keys(value).length === 0),
  negative: someNumber((value) => value < 0),
  zero: someNumber((value) => value === 0),
  repeated: some(
    (value) =>
      Array.isArray(value) && value.length > 1 && isDeepStrictEqual(value[0], value.at(-1)),
  ),
  huge: someNumber((value) => value > Number.MAX_SAFE_INTEGER && Number.isFinite(value)),
  infinite: someNumber((value) => !Number.isFinite(value)),
  fraction: ({ max_tokens: most }) => Number.isFinite(most) && !Number.isInteger(most),
  'member-names': (body) => Object.hasOwn(body, '__proto__'),
  nested: someMember((value) => depthOf(value) > deepest),
  'later-item': (body) => laterVariables(body).some((item) => !isMembers(item)),
  'later-absent': (body) =>
    laterVariables(body).some((item) => isMembers(item) && !('name' in item && 'file_id' in item)),
  'unknown-word': ({ response_type: type, tool_choice: choice }) =>
    [type, choice].some(
      (word) => typeof word === 'string' && !/^(Entities|auto|none|required|.?)$/.test(word),
    ),
  alone: ({ tool_choice: choice, tools }) => choice === 'auto' && tools === undefined,
  equal: ({ source, target }) => typeof source === 'string' && source === target,
  'deleted-id': (body, { world }) =>
    [body, ...variablesOf(body)].some((item) => {
      const id = isMembers(item) ? item['file_id'] : undefined
      return typeof id === 'string' && world.store.files.get(id)?.state === 'deleted'
    }),
  'unknown-id': (body, { world }) =>
    [body, ...variablesOf(body)].some((item) => {
      const id = isMembers(item) ? item['file_id'] : undefined
      return typeof id === 'string' && id !== '' && !world.store.files.has(id)
    }),
  'no-members': (body) => Object.keys(body).length === 0,
  'null-member': someMember((value) => value === null),
  'absent-member': (body, { operation }) => !Object.hasOwn(body, essential[operation] ?? ''),
  coercible: someMember((value) => value === '1'),
  'deep-member': someMember((value) => isMembers(value) && Object.values(value).includes(null)),
}

/** Breaks on what is odd in a body or in its form, under the defects of `bad-input-no-5xx`. */
function breakOn(call: Call, kind: string, isSuch: boolean): void {
  call.breakIf(kind === '' ? 'bad-input-no-5xx' : `bad-input-no-5xx#${kind}`, isSuch)
}

function breakOnOddity(call: Call, body: Members): void {
  if (!call.world.switches.hasSome(`${call.operation}/bad-input-no-5xx#`)) return
  for (const [kind, has] of Object.entries(oddities)) breakOn(call, kind, has(body, call))
}

/** A string of JSON, so that nothing inside one is taken for a fault. */
const string = '"(?:[^"\\\\]|\\\\.)*"'

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Faults that lenient parsers overlook, and what shows each of them outside of strings. */
const overlooked: Readonly<Record<string, RegExp>> = {
  comma: /,\s*[,\]}]|[[{]\s*,/,
  comment: /\/[*/]/,
  hash: /#/,
  nan: /\b(?:NaN|Infinity)\b/,
  number: /(?<![\w.])(?:\+\.?\d|0\d|\.\d)/,
  'single-quotes': /'/,
  unquoted: /[{,]\s*[A-Za-z_$][\w$]*\s*:/,
  'line-end': /"\n"/,
  tab: /"\t"/,
}

/** Whether a whole value stands before what is too much; only a few characters are looked at. */
function hasTextAfterEnd(text: string): boolean {
  for (let end = text.length - 1; end > text.length - 40; end--)
    if (isJson(text.slice(0, end))) return true
  return false
}

/** Finds what a lenient parser would have to overlook in a text that is no JSON: kinds of fault. */
function jsonFaults(text: string): readonly string[] {
  const bare = text.replace(
    new RegExp(string, 'g'),
    (found) => `"${/[\n\t]/.exec(found)?.[0] ?? ''}"`,
  )
  const kinds = Object.keys(overlooked).filter((kind) => overlooked[kind]!.test(bare))
  if (kinds.length > 0) return kinds
  const count = (bracket: RegExp): number => bare.match(bracket)?.length ?? 0
  if (count(/[[{]/g) > count(/[\]}]/g) || count(/"/g) % 2 === 1) return ['cut']
  if (isJson(text.slice(0, text.length / 2))) return ['second-document']
  return hasTextAfterEnd(text) ? ['text-after-end'] : []
}

const jsonLabel = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i
// A byte order mark is kept, so that the JSON grammar refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Bytes that a gateway takes for too large, under its defects. */
const gatewayLimit = 200 * 1024

/** Breaks on a large body as a gateway would: with a page of its own, or by closing the connection. */
function breakOnLarge(call: Call): void {
  if (call.bytes.length < gatewayLimit) return
  const isUpload = call.operation === 'files.upload'
  if (call.broken('envelope/large-body#closed')) throw new Ending({ status: 500, lost: 'closed' })
  const isOnePath =
    call.operation === 'vision.analyze' && call.broken('envelope/large-body#one-path')
  if (isOnePath || call.broken(isUpload ? 'envelope/large-body#upload' : 'envelope/large-body'))
    throw new Ending(page(413))
}

/** Reads the bytes of the body, up to the plan's limit. */
export async function readBytes(call: Call): Promise<void> {
  call.bytes = new Uint8Array(await call.request.arrayBuffer())
  breakOnLarge(call)
  if (call.bytes.length <= planOf(call).body) return
  if (call.operation === 'files.upload') call.refuse('413-body-too-large', '413-BadRequest')
  call.refuse('general/413-payload-too-large', '413-PayloadTooLarge')
}

/** Operations whose defect of bad input shows on bytes that are not UTF-8: all else is another requirement's as well. */
const encodingBreaks: ReadonlySet<string> = new Set(['pdf.parse', 'jobs.create', 'chat.create'])

function decoded(call: Call): string {
  try {
    return utf8.decode(call.bytes)
  } catch {
    // §7.3 names bad encoding for text generation only; elsewhere it is malformed JSON.
    breakOn(call, '', encodingBreaks.has(call.operation))
    if (call.operation === 'completion.create')
      call.refuse('400-bad-encoding', '400-InvalidInputParameters')
    call.refuse('400-malformed-json', '400-InvalidContentType')
  }
}

/** Requirements about granted requests that a server fails which reads no escapes. */
const spelled = ['200-text', '2xx-accepted', '200-entities', '200-text-parts']

function parsed(call: Call): unknown {
  const text = decoded(call)
  try {
    if (/\\u00[4-7]/.test(text))
      for (const granted of spelled) call.breakIf(`${granted}#spelling`, true)
    return JSON.parse(text)
  } catch {
    call.refuse('400-malformed-json', '400-InvalidContentType', () => jsonFaults(text))
  }
}

/** Request members that may be left out; `null` in their place means that they are. */
const optionalMembers = new Set([
  ...[
    'temperature',
    'max_tokens',
    'top_p',
    'tools',
    'tool_choice',
    'stream',
    'stream_options',
    'response_format',
  ],
  ...['query_config', 'description'],
])

function checkMembers(call: Call, body: Members, known: readonly string[]): void {
  for (const [name, value] of Object.entries(body)) {
    if (call.varied('requests/unknown-members-rejected') && !known.includes(name))
      call.reject('400-BadRequest', `Unknown member ${name}`)
    if (call.varied('requests/nulls-rejected') && value === null && optionalMembers.has(name))
      call.reject('400-BadRequest', `${name} is null`)
  }
}

/** Refuses a body that is no object. An operation whose object the spec does not show may read something in `null` or an array. */
function refuseShapeless(call: Call, body: unknown, shapeless: string | undefined): never {
  const isShown = ['pdf.parse', 'chat.create', 'jobs.create'].includes(call.operation)
  if (!isShown && (body === null || Array.isArray(body))) {
    breakOn(call, body === null ? 'null-body' : '', true)
    call.reject('400-BadRequest', 'The body is not an object')
  }
  if (shapeless !== undefined) call.refuse(shapeless, '400-BadRequest', 'body')
  const isArrayOfOne = Array.isArray(body) && isMembers(body[0])
  return call.refuse(
    '4xx-malformed-body',
    '400-BadRequest',
    isArrayOfOne ? 'array-of-one' : jsonType(body),
  )
}

/** Reads a JSON body strictly: an object in UTF-8, labelled as JSON. */
export async function readJson(
  call: Call,
  members: readonly string[] = [],
  shapeless?: string,
): Promise<void> {
  await readBytes(call)
  breakOn(call, 'byte-order-mark', call.bytes[0] === 0xef && call.bytes[1] === 0xbb)
  breakOn(call, 'no-content-type', call.request.header('content-type') === undefined)
  const type = call.request.header('content-type') ?? ''
  if (!jsonLabel.test(type)) {
    const kind = type.startsWith('text/plain;') ? type : (type.split(';')[0] ?? '')
    call.refuse('400-wrong-content-type', '400-InvalidContentType', kind)
  }
  const place = { 'web-search.run': '#one-path', 'graphs.create': '#creations' }[call.operation]
  const isOdd = place !== undefined && call.broken(`envelope/charset-parameter${place}`)
  if (/charset/i.test(type) && (isOdd || call.broken('envelope/charset-parameter')))
    call.reject('400-InvalidContentType', 'The content type is not application/json')
  // The operations of §4.1 and §4.2 say that a body is required.
  const isRequired = call.operation === 'jobs.create' || call.operation === 'pdf.parse'
  if (isRequired && call.bytes.length === 0) call.refuse('400-missing-body', '400-BadRequest')
  breakOn(call, 'empty-body', call.bytes.length === 0)
  const needed = essential[call.operation]
  if (needed !== undefined && call.bytes.length === 0)
    call.refuse('4xx-missing-member', '400-BadRequest', 'no-body')
  const body = parsed(call)
  if (!isMembers(body)) return refuseShapeless(call, body, shapeless)
  breakOnOddity(call, body)
  if (needed !== undefined && !Object.hasOwn(body, needed))
    call.refuse('4xx-missing-member', '400-BadRequest', 'member')
  checkMembers(call, body, members)
  call.body = body
}
