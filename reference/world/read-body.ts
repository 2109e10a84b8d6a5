import { isMembers, type Call, type Members } from './call.ts'
import { jsonFaults } from './json-faults.ts'
import { planOf } from './plan.ts'

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
    const kind = type.split(';')[0] ?? ''
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
