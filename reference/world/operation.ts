import {
  type Answer,
  Ending,
  envelope,
  lostAnswer,
  type Call,
  verify,
  isMembers,
  type Members,
  page,
} from './call.ts'
import { generating, words, essential } from '../switches.ts'
import { simulationOf } from '../declared/scenarios.ts'
import { countUp, ownAccount, type Owned } from './world.ts'
import { planOf } from './preloaded.ts'

const bucketSize = 5

const blocked = {
  extras: { guardrail_name: 'safety', entity_type: 'PROMPT_ATTACK' },
  key: 'fail.guardrail.blocked',
}

/** Conditions that a header requests: `x-simulate` (`declared/scenarios.ts`), `x-rate-bucket` (a real limit). */
function simulate(call: Call): void {
  const asked = call.request.header('x-simulate')
  if (asked !== undefined) {
    const simulation = simulationOf(call.operation, asked)
    if (!simulation) call.reject('400-BadRequest', `x-simulate knows no ${asked}`)
    const { condition, usual } = simulation
    const isBlocked = condition === 'guardrails/400-blocked-by-provider'
    call.refuse(condition, usual, isBlocked ? blocked : {})
  }
  const bucket = call.request.header('x-rate-bucket')
  if (bucket !== undefined && countUp(call.world, `bucket ${bucket}`) > bucketSize) {
    call.refuse('429-quota-exceeded', '429-QuotaExceeded')
  }
}

export interface Operation<Found extends Owned = Owned> {
  readonly id: string
  /** Without a body; by default POST with one. */
  readonly method?: 'GET' | 'DELETE'
  readonly paths: readonly string[]
  readonly body?: 'raw'
  readonly members?: readonly string[]
  /** The requirement for the valid request, if every request of the operation depends on it. */
  requirement?(call: Call): string | undefined
  refused?(call: Call, status: number): void | Promise<void>
  gone?(call: Call): void
  /** May run before the key is known (`existence-first`): `foreign` and `ready` compare accounts. */
  find?(call: Call): Found
  readonly foreign?: string
  check?(call: Call): void
  fit?(call: Call, found: Found): void | Promise<void>
  ready?(call: Call, found: Found): void
  run(call: Call, found: Found): Answer | Promise<Answer>
  /** A plain success, for a server that should have refused; default: `{}`. */
  grant?(call: Call): Answer
}

const usual = 'authenticate authorize simulate read find access check fit ready'

const orders: Readonly<Record<string, string>> = {
  'body-first': 'read check authenticate authorize simulate find access fit ready',
  'existence-first': 'find authenticate authorize access simulate read check fit ready',
  'existence-before-body': 'authenticate authorize find access simulate read check fit ready',
  'state-first': 'authenticate authorize simulate find access ready read check fit',
  'rights-last': 'authenticate simulate read find access check fit ready authorize',
}

function isPlain(call: Call): boolean {
  return Object.keys(call.request.query()).length === 0 && call.body['query_config'] === undefined
}

/** A prime, so that repeated rounds hit different requests. */
const metEvery = 17

const keyless = ['no-errors', 'bare-errors', 'without-key', 'unlisted-keys']

function meets(what: string, call: Call, among?: readonly string[]): boolean {
  const variant = `generation/${what}-now-and-then`
  if (!call.world.switches.varied(variant) || among?.includes(call.operation) === false)
    return false
  return countUp(call.world, variant) % metEvery === 0
}

function meetGuardrails(call: Call): void {
  if (meets('input-blocked', call, generating)) call.reject('400-GuardrailBlockedError')
  // Only its key distinguishes a provider's block from another refusal.
  const isTold = !keyless.some((envelope) => call.varied(`envelope/${envelope}`))
  if (isTold && meets('provider-blocked', call))
    throw new Ending(envelope('400-BadRequest', blocked))
  if (meets('model-fails', call)) call.reject('500-CompletionModelInternalError')
}

function breakGranted(call: Call): void {
  call.rejectIf('2xx-accepted', true)
  if (call.account !== ownAccount) return
  const granted = countUp(call.world, `${call.operation} granted`)
  call.breakIf('2xx-accepted#first-only', granted > 1)
  call.rejectIf('2xx-accepted#later-400', granted > 1)
  call.breakIf('2xx-accepted#every-sixth', granted % 6 === 0)
  // Answers are cached, and an identical request breaks the cache.
  const same = `${call.operation} ${JSON.stringify(call.body)}`
  if (call.broken('2xx-accepted#once') && countUp(call.world, same) > 1)
    throw new Error('it is kept already')
  const hasRefused = call.world.counts.has(`${call.operation} refused`)
  call.rejectIf('2xx-accepted#after-refusal', hasRefused)
}

export function checkAccess(call: Call, object: Owned, condition: string): void {
  if (object.account !== call.account) call.refuse(condition, '403-InsufficientAccessRights')
}

export async function perform<Found extends Owned>(
  operation: Operation<Found>,
  call: Call,
): Promise<Answer> {
  const { switches } = call.world
  let found: Found | undefined
  // In each order, `find` comes before every step that uses its result.
  const steps: Readonly<Record<string, () => void | Promise<void>>> = {
    authenticate: () => authenticate(call),
    authorize: () => authorize(call),
    simulate: () => simulate(call),
    read: () => {
      if (operation.method) return
      return operation.body === 'raw' ? readBytes(call) : readJson(call, operation.members)
    },
    find: () => {
      found = operation.find?.(call)
    },
    access: () => {
      if (operation.foreign !== undefined) checkAccess(call, found as Found, operation.foreign)
    },
    check: () => {
      meetGuardrails(call)
      return operation.check?.(call)
    },
    fit: () => operation.fit?.(call, found as Found),
    ready: () => operation.ready?.(call, found as Found),
  }
  try {
    operation.gone?.(call)
    for (const step of words(switches.variedOf('order/', orders) ?? usual)) await steps[step]?.()
    const usualRequirement = isPlain(call) ? '2xx-accepted' : undefined
    const requirement = operation.requirement ? operation.requirement(call) : usualRequirement
    const lost = requirement && lostAnswer(switches, `${operation.id}/${requirement}`)
    if (lost) return lost
    if (requirement === '2xx-accepted') breakGranted(call)
    const answer = await operation.run(call, found as Found)
    if (meets('blocked', call, generating)) return envelope('400-GuardrailBlockedError')
    const isEnvelope = requirement === '2xx-accepted' && call.broken('2xx-accepted#envelope')
    return isEnvelope ? envelope('200-BadRequest') : answer
  } catch (error) {
    if (!(error instanceof Ending)) throw error
    if (error.answer.status === 400) countUp(call.world, `${operation.id} refused`)
    await operation.refused?.(call, error.answer.status)
    return error.answer
  }
}

/** §5.1, §5.2: a bearer key that we issued and that has not expired. */
async function authenticate(call: Call): Promise<void> {
  const header = call.request.header('authorization')
  if (header === undefined) call.refuse('401-missing-credentials')
  const token = /^Bearer +(\S+)$/i.exec(header)?.[1]
  // Every JWT begins like this (an object in base64url); a damaged one may have another letter case.
  if (token === undefined || !/^eyJ/i.test(token)) {
    const isUnknown =
      call.varied('keys/told-by-parts') && /^Bearer (?:\S+ |\w+\.\w+\.\w+$)/i.test(header)
    call.refuse('401-malformed-key', isUnknown ? '401-BadToken' : '401-BadCredentials')
  }
  const key = await verify(token)
  if (typeof key === 'string') call.refuse(`401-${key}-key`, '401-BadToken')
  call.key = key
}

/** §5.3: the key has the permission for the operation. */
function authorize(call: Call): void {
  const permissions = call.key?.permissions ?? []
  if (!permissions.includes('*') && !permissions.includes(call.operation))
    call.refuse('403-insufficient-rights')
}

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
