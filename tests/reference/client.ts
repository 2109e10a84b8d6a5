import reference from '../../fixtures/reference.target.json' with { type: 'json' }
import { operationTable } from '../spec/tables.ts'
import { inVirtualTime } from '../support/virtual-time.ts'
import {
  createReference,
  needsSocket,
  startReference,
  type ReferenceOptions,
} from '../../reference/server.ts'

/** ms after which a reference in these tests can use what was made, or has refused slowly. */
export const settleMs = 80

/** Looks at a requirement: whether the server keeps it. */
export type Story = (server: Server) => Promise<boolean>

/** A server: its base URL, or what answers in the same process. */
export type Server = string | ((request: Request) => Promise<Response>)

/** A change to the valid request of an operation, as the scenarios of the target file spell it. */
export interface Change {
  operation?: string
  path?: string
  key?: string
  headers?: Record<string, string | undefined>
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  merge?: Record<string, unknown>
  raw?: { text?: string; base64?: string; contentType: string }
  repeat?: number
  before?: readonly Side[]
  after?: readonly Side[]
}

interface Side {
  method: string
  url: string
  headers?: Record<string, string>
  body?: unknown
}

/** The target file of the reference. */
export const target: any = reference

const { resources } = target
const inputs = resources.application.inputs

/** Method, path, and the body of a valid request that the target file does not declare, by operation. */
export const routes: Record<string, [method: string, path: string, body?: object]> =
  Object.fromEntries(
    Object.entries(operationTable).map(([id, [route]]) => {
      const [method = '', path = ''] = route.split(' ')
      return [
        id,
        [method, path, { 'pdf.parse': { format: 'text' }, 'jobs.create': { inputs } }[id]],
      ]
    }),
  )

const parameters = (operation: string): Record<string, string> => ({
  file_id: operation === 'pdf.parse' ? resources.pdfFile : resources.file,
  application_id: resources.application.id,
  job_id: resources.job,
  graph_id: resources.graph,
})

export interface Reply {
  status: number
  type: string
  headers: Headers
  text: string
  /** Undefined if it is not JSON. */
  json: any
}

async function reply(response: Response): Promise<Reply> {
  const text = await response.text()
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  const { status, headers } = response
  return { status, headers, type: headers.get('content-type') ?? '', text, json }
}

function bodyOf(
  operation: string,
  change: Change,
): { body?: string | Buffer<ArrayBuffer>; type?: string } {
  const declared = target.operations[operation]
  if (change.raw) {
    const { text, base64, contentType: type } = change.raw
    return { body: text ?? Buffer.from(base64 ?? '', 'base64'), type }
  }
  if (operation === 'files.upload')
    return { body: declared?.content?.text ?? '', type: 'text/plain' }
  const valid = routes[operation]?.[2] ?? declared?.body
  if (valid === undefined) return {}
  const body = 'body' in change ? change.body : { ...valid, ...change.merge }
  return { body: JSON.stringify(body), type: 'application/json' }
}

function reach(server: Server, path: string, init: RequestInit): Promise<Response> {
  return typeof server === 'string'
    ? fetch(`${server}${path}`, init)
    : server(new Request(`http://reference.localhost${path}`, init))
}

/**
 * Starts a reference for as long as something is done with it: in this process and in virtual time, unless a switch needs a
 * socket. One at a time: the clock is the whole process's.
 */
export async function withReference<Result>(
  options: ReferenceOptions,
  use: (server: Server) => Promise<Result>,
): Promise<Result> {
  const names = [...(options.defects ?? []), ...(options.variants ?? [])]
  if (!names.some(needsSocket)) {
    return inVirtualTime(() => {
      const { handle } = createReference(options)
      return use((request) => handle(request))
    })
  }
  const { url, close } = await startReference(options)
  try {
    return await use(url)
  } finally {
    await close()
  }
}

/** Sends the valid request of an operation with one change. */
export async function send(server: Server, operation: string, change: Change = {}): Promise<Reply> {
  const [method, template] = routes[operation] ?? ['GET', '/']
  const known: Record<string, string> = { ...parameters(operation), ...change.params }
  const path = (change.path ?? template).replace(
    /\{(\w+)\}/g,
    (_, name: string) => known[name] ?? '',
  )
  const { body, type } = bodyOf(operation, change)
  const headers = new Headers({
    authorization: `Bearer ${change.key ?? target.keys.full}`,
    'user-agent': 'tea',
  })
  if (type !== undefined) headers.set('content-type', type)
  if (operation === 'files.upload')
    headers.set('content-disposition', 'attachment; filename="green-tea.txt"')
  for (const [name, value] of Object.entries(change.headers ?? {})) {
    if (value === undefined) headers.delete(name)
    else headers.set(name, value)
  }
  // What a client on a socket would say of itself.
  if (typeof server !== 'string' && body !== undefined)
    headers.set('content-length', String(Buffer.byteLength(body)))
  const query = change.query ? `?${new URLSearchParams(change.query).toString()}` : ''
  return reply(
    await reach(server, `${path}${query}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    }),
  )
}

async function aside(server: Server, sides: readonly Side[] = []): Promise<void> {
  for (const { body, headers, method, url } of sides) {
    const all = { authorization: `Bearer ${target.keys.full}`, ...headers }
    await reach(server, url, { method, headers: all, body: JSON.stringify(body) })
  }
}

/** Sends what a scenario of the target file describes; a repeated one until the answer is no success. */
export async function play(server: Server, id: string): Promise<Reply> {
  const scenario: Change = target.scenarios[id] ?? {}
  const operation = scenario.operation ?? id.slice(0, id.indexOf('/'))
  await aside(server, scenario.before)
  try {
    let last = await send(server, operation, scenario)
    for (let sent = 1; sent < (scenario.repeat ?? 1) && last.status < 300; sent++)
      last = await send(server, operation, scenario)
    return last
  } finally {
    await aside(server, scenario.after)
  }
}

/** Another path, with the full key. */
export async function get(server: Server, path: string): Promise<Reply> {
  return reply(
    await reach(server, path, { headers: { authorization: `Bearer ${target.keys.full}` } }),
  )
}
