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

/** A change to the valid request of an operation. */
export interface Change {
  path?: string
  key?: string
  headers?: Record<string, string>
  params?: Record<string, string>
  body?: unknown
  merge?: Record<string, unknown>
  raw?: { text: string; contentType: string }
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

function bodyOf(operation: string, change: Change): { body?: string; type?: string } {
  const declared = target.operations[operation]
  if (change.raw) return { body: change.raw.text, type: change.raw.contentType }
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
  for (const [name, value] of Object.entries(change.headers ?? {})) headers.set(name, value)
  // What a client on a socket would say of itself.
  if (typeof server !== 'string' && body !== undefined)
    headers.set('content-length', String(Buffer.byteLength(body)))
  return reply(await reach(server, path, { method, headers, ...(body !== undefined && { body }) }))
}

/** Another path, with the full key. */
export async function get(server: Server, path: string): Promise<Reply> {
  return reply(
    await reach(server, path, { headers: { authorization: `Bearer ${target.keys.full}` } }),
  )
}
