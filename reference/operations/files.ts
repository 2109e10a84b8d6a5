import { extname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Answer, mispaired, Ending, page } from '../world/answer.ts'
import { type Call, jsonType } from '../world/call.ts'
import { checkFileAccess, fileView, reachable, pdfContent, pdfText } from '../world/files.ts'
import { nameCheckMs, newId, likenessOf, namedBy, processedFrom, isSettling, breakUse } from '../world/created.ts'
import type { Operation } from '../world/operation.ts'
import { planOf, pdfLimit } from '../world/models.ts'
import { type Graph, type StoredFile, type World, countUp } from '../world/world.ts'

const supported =
  /^(text\/(plain|markdown|csv|html)|application\/(pdf|json|msword|octet-stream)|image\/(png|jpeg|gif|webp))$/
const pdfMark = '%PDF-'

function mediaType(call: Call): string {
  return (call.request.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

/** The name in `attachment; filename="..."` (RFC 6266). */
function filename(call: Call): string | undefined {
  const header = call.request.header('content-disposition') ?? ''
  const extended = /filename\*=UTF-8''((?:%[0-9a-f]{2}|[^;\s%])+)/i.exec(header)?.[1]
  if (extended !== undefined) {
    const bytes = extended.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    return Buffer.from(bytes, 'latin1').toString()
  }
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
  if (!graph && call.broken('2xx-attached-to-graph#unknown-5xx')) throw new Error('no such graph')
  if (!graph || isSettling(call.world, 'graphs', graph)) call.reject(404, 'ResourceNotFound', 'graphId is no graph')
  if (graph.account !== call.key?.account) call.reject(403, 'InsufficientAccessRights')
  if (call.broken('2xx-attached-to-graph#refused')) call.reject(400, 'BadRequest', 'graphId is not supported')
  return call.broken('2xx-attached-to-graph') ? undefined : graph
}

/** The file of those bytes that the account has already, if files are known by their content. */
function known(call: Call, account: string): StoredFile | undefined {
  if (!call.varied('files/known-by-content') && !call.varied('files/refused-twice')) return undefined
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
  if (type === 'application/pdf' && call.broken('2xx-accepted#pdf')) throw new Error('no PDF is read')
  const before = known(call, account)
  if (before && call.varied('files/refused-twice')) call.reject(409, 'Conflict', 'The file exists')
  const { id, createdAt } = before ?? { id: newId(world, 'file'), createdAt: now }
  const file: StoredFile = { id, account, name, type, bytes: () => bytes, state: 'stored', createdAt, made: true }
  world.store.files.set(id, file)
  if (graph && !graph.files.has(id)) graph.files.set(id, { by: 'upload', from: processedFrom(world) })
  return { status: 200, body: fileView(world, namedBy(call, world.store.files.values(), file)) }
}

/** §4.4, §2.8: the bytes of one file, its name and type in the headers. */
export const filesUpload: Operation = {
  id: 'files.upload',
  paths: ['/v1/files'],
  body: 'raw',
  check,
  run,
  grant: (call) => ({ status: 200, body: { id: newId(call.world, 'file'), name: 'file' } }),
}

/** So many uploaded files break the listing, under the defect `2xx-accepted#many`. */
const manyFiles = 10

const pageSize = 50

/** §4.4: the newest files, those of `file_types` if it is given (§2.8). */
export const filesList: Operation = {
  id: 'files.list',
  method: 'GET',
  paths: ['/v1/files'],
  run: (call: Call) => {
    const asked = call.request.query('file_types')
    const uploaded = [...call.world.store.files.values()].filter(({ made }) => made).length
    const isPlain = asked === undefined && call.request.header('x-rate-bucket') === undefined
    if (call.broken('2xx-accepted#many') && isPlain && uploaded > manyFiles) throw new Error('too many files')
    if (asked !== undefined && call.broken('2xx-file-types')) call.reject(400, 'BadRequest', 'file_types is unknown')
    if (asked !== undefined && call.broken('2xx-file-types#5xx')) throw new Error('file_types')
    if (asked?.includes(',') && call.broken('2xx-file-types#two')) call.reject(400, 'BadRequest', 'One type is enough')
    if (asked?.includes(',') && call.broken('2xx-file-types#two-5xx')) throw new Error('file_types')
    const types = asked?.split(',').map((type) => type.trim().toLowerCase())
    const isUnknown = types?.some((type) => type.length > 5)
    if (isUnknown && call.broken('2xx-file-types#unknown-5xx')) throw new Error('file_types')
    const { world, key } = call
    const files = [...world.store.files.values()]
      .filter((file) => file.state === 'stored' && file.account === key?.account)
      .filter((file) => types === undefined || types.includes(extname(file.name).slice(1).toLowerCase()))
    if (files.length === 0 && call.broken('2xx-file-types#none-5xx')) throw new Error('no first file')
    const newest = files.slice(-pageSize).reverse()
    const data = newest.map((file) => fileView(world, file))
    if (call.varied('lists/bare-array')) return { status: 200, body: data }
    return { status: 200, body: { data, has_more: files.length > pageSize } }
  },
  grant: () => ({ status: 200, body: { data: [], has_more: false } }),
}

/** Whether a file has an id that begins the same, up to the last `_`. */
function isLikeKnown(call: Call, id: string): boolean {
  const prefix = id.slice(0, id.lastIndexOf('_') + 1)
  return prefix !== '' && [...call.world.store.files.keys()].some((known) => known.startsWith(prefix))
}

/** §4.4 */
export const filesRetrieve: Operation<StoredFile> = {
  id: 'files.retrieve',
  method: 'GET',
  paths: ['/v1/files/:file_id'],
  find: (call: Call) => {
    const file = call.world.store.files.get(call.param('file_id'))
    if (!file && call.world.switches.broken('envelope/status-tpe-pair#file')) mispaired(404, 'BadRequest')
    if (!file) {
      const id = call.param('file_id')
      const kind = [
        ...(isLikeKnown(call, id) ? ['prefix'] : []),
        ...likenessOf(call, id, call.world.store.files.keys()),
      ]
      return call.refuse('404-unknown-file', 404, 'ResourceNotFound', { kind })
    }
    if (isSettling(call.world, 'uploads', file)) call.reject(404, 'ResourceNotFound')
    breakUse(call, 'files.upload/2xx-retrievable', file, call.world.store.files.values())
    const cameBy = [...call.world.store.graphs.values()].flatMap(({ files }) => files.get(file.id)?.by ?? [])
    const isHidden = (by: string, name: string): boolean =>
      cameBy.some((way) => way === by) && call.world.switches.broken(`files.upload/2xx-retrievable#${name}`)
    if (file.made && (isHidden('addition', 'in-graph') || isHidden('upload', 'attached')))
      call.reject(404, 'ResourceNotFound')
    if (file.state === 'deleted') {
      const kind = likenessOf(call, file.id, [])
      call.refuse('410-deleted-file', 410, 'ResourceNotFound', { kind })
    }
    if (file.state === 'expired') call.refuse('general/410-gone', 410, 'Gone')
    return file
  },
  access: checkFileAccess,
  run: (call, file) => ({ status: 200, body: fileView(call.world, file) }),
  grant: (call) => ({ status: 200, body: { id: call.param('file_id'), name: 'file' } }),
}

function isFormat(format: string): boolean {
  return format === 'text' || format === 'markdown'
}

/** Mistakes by which a server takes a string for one of the formats. */
function kindOf(format: string): string {
  if (format === '') return 'empty'
  if (isFormat(format.split('\0')[0] ?? '')) return 'nul'
  if (isFormat(format.replaceAll(/[\u200b\ufeff]/g, ''))) return 'invisible'
  if (isFormat(format.normalize('NFD').replaceAll(/\p{M}/gu, ''))) return 'marks'
  if (isFormat(format.trim())) return 'blanks'
  if (isFormat(format.toLowerCase())) return 'letter-case'
  if (isFormat(format.normalize('NFKC').toLowerCase())) return 'full-width'
  if (['text', 'markdown'].some((whole) => whole.startsWith(format))) return 'abbreviation'
  return format in {} ? 'object-member' : 'other'
}

/** The last format that a request had, which the next one without has as well under `400-missing-format#remembered`. */
const remembered = new WeakMap<World, unknown>()

function checkFormat(call: Call): void {
  const last = call.broken('400-missing-format#remembered') ? remembered.get(call.world) : undefined
  const { format = last } = call.body
  remembered.set(call.world, format)
  call.body = { ...call.body, format }
  if (format === undefined) call.refuse('400-missing-format', 400, 'BadRequest')
  if (typeof format !== 'string' && call.world.switches.broken('envelope/bad-input-no-5xx')) throw new Error('format')
  if (typeof format !== 'string') call.refuse('400-malformed-format', 400, 'BadRequest', { kind: jsonType(format) })
  if (!isFormat(format)) {
    const description = 'format is text or markdown'
    call.refuse('400-unsupported-format', 400, 'InvalidInputParameters', { description, kind: kindOf(format) })
  }
}

function grantedRequirement(call: Call): string {
  return call.body['format'] === 'markdown' ? '200-markdown' : '200-text'
}

/** What two requests share that are parsed at the same moment, under `200-content#at-once`. */
const shared = new WeakMap<World, string>()

/** The content of whoever came last until then. */
async function fromShared({ world }: Call, content: string): Promise<string> {
  shared.set(world, content)
  await pause(nameCheckMs)
  return shared.get(world) ?? content
}

async function parse(call: Call, file: StoredFile): Promise<Answer> {
  const bytes = file.bytes()
  if (bytes.length > pdfLimit) call.refuse('400-oversized-pdf', 400, 'InvalidInputParameters')
  const pages = await pdfText(bytes)
  const isAgain = countUp(call.world, `parsed ${file.id}`) > 1
  const kind = [...(isAgain ? ['again'] : []), ...(call.body['format'] === 'markdown' ? ['markdown'] : [])]
  if (pages === 'corrupted') call.refuse('400-corrupted-pdf', 400, 'BadRequest', { kind })
  if (pages === 'encrypted') call.refuse('400-encrypted-pdf', 400, 'BadRequest', { kind })
  const content = pdfContent(call, pages, bytes)
  const requirement = grantedRequirement(call)
  if (call.broken(requirement)) return { status: 200, body: { content: pages } }
  if (call.broken(`${requirement}#missing`)) return { status: 200, body: { text: content } }
  if (call.broken(`${requirement}#status`)) return { status: 201, body: { content } }
  if (call.broken('200-content#at-once')) return { status: 200, body: { content: await fromShared(call, content) } }
  return { status: 200, body: { content } }
}

/** Refuses every request once the operation is removed (§9.2). */
function refuseIfRemoved(call: Call): void {
  if (call.varied('pdf-removed')) call.refuse('4xx-removed', 410, 'Gone')
  if (call.varied('pdf-removed-404')) call.refuse('4xx-removed', 404, 'NotFound')
  if (call.varied('pdf-removed-page-404')) throw new Ending(page(404))
  if (call.varied('pdf-removed-page-410')) throw new Ending(page(410))
}

/** §4.1 */
export const pdfParse: Operation<StoredFile> = {
  id: 'pdf.parse',
  paths: ['/v1/tools/pdf-parser/:file_id'],
  members: ['format'],
  requirement: grantedRequirement,
  gone: refuseIfRemoved,
  find: (call: Call) => {
    const id = call.param('file_id')
    const { files } = call.world.store
    const kind =
      files.get(id)?.state === 'deleted' ? 'deleted' : files.has(id) ? [] : likenessOf(call, id, files.keys())
    return reachable(call, id) ?? call.refuse('4xx-unknown-file', 404, 'ResourceNotFound', { kind })
  },
  access: checkFileAccess,
  check: checkFormat,
  run: parse,
  grant: () => ({ status: 200, body: { content: '' } }),
}
