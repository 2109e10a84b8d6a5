import { isDeepStrictEqual } from 'node:util'
import { type Call, isMembers, type Members, jsonType } from './call.ts'
import { Ending, page } from './answer.ts'
import { planOf } from './models.ts'

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
  'line-end': someText((text) => text.includes('\n')),
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
  'later-absent': (body) =>
    variablesOf(body)
      .slice(1)
      .some((item) => isMembers(item) && !('name' in item && 'file_id' in item)),
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
  comment: /\/[*/]|#/,
  nan: /\b(?:NaN|Infinity)\b/,
  number: /(?<![\w.])(?:\+\.?\d|0\d|\.\d)/,
  'single-quotes': /'/,
  unquoted: /[{,]\s*[A-Za-z_$][\w$]*\s*:/,
  'line-end': /"\n"/,
}

/** Whether a whole value stands before what is too much; only a few characters are looked at. */
function hasTextAfterEnd(text: string): boolean {
  for (let end = text.length - 1; end > text.length - 40; end--) if (isJson(text.slice(0, end))) return true
  return false
}

/** Finds what a lenient parser would have to overlook in a text that is no JSON: kinds of fault. */
function jsonFaults(text: string): readonly string[] {
  const bare = text.replace(new RegExp(string, 'g'), (found) => (found.includes('\n') ? '"\n"' : '""'))
  const kinds = Object.keys(overlooked).filter((kind) => overlooked[kind]!.test(bare))
  if (kinds.length > 0) return kinds
  const count = (bracket: RegExp): number => bare.match(bracket)?.length ?? 0
  if (count(/[[{]/g) > count(/[\]}]/g) || count(/"/g) % 2 === 1) return ['cut']
  if (isJson(text.slice(0, text.length / 2))) return ['second-document']
  return hasTextAfterEnd(text) ? ['text-after-end'] : []
}

/** `application/json`, with UTF-8 as the only charset. */
const jsonLabel = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i
// A byte order mark is kept, so that the JSON grammar refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Sizes that a gateway takes for too large, under its defects. */
const gatewayLimit = 200 * 1024

/** Breaks on a large body as a gateway would: with a page of its own, or by closing the connection. */
function breakOnLarge(call: Call): void {
  const { broken } = call.world.switches
  if (call.bytes.length < gatewayLimit) return
  const isUpload = call.operation === 'files.upload'
  if (broken('envelope/large-body#closed')) throw new Ending({ status: 500, lost: 'closed' })
  if (broken(isUpload ? 'envelope/large-body#upload' : 'envelope/large-body')) throw new Ending(page(413))
  if (call.operation === 'vision.analyze' && broken('envelope/large-body#one-path')) throw new Ending(page(413))
}

/** Reads the bytes of the body, up to the plan's limit. */
export async function readBytes(call: Call): Promise<void> {
  call.bytes = new Uint8Array(await call.request.arrayBuffer())
  breakOnLarge(call)
  if (call.bytes.length <= planOf(call).body) return
  if (call.operation === 'files.upload') call.refuse('413-body-too-large', 413, 'BadRequest')
  call.refuse('general/413-payload-too-large', 413, 'PayloadTooLarge')
}

/** Operations whose defect of bad input shows on bytes that are not UTF-8: all else is another requirement's as well. */
const encodingBreaks: ReadonlySet<string> = new Set(['pdf.parse', 'jobs.create', 'chat.create'])

function decoded(call: Call): string {
  try {
    return utf8.decode(call.bytes)
  } catch {
    // §7.3 names bad encoding for text generation only; elsewhere it is malformed JSON.
    if (encodingBreaks.has(call.operation) && call.broken('bad-input-no-5xx')) throw new Error('bad encoding')
    if (call.operation === 'completion.create') call.refuse('400-bad-encoding', 400, 'InvalidInputParameters')
    call.refuse('400-malformed-json', 400, 'InvalidContentType', { description: 'The body is not UTF-8' })
  }
}

/** Requirements about granted requests that a server fails which reads no escapes. */
const spelled = ['200-text', '2xx-accepted', '200-entities', '200-text-parts']

function parsed(call: Call): unknown {
  const text = decoded(call)
  try {
    if (/\\u00[4-7]/.test(text) && spelled.some((granted) => call.broken(`${granted}#spelling`)))
      throw new Error('an escape')
    return JSON.parse(text)
  } catch {
    call.refuse('400-malformed-json', 400, 'InvalidContentType', {
      description: 'The body is not JSON',
      kind: () => jsonFaults(text),
    })
  }
}

/** Request members that may be left out; `null` in their place means that they are. */
const optionalMembers = new Set([
  ...['temperature', 'max_tokens', 'top_p', 'tools', 'tool_choice', 'stream', 'stream_options', 'response_format'],
  ...['query_config', 'description'],
])

function checkMembers(call: Call, body: Members, known: readonly string[]): void {
  for (const [name, value] of Object.entries(body)) {
    if (call.varied('requests/unknown-members-rejected') && !known.includes(name)) {
      call.reject(400, 'BadRequest', `Unknown member ${name}`)
    }
    if (call.varied('requests/nulls-rejected') && value === null && optionalMembers.has(name)) {
      call.reject(400, 'BadRequest', `${name} is null`)
    }
  }
}

/** A body that only an operation whose object the spec shows need refuse: another may read something in it. */
function isLoose(call: Call, body: unknown): boolean {
  const isShown = ['pdf.parse', 'chat.create', 'jobs.create'].includes(call.operation)
  return !isShown && (body === null || Array.isArray(body))
}

/** Breaks under the defect of that kind; a right server refuses. */
function breakOn(call: Call, kind: string): never {
  if (call.broken(`bad-input-no-5xx${kind === '' ? '' : `#${kind}`}`)) throw new Error(`a body of the kind ${kind}`)
  return call.reject(400, 'BadRequest', 'The body is not an object')
}

/** The member without which a request of the operation means nothing. */
const essential: Readonly<Record<string, string>> = {
  'completion.create': 'model',
  'chat.create': 'model',
  'vision.analyze': 'model',
  'web-search.run': 'query',
  'translate.run': 'text',
}

/** Defects of servers that trust the members of a body. */
function breakOnMembers(call: Call, body: Members): void {
  if (!call.world.switches.hasSome(`${call.operation}/bad-input-no-5xx#`)) return
  const broken = (kind: string): boolean => call.broken(`bad-input-no-5xx#${kind}`)
  const values = Object.values(body)
  const breaks =
    (broken('no-members') && values.length === 0) ||
    (broken('null-member') && values.includes(null)) ||
    (broken('absent-member') && !Object.hasOwn(body, essential[call.operation] ?? '')) ||
    (broken('coercible') && values.includes('1')) ||
    (broken('deep-member') && values.some((value) => isMembers(value) && Object.values(value).includes(null)))
  if (breaks) throw new Error('a member is not what was expected')
  breakOnOddity(call, body)
}

interface Expected {
  readonly members?: readonly string[]
  readonly shapeless?: (call: Call) => never
}

/** Reads a JSON body strictly: an object in UTF-8, labelled as JSON. */
export async function readJson(call: Call, { members, shapeless }: Expected): Promise<void> {
  await readBytes(call)
  breakOnForm(call)
  const type = call.request.header('content-type') ?? ''
  if (!jsonLabel.test(type)) {
    const kind = type.startsWith('text/plain;') ? type : (type.split(';')[0] ?? '')
    call.refuse('400-wrong-content-type', 400, 'InvalidContentType', { kind })
  }
  const { broken } = call.world.switches
  const isHere =
    (call.operation === 'web-search.run' && broken('envelope/charset-parameter#one-path')) ||
    (call.operation === 'graphs.create' && broken('envelope/charset-parameter#creations'))
  if (/charset/i.test(type) && (isHere || broken('envelope/charset-parameter')))
    call.reject(400, 'InvalidContentType', 'The content type is not application/json')
  // The operations of §4.1 and §4.2 say that a body is required.
  const named = call.operation === 'jobs.create' || call.operation === 'pdf.parse'
  if (named && call.bytes.length === 0) call.refuse('400-missing-body', 400, 'BadRequest')
  if (call.bytes.length === 0 && call.broken('bad-input-no-5xx#empty-body')) throw new Error('no body')
  const body = parsed(call)
  if (!isMembers(body)) {
    if (isLoose(call, body)) return breakOn(call, jsonType(body) === 'null' ? 'null-body' : '')
    shapeless?.(call)
    call.refuse('4xx-malformed-body', 400, 'BadRequest', {
      description: 'The body is not an object',
      kind: Array.isArray(body) && isMembers(body[0]) ? 'array-of-one' : jsonType(body),
    })
  }
  breakOnMembers(call, body)
  checkMembers(call, body, members ?? [])
  call.body = body
}
