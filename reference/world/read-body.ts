import { type Call, isMembers, type Members, Ending, page } from './call.ts'
import { planOf } from './preloaded.ts'
import { essential, words } from '../switches/table.ts'

const jsonLabel = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i
// Keeps a byte order mark, so that the JSON grammar refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Bytes that a gateway considers too large, under its defects. */
const gatewayLimit = 200 * 1024

function breakOnLarge(call: Call): void {
  if (call.bytes.length < gatewayLimit) return
  if (call.broken('envelope/large-body#closed')) throw new Ending({ status: 500, lost: 'closed' })
  const isRefused = call.brokenIn('envelope/large-body', {
    '': call.operation !== 'files.upload',
    '#upload': call.operation === 'files.upload',
    '#one-path': call.operation === 'vision.analyze',
  })
  if (isRefused) throw new Ending(page(413))
}

export async function readBytes(call: Call): Promise<void> {
  call.bytes = new Uint8Array(await call.request.arrayBuffer())
  breakOnLarge(call)
  if (call.bytes.length <= planOf(call).body) return
  if (call.operation === 'files.upload') call.refuse('413-body-too-large', '413-BadRequest')
  call.refuse('general/413-payload-too-large', '413-PayloadTooLarge')
}

/** The spec shows their bodies, so their defect of bad input is left only bytes that are not UTF-8. */
const showingBody: ReadonlySet<string> = new Set(['pdf.parse', 'jobs.create', 'chat.create'])

function decoded(call: Call): string {
  try {
    return utf8.decode(call.bytes)
  } catch {
    // §7.3 names bad encoding for text generation only; elsewhere it is malformed JSON.
    call.breakIf('bad-input-no-5xx', showingBody.has(call.operation))
    if (call.operation === 'completion.create')
      call.refuse('400-bad-encoding', '400-InvalidInputParameters')
    call.refuse('400-malformed-json', '400-InvalidContentType')
  }
}

/** Requirements that fail if a server cannot read escapes in valid requests. */
const spelled = ['200-text', '2xx-accepted', '200-entities', '200-text-parts']

function parsed(call: Call): unknown {
  const text = decoded(call)
  try {
    if (/\\u00[4-7]/.test(text))
      for (const granted of spelled) call.breakIf(`${granted}#spelling`, true)
    return JSON.parse(text)
  } catch {
    call.refuse('400-malformed-json', '400-InvalidContentType')
  }
}

const optionalMembers = new Set(
  words(`temperature max_tokens top_p tools tool_choice stream stream_options response_format
    query_config description`),
)

function checkMembers(call: Call, body: Members, known: readonly string[]): void {
  for (const [name, value] of Object.entries(body)) {
    if (call.varied('requests/unknown-members-rejected') && !known.includes(name))
      call.reject('400-BadRequest', `Unknown member ${name}`)
    if (call.varied('requests/nulls-rejected') && value === null && optionalMembers.has(name))
      call.reject('400-BadRequest', `${name} is null`)
  }
}

/**
 * Refuses a body that is not an object. If the spec does not show the object, an operation may accept `null` or an
 * array.
 */
function refuseShapeless(call: Call, body: unknown): never {
  if (!showingBody.has(call.operation) && (body === null || Array.isArray(body))) {
    call.breakIf('bad-input-no-5xx', true)
    call.reject('400-BadRequest', 'The body is not an object')
  }
  if (call.operation === 'jobs.create') call.refuse('400-malformed-inputs')
  return call.refuse('4xx-malformed-body', '400-BadRequest')
}

/** Reads a JSON body strictly: an object in UTF-8, labelled as JSON. */
export async function readJson(call: Call, members: readonly string[] = []): Promise<void> {
  await readBytes(call)
  const type = call.request.header('content-type') ?? ''
  if (!jsonLabel.test(type)) call.refuse('400-wrong-content-type', '400-InvalidContentType')
  const isOdd = call.brokenIn('envelope/charset-parameter', {
    '': true,
    '#one-path': call.operation === 'web-search.run',
    '#creations': call.operation === 'graphs.create',
  })
  if (/charset/i.test(type) && isOdd)
    call.reject('400-InvalidContentType', 'The content type is not application/json')
  // §4.1 and §4.2 say that a body is required.
  const isRequired = call.operation === 'jobs.create' || call.operation === 'pdf.parse'
  if (isRequired && call.bytes.length === 0) call.refuse('400-missing-body')
  const needed = essential[call.operation]
  if (needed !== undefined && call.bytes.length === 0)
    call.refuse('4xx-missing-member', '400-BadRequest')
  const body = parsed(call)
  if (!isMembers(body)) return refuseShapeless(call, body)
  if (needed !== undefined && !Object.hasOwn(body, needed))
    call.refuse('4xx-missing-member', '400-BadRequest')
  checkMembers(call, body, members)
  call.body = body
}
