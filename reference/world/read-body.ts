import { isMembers, type Call, type Members } from './call.ts'
import { planOf } from './plan.ts'

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

/** Replaces what the pattern finds outside of strings. */
function outside(text: string, pattern: string, replace: (...groups: string[]) => string): string {
  return text.replace(new RegExp(`${string}|${pattern}`, 'g'), (found: string, ...groups: string[]) =>
    found.startsWith('"') ? found : replace(...groups),
  )
}

/** What lenient parsers overlook, and how they read it. */
const repairs: Readonly<Record<string, (text: string) => string>> = {
  comma: (text) => outside(text, ',(?=\\s*[,\\]}])|(?<=[[{]\\s*),', () => ''),
  comment: (text) => outside(text, '/\\*[\\s\\S]*?\\*/', () => ' '),
  'line-comment': (text) => outside(text, '(?://|#)[^\\n]*', () => ' '),
  nan: (text) => outside(text, '-?(?:NaN|Infinity)\\b', () => 'null'),
  number: (text) =>
    outside(text, '(?<![\\w.])(?:\\+|0+(?=\\d)|(?=\\.\\d))(\\.?\\d)', (digits) => digits.replace(/^\./, '0.')),
  'line-end': (text) =>
    text.replace(new RegExp(string.replace('[^', '[^'), 'g'), (found) => found.replaceAll('\n', '\\n')),
  'single-quotes': (text) => outside(text, "'((?:[^'\\\\]|\\\\.)*)'", (content) => JSON.stringify(content)),
  unquoted: (text) => outside(text, '([{,]\\s*)([A-Za-z_$][\\w$]*)(?=\\s*:)', (before, name) => `${before}"${name}"`),
}

/** Whether brackets or a string are still open at its end. */
function isCut(text: string): boolean {
  const bare = text.replace(new RegExp(string, 'g'), '')
  const count = (bracket: RegExp) => bare.match(bracket)?.length ?? 0
  return count(/[[{]/g) > count(/[\]}]/g) || bare.includes('"')
}

/** Whether a whole value stands before what is too much; only a few characters are looked at. */
function hasTextAfterEnd(text: string): boolean {
  for (let end = text.length - 1; end > text.length - 40; end--) if (isJson(text.slice(0, end))) return true
  return false
}

/** What a lenient parser would have to overlook in a text that is no JSON: kinds of fault. */
function jsonFaults(text: string): readonly string[] {
  const repaired = Object.entries(repairs).filter(([, repair]) => isJson(repair(text)))
  const kinds = repaired.map(([kind]) => kind)
  if (kinds.length > 0) return kinds
  if (isCut(text)) return ['cut']
  if (isJson(text.slice(0, text.length / 2))) return ['second-document']
  return hasTextAfterEnd(text) ? ['text-after-end'] : []
}

/** `application/json`, with UTF-8 as the only charset. */
const jsonLabel = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i
// A byte order mark is kept, so that the JSON grammar refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads the bytes of the body, up to the plan's limit. */
export async function readBytes(call: Call): Promise<void> {
  call.bytes = new Uint8Array(await call.request.arrayBuffer())
  if (call.bytes.length <= planOf(call).body) return
  if (call.operation === 'files.upload') call.refuse('413-body-too-large', 413, 'BadRequest')
  call.refuse('general/413-payload-too-large', 413, 'PayloadTooLarge')
}

function decoded(call: Call): string {
  try {
    return utf8.decode(call.bytes)
  } catch {
    // §7.3 names bad encoding for text generation only; elsewhere it is malformed JSON.
    if (call.operation === 'completion.create') call.refuse('400-bad-encoding', 400, 'InvalidInputParameters')
    call.refuse('400-malformed-json', 400, 'InvalidContentType', { description: 'The body is not UTF-8' })
  }
}

function parsed(call: Call): unknown {
  const text = decoded(call)
  try {
    return JSON.parse(text)
  } catch {
    const kind = jsonFaults(text)
    call.refuse('400-malformed-json', 400, 'InvalidContentType', { description: 'The body is not JSON', kind })
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

interface Expected {
  readonly members?: readonly string[]
  readonly shapeless?: (call: Call) => never
}

/** Reads a JSON body strictly: an object in UTF-8, labelled as JSON. */
export async function readJson(call: Call, { members, shapeless }: Expected): Promise<void> {
  await readBytes(call)
  const type = call.request.header('content-type') ?? ''
  if (!jsonLabel.test(type)) {
    const kind = type.startsWith('text/plain;') ? type : (type.split(';')[0] ?? '')
    call.refuse('400-wrong-content-type', 400, 'InvalidContentType', { kind })
  }
  // The operations of §4.1 and §4.2 say that a body is required.
  const named = call.operation === 'jobs.create' || call.operation === 'pdf.parse'
  if (named && call.bytes.length === 0) call.refuse('400-missing-body', 400, 'BadRequest')
  const body = parsed(call)
  if (!isMembers(body)) {
    shapeless?.(call)
    call.reject(400, 'BadRequest', 'The body is not an object')
  }
  checkMembers(call, body, members ?? [])
  call.body = body
}
