import type { Answer } from '../world/answer.ts'
import type { Call } from '../world/call.ts'
import { fileView } from '../world/file-view.ts'
import { newId } from '../world/ids.ts'
import type { Operation } from '../world/operation.ts'
import { planOf } from '../world/plan.ts'
import { processedFrom } from '../world/processing.ts'
import { isSettling } from '../world/settling.ts'
import type { Graph, StoredFile } from '../world/store.ts'

const supported =
  /^(text\/(plain|markdown|csv|html)|application\/(pdf|json|msword|octet-stream)|image\/(png|jpeg|gif|webp))$/
const pdfMark = '%PDF-'

function mediaType(call: Call): string {
  return (call.request.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

/** Percent-encoded bytes, one character each. */
function unescaped(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
}

/** The name in `attachment; filename="..."` (RFC 6266). */
function filename(call: Call): string | undefined {
  const header = call.request.header('content-disposition') ?? ''
  const extended = /filename\*=UTF-8''((?:%[0-9a-f]{2}|[^;\s%])+)/i.exec(header)?.[1]
  if (extended !== undefined) return Buffer.from(unescaped(extended), 'latin1').toString()
  const [, quoted, token] = /filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header) ?? []
  return quoted?.replace(/\\(.)/g, '$1') ?? token
}

function check(call: Call): void {
  const type = mediaType(call)
  if (!supported.test(type)) call.refuse('400-unsupported-type', 400, 'BadRequest', { description: `type ${type}` })
  if (filename(call) === undefined) call.reject(400, 'BadRequest', 'Content-Disposition names no file')
  if (call.bytes.length > planOf(call).file) call.refuse('400-oversized', 400, 'InvalidInputParameters')
  if (type === 'application/pdf' && !Buffer.from(call.bytes.subarray(0, 1024)).includes(pdfMark)) {
    call.refuse('400-corrupted', 400, 'InvalidContentType', { description: 'The file is no PDF' })
  }
}

function graphOf(call: Call): Graph | undefined {
  const id = call.request.query('graphId')
  if (id === undefined) return undefined
  const graph = call.world.store.graphs.get(id)
  if (!graph || isSettling(call.world, 'graphs', graph)) call.reject(404, 'ResourceNotFound', 'graphId is no graph')
  if (graph.account !== call.key?.account) call.reject(403, 'InsufficientAccessRights')
  if (call.broken('2xx-attached-to-graph#refused')) call.reject(400, 'BadRequest', 'graphId is not supported')
  return call.broken('2xx-attached-to-graph') ? undefined : graph
}

/** The file of those bytes that the account has already, if files are known by their content. */
function known(call: Call, account: string): StoredFile | undefined {
  if (!call.varied('files/known-by-content')) return undefined
  const files = [...call.world.store.files.values()]
  return files.find(
    (file) => file.account === account && file.state === 'stored' && Buffer.compare(file.bytes(), call.bytes) === 0,
  )
}

function run(call: Call): Answer {
  const { world } = call
  const account = call.key?.account ?? ''
  // The account "full" has used up its storage (§8.4).
  if (account === 'full') call.refuse('507-storage-full', 507, 'QuotaExceeded')
  const graph = graphOf(call)
  const name = filename(call) ?? ''
  const type = mediaType(call)
  const bytes = call.bytes
  const now = world.clock.now()
  const { id, createdAt } = known(call, account) ?? { id: newId(world, 'file'), createdAt: now }
  const file: StoredFile = { id, account, name, type, bytes: () => bytes, state: 'stored', createdAt, made: true }
  world.store.files.set(id, file)
  if (graph && !graph.files.has(id)) graph.files.set(id, { by: 'upload', from: processedFrom(world) })
  return { status: 200, body: fileView(world, file) }
}

/** §4.4, §2.8: the bytes of one file, its name and type in the headers. */
export const filesUpload: Operation = {
  id: 'files.upload',
  method: 'POST',
  paths: ['/v1/files'],
  body: 'raw',
  check,
  run,
  grant: (call) => ({ status: 200, body: { id: newId(call.world, 'file'), name: 'file' } }),
}
