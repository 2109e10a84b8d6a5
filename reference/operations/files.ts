import { extname } from 'node:path'
import { unescape } from 'node:querystring'
import { type Answer, mispaired, type Call, type Members, ok } from '../world/call.ts'
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

export function fileNamed(call: Call, id: unknown): StoredFile {
  const file = call.world.store.files.get(String(id))
  if (file?.state !== 'stored') return call.refuse('4xx-unknown-file')
  if (isSettling(call.world, 'uploads', file))
    call.reject('404-ResourceNotFound', 'The file is not there yet')
  return file
}

export function ownFile(call: Call, id: unknown): StoredFile {
  const file = fileNamed(call, id)
  checkAccess(call, file, '403-file-access')
  return file
}

export function graphNamed(call: Call, id: string): Graph {
  const graph = call.world.store.graphs.get(id)
  if (!graph) return call.refuse('4xx-unknown-graph')
  if (isSettling(call.world, 'graphs', graph))
    call.reject('404-ResourceNotFound', 'The graph is not there yet')
  checkAccess(call, graph, '403-graph-access')
  return graph
}

function filesOf(call: Call): StoredFile[] {
  return [...call.world.store.files.values()]
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
  if (extended !== undefined) return unescape(extended)
  const [, quoted, token] = /filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header) ?? []
  return quoted?.replace(/\\(.)/g, '$1') ?? token
}

function check(call: Call): void {
  const type = mediaType(call)
  if (!supported.test(type)) call.refuse('400-unsupported-type')
  const isUnnamed = filename(call) === undefined
  call.breakIf('envelope/bad-input-no-5xx#unnamed-upload', isUnnamed)
  if (isUnnamed) call.reject('400-BadRequest', 'Content-Disposition names no file')
  if (call.bytes.length > planOf(call).file)
    call.refuse('400-oversized', '400-InvalidInputParameters')
  if (type === 'application/pdf' && !Buffer.from(call.bytes.subarray(0, 1024)).includes('%PDF-'))
    call.refuse('400-corrupted', '400-InvalidContentType')
}

function graphOf(call: Call): Graph | undefined {
  const id = call.request.query('graphId')
  if (id === undefined) return undefined
  const graph = graphNamed(call, id)
  call.rejectIf('2xx-attached-to-graph#refused', true)
  if (call.broken('2xx-attached-to-graph#first-graph'))
    return [...call.world.store.graphs.values()].find((one) => one.account === call.account)
  return call.broken('2xx-attached-to-graph') ? undefined : graph
}

function known(call: Call): StoredFile | undefined {
  if (!call.varied('files/known-by-content') && !call.varied('files/refused-twice'))
    return undefined
  return filesOf(call).find(
    (file) =>
      file.account === call.account &&
      file.state === 'stored' &&
      Buffer.compare(file.bytes(), call.bytes) === 0,
  )
}

function attach(call: Call, graph: Graph, id: string): void {
  const attached = { by: 'upload', from: processedFrom(call.world) } as const
  if (call.broken('2xx-attached-to-graph#replaces'))
    for (const [other, { by }] of graph.files) if (by === 'upload') graph.files.delete(other)
  if (!graph.files.has(id)) graph.files.set(id, attached)
}

function upload(call: Call): Answer {
  const { world, account, bytes } = call
  if (account === 'full') call.refuse('507-storage-full', '507-QuotaExceeded')
  const graph = graphOf(call)
  const type = mediaType(call)
  call.breakIf('2xx-accepted#pdf', type === 'application/pdf')
  const name = filename(call) ?? ''
  const alike = filesOf(call).find((file) => file.made && file.name === name)
  if (alike && call.varied('files/unique-names')) call.reject('409-Conflict', 'The name exists')
  const before = known(call) ?? (call.broken('2xx-own-id#name') ? alike : undefined)
  if (before && call.varied('files/refused-twice')) call.reject('409-Conflict', 'The file exists')
  const { id, createdAt } = before ?? { id: newId(world, 'file'), createdAt: world.clock.now() }
  const content = { name, type, bytes: () => bytes }
  const file: StoredFile = { id, account, createdAt, made: true, state: 'stored', ...content }
  world.store.files.set(id, file)
  if (graph) attach(call, graph, id)
  return ok(fileView(world, namedBy(call, filesOf(call), file)))
}

/** §4.4, §2.8: the bytes of one file, its name and type in the headers. */
export const filesUpload: Operation = {
  id: 'files.upload',
  paths: ['/v1/files'],
  body: 'raw',
  check,
  run: upload,
  grant: (call) => ok({ id: newId(call.world, 'file'), name: 'file' }),
}

const manyFiles = 10

const pageSize = 50

function breakListing(call: Call, asked: string | undefined): void {
  if (asked === undefined && call.request.header('x-rate-bucket') === undefined) {
    const uploaded = filesOf(call).filter((file) => file.made)
    const hasEmpty = uploaded.some((file) => file.bytes().length === 0)
    call.breakIf('2xx-accepted#many', uploaded.length > manyFiles)
    call.breakIf('2xx-accepted#empty-file', hasEmpty)
    call.breakIf(
      '2xx-accepted#name',
      uploaded.some((file) => /[^ -~]/.test(file.name)),
    )
  }
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
    const asked = call.request.query('file_types')
    breakListing(call, asked)
    const types = asked?.split(',').map((type) => type.trim().toLowerCase())
    call.breakIf('2xx-file-types#unknown-5xx', types?.some((type) => type.length > 5) === true)
    const isUnfiltered =
      types === undefined ||
      call.broken('2xx-filtered') ||
      (types.length > 1 && call.broken('2xx-filtered#two'))
    const isListed = (name: string, type: string): boolean =>
      extname(name).slice(1) === type ||
      (call.broken('2xx-filtered#in-name') && name.includes(type))
    const files = filesOf(call)
      .filter((file) => file.state === 'stored' && file.account === call.account)
      .filter(
        ({ name }) => isUnfiltered || types.some((type) => isListed(name.toLowerCase(), type)),
      )
    call.breakIf('2xx-file-types#none-5xx', files.length === 0)
    call.breakIf('2xx-file-types#two-none-5xx', files.length === 0 && types?.length === 2)
    const newest = files.slice(-pageSize).reverse()
    const data = newest.map((file) => fileView(call.world, file))
    return ok(call.varied('lists/bare-array') ? data : { data, has_more: files.length > pageSize })
  },
}

/** §4.4 */
export const filesRetrieve: Operation<StoredFile> = {
  id: 'files.retrieve',
  method: 'GET',
  paths: ['/v1/files/:file_id'],
  find: (call) => {
    const id = call.param('file_id')
    const { files, graphs } = call.world.store
    if (!files.has(id) && call.broken('envelope/status-tpe-pair#file')) mispaired('404-BadRequest')
    const usable = 'files.upload/2xx-retrievable'
    const file = findMade(call, 'file', files, usable)
    if (file.made) {
      const ways = [...graphs.values()].map((graph) => graph.files.get(id)?.by)
      call.rejectIf(`${usable}#in-graph`, ways.includes('addition'), '404-ResourceNotFound')
      call.rejectIf(`${usable}#attached`, ways.includes('upload'), '404-ResourceNotFound')
      call.breakIf(`${usable}#pdf`, file.type === 'application/pdf')
      call.rejectIf(`${usable}#odd-name`, !/^[ -~]*$/.test(file.name), '404-ResourceNotFound')
    }
    if (file.state === 'deleted') call.refuse('410-deleted-file', '410-ResourceNotFound')
    if (file.state === 'expired') call.refuse('general/410-gone', '410-Gone')
    return file
  },
  foreign: '403-file-access',
  run: (call, file) => {
    const isOther = file.made && call.broken('2xx-own-record')
    const shown = isOther ? filesOf(call).find((one) => one.made) : file
    return ok(fileView(call.world, shown ?? file))
  },
}
