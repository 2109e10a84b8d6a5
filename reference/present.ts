import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { type Switches, creations, shapeless } from './switches.ts'
import { type Answer, type Call, isMembers, type Members, ok } from './world/call.ts'

function everyObject(value: unknown, rewrite: (members: Members) => Members): unknown {
  if (Array.isArray(value)) return value.map((item) => everyObject(item, rewrite))
  if (!isMembers(value)) return value
  return rewrite(
    Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, everyObject(item, rewrite)]),
    ),
  )
}

const additional = { x_trace: { span: [1, null] }, hint: null, Größe: 17.5 }

const keysOfKind: Readonly<Record<string, string>> = {
  Conflict: 'fail.badRequest.invalidParameters',
  UnprocessableEntity: 'fail.badRequest.invalidParameters',
  PayloadTooLarge: 'fail.badRequest.invalidParameters',
  Gone: 'fail.notFound.resource',
  InsufficientStorage: 'fail.tooManyRequests.quotaExceeded',
  MethodNotAllowed: 'fail.notFound.resource',
}

const otherMessages: Readonly<Record<string, (message: Members, tpe: string) => Members[]>> = {
  'envelope/no-errors': () => [],
  'envelope/bare-errors': () => [{}],
  'envelope/without-key': ({ description, extras }) => [{ description, extras }],
  'envelope/without-description': ({ key, extras }) => [{ key, extras }],
  // §7.1 shows the extras of a blocked message, so they stay.
  'envelope/without-item-extras': ({ description, key, extras }) => [
    key === 'fail.guardrail.blocked' ? { description, key, extras } : { description, key },
  ],
  'envelope/unlisted-keys': (message) => [{ ...message, key: 'error.own.4711' }],
  'envelope/keys-of-kind': (message, tpe) => [
    { ...message, key: keysOfKind[tpe] ?? message['key'] },
  ],
  'envelope/several-errors': (message) => [message, { description: 'See above' }, message],
  'envelope/other-language': (message) => [
    { ...message, description: '要求を処理できません — requête refusée' },
  ],
}

/** Envelopes of a broken server, by variant of the defect `envelope/shape`; only with status 401. */
const misshapen: Readonly<Record<string, (body: Members) => unknown>> = {
  '': ({ tpe, errors }) => ({ tpe, errors }),
  '#no-tpe': ({ errors, extras }) => ({ errors, extras }),
  '#array': (body) => [body],
}

const wrongKeys: Readonly<Record<string, readonly [status: number, key: string]>> = {
  '': [401, 'fail.badRequest.invalidParameters'],
  '#not-found': [404, 'fail.tooManyRequests.quotaExceeded'],
  '#forbidden': [403, 'fail.unauthorized.badToken'],
}

function presentError(answer: Answer, switches: Switches): unknown {
  const { varied, brokenOf } = switches
  if (!switches.hasSome('envelope/')) return answer.body
  const body = answer.body as { readonly tpe: string; readonly errors: readonly Members[] }
  const message = body.errors[0] ?? {}
  const [status, key] = brokenOf('envelope/message-keys', wrongKeys) ?? []
  if (answer.status === status) return { ...body, errors: [{ ...message, key }] }
  const reshape = answer.status === 401 ? brokenOf('envelope/shape', misshapen) : undefined
  if (reshape) return reshape({ ...body })
  const variant = Object.keys(otherMessages).findLast(varied)
  const errors = variant ? otherMessages[variant]!(message, body.tpe) : body.errors
  const extras = varied('envelope/full-extras') && { extras: { request: { id: 17 }, tags: ['a'] } }
  return { ...body, errors, ...extras }
}

function present(answer: Answer, switches: Switches): unknown {
  let shown = answer.error ? presentError(answer, switches) : answer.body
  if (switches.varied('json/additional-members'))
    shown = everyObject(shown, (members) => ({ ...members, ...additional }))
  if (switches.varied('json/members-reversed'))
    shown = everyObject(shown, (members) => Object.fromEntries(Object.entries(members).reverse()))
  return shown
}

const others: Readonly<Record<string, Answer>> = {
  'no-content': { status: 204 },
  'plain-text': { status: 200, text: { type: 'text/plain', value: 'done {' } },
  empty: { status: 200 },
  'other-2xx': { status: 203, body: { done: true } },
  'json-scalar': ok(17),
}

/** The success of an operation, or another 2xx under a variant if the spec shows no shape. */
export function successes(answer: Answer, call: Call): Answer {
  if (answer.status >= 300) return answer
  if (creations.includes(call.operation)) {
    if (call.varied('successes/accepted-creations')) return { ...answer, status: 202 }
    return call.varied('successes/no-content-creations') ? { status: 204 } : answer
  }
  if (!shapeless.includes(call.operation)) return answer
  return call.world.switches.variedOf('successes/', others) ?? enlarged(answer, call)
}

/** Size of an added member in MiB, by variant: within and beyond what a client must be able to read. */
const sizes: Readonly<Record<string, number>> = { large: 3, huge: 9 }

const texts = new Map<number, string>()

export function largeText(size: number): string {
  const known = texts.get(size) ?? 'All about tea. '.repeat((size * 1024 * 1024) / 15)
  texts.set(size, known)
  return known
}

function enlarged(answer: Answer, call: Call): Answer {
  const size = call.world.switches.variedOf('answers/', sizes)
  const isOfFiles = ['files.list', 'files.retrieve'].includes(call.operation)
  if (size === undefined || !isOfFiles || !isMembers(answer.body)) return answer
  return { ...answer, body: { ...answer.body, description: largeText(size) } }
}

const encodings: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (bytes) => brotliCompressSync(bytes),
}

function jsonType(answer: Answer, switches: Switches): string {
  if (switches.broken('envelope/content-type') && answer.error) return 'text/plain'
  if (switches.broken('envelope/content-type#success') && !answer.error) return 'text/plain'
  if (switches.broken('envelope/content-type#missing') && answer.error) return ''
  if (switches.varied('headers/charset')) return 'application/json; charset=utf-8'
  if (switches.varied('headers/odd-content-type')) return 'Application/JSON;charset="UTF-8"'
  return 'application/json'
}

function headersOf(answer: Answer, switches: Switches): Headers {
  const headers = new Headers(answer.headers)
  const type = answer.text?.type ?? (answer.body === undefined ? '' : jsonType(answer, switches))
  if (type !== '') headers.set('content-type', type)
  if (switches.varied('connection/closed')) headers.set('connection', 'close')
  if (switches.varied('headers/many')) {
    headers.set('cache-control', 'no-store')
    headers.set('x-request-id', '42')
    headers.append('set-cookie', 'a=1; Path=/')
    headers.append('set-cookie', 'b=2; Path=/')
    headers.set('location', '/v1/elsewhere')
  }
  return headers
}

function inPieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  const size = Math.max(1, Math.ceil(bytes.length / 3))
  let at = 0
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve))
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + size))
      at += size
    },
  })
}

export function transmit(answer: Answer, acceptEncoding: string, switches: Switches): Response {
  const headers = headersOf(answer, switches)
  if (answer.text === undefined && answer.body === undefined)
    return new Response(null, { status: answer.status, headers })
  let text = answer.text?.value ?? JSON.stringify(present(answer, switches))
  if (switches.varied('json/spread') && answer.text === undefined) {
    const lines = JSON.stringify(JSON.parse(text), null, '\t')
    text = ` \r\n\t${lines.replaceAll('\n', '\r\n ')}\n\n `
  }
  if (switches.varied('ids/int64')) text = text.replace(/("id":\s*)"(90\d{14})"/, '$1$2')
  let bytes: Buffer = Buffer.from(text)
  for (const [name, compress] of Object.entries(encodings)) {
    if (switches.varied(`compressed/${name}`) && new RegExp(`\\b${name}\\b`).test(acceptEncoding)) {
      bytes = compress(bytes)
      headers.set('content-encoding', name)
    }
  }
  const body = switches.varied('connection/chunked') ? inPieces(bytes) : new Uint8Array(bytes)
  return new Response(body, { status: answer.status, headers })
}
