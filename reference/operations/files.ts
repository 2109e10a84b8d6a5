import { extname } from 'node:path'
import { type Answer, mispaired, type Call, type Members } from '../world/call.ts'
import { findMade, isSettling, namedBy, newId, processedFrom, writeId } from '../world/created.ts'
import { planOf } from '../world/preloaded.ts'
import { checkAccess, type Operation } from '../world/operation.ts'
import type { Graph, StoredFile, World } from '../world/world.ts'

export function fileView(world: World, file: StoredFile): Members {
  return {
    id: writeId(world, file.id),
    name: file.name,
    content_type: file.type,
    size: file.bytes().length,
    created_at: world.clock.write(file.createdAt),
  }
}

/** The file of that id, unless it is unknown, deleted or expired. */
export function reachable(call: Call, id: unknown): StoredFile | undefined {
  const file = call.world.store.files.get(String(id))
  return file?.state === 'stored' && !isSettling(call.world, 'uploads', file) ? file : undefined
}

export function fileNamed(call: Call, id: unknown): StoredFile {
  const file = reachable(call, id)
  const known = call.world.store.files.get(String(id))
  if (!file && known?.state === 'stored')
    call.reject('404-ResourceNotFound', 'The file is not there yet')
  if (!file) call.refuse('4xx-unknown-file', '404-ResourceNotFound')
  checkAccess(call, file, '403-file-access')
  return file
}

const supported =
  /^(text\/(plain|markdown|csv|html)|application\/(pdf|json|msword|octet-stream)|image\/(png|jpeg|gif|webp))$/

function mediaType(call: Call): string {
  return (call.request.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

/** The name in `attachment; filename="..."` (RFC 6266). */
function filename(call: Call): string | undefined {
  const header = call.request.header('content-disposition') ?? ''
  const extended = /filename\*=UTF-8''((?:%[0-9a-f]{2}|[^;\s%])+)/i.exec(header)?.[1]
  if (extended !== undefined) {
    const bytes = extended.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    )
    return Buffer.from(bytes, 'latin1').toString()
  }
  const [, quoted, token] = /filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header) ?? []
  return quoted?.replace(/\\(.)/g, '$1') ?? token
}

function check(call: Call): void {
  const type = mediaType(call)
  if (!supported.test(type)) call.refuse('400-unsupported-type', '400-BadRequest')
  if (filename(call) === undefined)
    call.reject('400-BadRequest', 'Content-Disposition names no file')
  if (call.bytes.length > planOf(call).file)
    call.refuse('400-oversized', '400-InvalidInputParameters')
  if (type === 'application/pdf' && !Buffer.from(call.bytes.subarray(0, 1024)).includes('%PDF-'))
    call.refuse('400-corrupted', '400-InvalidContentType')
}

function graphOf(call: Call): Graph | undefined {
  const id = call.request.query('graphId')
  if (id === undefined) return undefined
  const graph = call.world.store.graphs.get(id)
  if (!graph) call.refuse('4xx-unknown-graph', '404-ResourceNotFound')
  if (isSettling(call.world, 'graphs', graph))
    call.reject('404-ResourceNotFound', 'The graph is not there yet')
  checkAccess(call, graph, '403-graph-access')
  call.rejectIf('2xx-attached-to-graph#refused', true)
  if (call.broken('2xx-attached-to-graph#first-graph'))
    return [...call.world.store.graphs.values()].find(({ account }) => account === call.account)
  return call.broken('2xx-attached-to-graph') ? undefined : graph
}

function known(call: Call): StoredFile | undefined {
  if (!call.varied('files/known-by-content') && !call.varied('files/refused-twice'))
    return undefined
  const own = [...call.world.store.files.values()].filter(({ account }) => account === call.account)
  return own.find(
    (file) => file.state === 'stored' && Buffer.compare(file.bytes(), call.bytes) === 0,
  )
}

function attach(call: Call, graph: Graph | undefined, id: string): void {
  const { world, account } = call
  if (!graph) return
  const attached = { by: 'upload', from: processedFrom(world) } as const
  if (call.broken('2xx-attached-to-graph#replaces'))
    for (const [other, { by }] of graph.files) if (by === 'upload') graph.files.delete(other)
  if (!graph.files.has(id)) graph.files.set(id, attached)
  if (!call.broken('2xx-attached-to-graph#all-graphs')) return
  for (const other of world.store.graphs.values())
    if (other.account === account) other.files.set(id, attached)
}

function upload(call: Call): Answer {
  const { world, account, bytes } = call
  if (account === 'full') call.refuse('507-storage-full', '507-QuotaExceeded')
  const graph = graphOf(call)
  const type = mediaType(call)
  call.breakIf('2xx-accepted#pdf', type === 'application/pdf')
  const name = filename(call) ?? ''
  const alike = [...world.store.files.values()].find(
    (file) => file.made === true && file.name === name,
  )
  if (alike && call.varied('files/unique-names')) call.reject('409-Conflict', 'The name exists')
  const before = known(call) ?? (call.broken('2xx-own-id#name') ? alike : undefined)
  if (before && call.varied('files/refused-twice')) call.reject('409-Conflict', 'The file exists')
  const { id, createdAt } = before ?? { id: newId(world, 'file'), createdAt: world.clock.now() }
  const file: StoredFile = {
    id,
    account,
    name,
    type,
    bytes: () => bytes,
    state: 'stored',
    createdAt,
    made: true,
  }
  world.store.files.set(id, file)
  attach(call, graph, id)
  return { status: 200, body: fileView(world, namedBy(call, world.store.files.values(), file)) }
}

/** §4.4, §2.8: the bytes of one file, its name and type in the headers. */
export const filesUpload: Operation = {
  id: 'files.upload',
  paths: ['/v1/files'],
  body: 'raw',
  check,
  run: upload,
  grant: (call) => ({ status: 200, body: { id: newId(call.world, 'file'), name: 'file' } }),
}

/** This many uploaded files break the listing, under the defect `2xx-accepted#many`. */
const manyFiles = 10

const pageSize = 50

function breakListing(call: Call, asked: string | undefined): void {
  const uploaded = [...call.world.store.files.values()].filter(({ made }) => made).length
  const isPlain = asked === undefined && call.request.header('x-rate-bucket') === undefined
  call.breakIf('2xx-accepted#many', isPlain && uploaded > manyFiles)
  const isEmpty = [...call.world.store.files.values()].some(
    ({ made, bytes }) => made === true && bytes().length === 0,
  )
  call.breakIf('2xx-accepted#empty-file', isPlain && isEmpty)
  const hasOtherName = [...call.world.store.files.values()].some(
    ({ made, name }) => made === true && /[^ -~]/.test(name),
  )
  call.breakIf('2xx-accepted#name', isPlain && hasOtherName)
  const all = call.request.queries('file_types') ?? []
  call.breakIf('envelope/bad-input-no-5xx#empty-query', asked === '')
  call.breakIf('envelope/bad-input-no-5xx#doubled-query', all.length > 1)
  if (asked === undefined || asked === '' || all.length > 1) return
  call.rejectIf('2xx-file-types', true)
  call.breakIf('2xx-file-types#5xx', true)
  call.rejectIf('2xx-file-types#two', asked.includes(','))
  call.breakIf('2xx-file-types#two-5xx', asked.includes(','))
}

/** §4.4: the newest files, filtered by `file_types` (§2.8). */
export const filesList: Operation = {
  id: 'files.list',
  method: 'GET',
  paths: ['/v1/files'],
  run: (call) => {
    const { world, account } = call
    const asked = call.request.query('file_types')
    breakListing(call, asked)
    const types = asked?.split(',').map((type) => type.trim().toLowerCase())
    call.breakIf('2xx-file-types#unknown-5xx', types?.some((type) => type.length > 5) === true)
    const files = [...world.store.files.values()]
      .filter((file) => file.state === 'stored' && file.account === account)
      .filter(
        (file) =>
          types === undefined ||
          types.includes(extname(file.name).slice(1).toLowerCase()) ||
          call.broken('2xx-filtered') ||
          (types.length > 1 && call.broken('2xx-filtered#two')),
      )
    call.breakIf('2xx-file-types#none-5xx', files.length === 0)
    call.breakIf('2xx-file-types#two-none-5xx', files.length === 0 && types?.length === 2)
    const newest = files.slice(-pageSize).reverse()
    const data = newest.map((file) => fileView(world, file))
    return {
      status: 200,
      body: call.varied('lists/bare-array') ? data : { data, has_more: files.length > pageSize },
    }
  },
  grant: () => ({ status: 200, body: { data: [], has_more: false } }),
}

function hideInGraphs(call: Call, file: StoredFile): void {
  if (!file.made) return
  const graphs = [...call.world.store.graphs.values()]
  const cameBy = (way: string): boolean =>
    graphs.some(({ files }) => files.get(file.id)?.by === way)
  call.rejectIf('files.upload/2xx-retrievable#in-graph', cameBy('addition'), '404-ResourceNotFound')
  call.rejectIf('files.upload/2xx-retrievable#attached', cameBy('upload'), '404-ResourceNotFound')
}

/** §4.4 */
export const filesRetrieve: Operation<StoredFile> = {
  id: 'files.retrieve',
  method: 'GET',
  paths: ['/v1/files/:file_id'],
  find: (call) => {
    const id = call.param('file_id')
    const { files } = call.world.store
    if (!files.has(id) && call.broken('envelope/status-tpe-pair#file')) mispaired('404-BadRequest')
    const usable = 'files.upload/2xx-retrievable'
    const file = findMade(call, {
      id,
      among: files,
      unknown: '404-unknown-file',
      settling: 'uploads',
      usable,
    })
    hideInGraphs(call, file)
    call.breakIf(
      'files.upload/2xx-retrievable#pdf',
      file.made === true && file.type === 'application/pdf',
    )
    if (file.state === 'deleted') call.refuse('410-deleted-file', '410-ResourceNotFound')
    if (file.state === 'expired') call.refuse('general/410-gone', '410-Gone')
    return file
  },
  foreign: '403-file-access',
  run: (call, file) => {
    const isOther = file.made === true && call.broken('2xx-own-record')
    const [first = file] = isOther
      ? [...call.world.store.files.values()].filter(({ made }) => made)
      : []
    return { status: 200, body: fileView(call.world, first) }
  },
  grant: (call) => ({ status: 200, body: { id: call.param('file_id'), name: 'file' } }),
}
