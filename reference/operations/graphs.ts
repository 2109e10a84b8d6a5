import { setTimeout as pause } from 'node:timers/promises'
import {
  createAllTheSame,
  freshName,
  hasForgotten,
  nameCheckMs,
  namedBy,
  overlooks,
  processedFrom,
  refusedName,
  nameOf,
  newId,
  writeId,
} from '../world/created.ts'
import type { Graph, StoredFile } from '../world/world.ts'
import type { Answer } from '../world/answer.ts'
import { type Call, isAbsent, kindsOf, type Members } from '../world/call.ts'
import type { Operation } from '../world/operation.ts'
import { checkGraphAccess, checkQueryConfig, fileNamed, fileView, findGraph, pdfText } from '../world/files.ts'
import { generated, queryComplexity } from '../world/models.ts'

function view(call: Call, graph: Graph): Members {
  const { id, name, createdAt, version } = graph
  return { id: writeId(call.world, id), name, version, created_at: call.world.clock.write(createdAt) }
}

function checkCreation(call: Call): void {
  const { description } = call.body
  const name = nameOf(call, 'Graph')
  if (typeof name !== 'string') call.refuse('400-malformed-parameters', 400, 'BadRequest', { kind: kindsOf(name) })
  if (!/^[\p{L}\p{N} ._-]+$/u.test(name)) call.refuse('400-invalid-name', 400, 'InvalidInputParameters')
  if (!isAbsent(description) && typeof description !== 'string') {
    call.reject(400, 'BadRequest', 'description is a string')
  }
}

function make({ world }: Call, name: string, account: string): Graph {
  const id = newId(world, 'graph')
  const createdAt = world.clock.now()
  const graph: Graph = { id, account, name, version: '"1"', files: new Map(), createdAt, made: true }
  world.store.graphs.set(id, graph)
  return graph
}

async function create(call: Call): Promise<Answer> {
  const { world, key } = call
  const { graphs } = world.store
  if (key?.account === 'full') call.refuse('general/507-insufficient-storage', 507, 'InsufficientStorage')
  const name = freshName(call, 'Graph', graphs.values())
  if (call.broken('400-atomic')) await pause(nameCheckMs)
  const graph = make(call, name, key?.account ?? '')
  return { status: 200, body: view(call, namedBy(call, graphs.values(), graph)) }
}

/** §4.4 */
export const graphsCreate: Operation = {
  id: 'graphs.create',
  paths: ['/v1/knowledge-graphs'],
  members: ['name', 'description'],
  check: checkCreation,
  refused: createAllTheSame(make),
  run: create,
  grant: (call) => ({ status: 200, body: { id: newId(call.world, 'graph'), name: 'graph' } }),
}

function fileOf(call: Call): StoredFile {
  const { file_id: id } = call.body
  if (typeof id !== 'string' && typeof id !== 'number') call.reject(400, 'BadRequest', 'file_id is missing')
  return fileNamed(call, id, 'The file does not exist')
}

async function fitFile(call: Call): Promise<void> {
  const file = fileOf(call)
  if (!/^(text|image)\/|^application\/(pdf|json|msword|octet-stream)$/.test(file.type)) {
    call.refuse('400-unsupported-type', 400, 'BadRequest', { description: `Graphs take no ${file.type}` })
  }
  if (file.type === 'application/pdf' && typeof (await pdfText(file.bytes())) === 'string') {
    call.refuse('400-unparsable', 400, 'InvalidInputParameters', { description: 'The file cannot be read' })
  }
}

/** Leaves a file behind in spite of a refusal, under the defects of `4xx-no-effect`. */
async function addAllTheSame(call: Call, status: number): Promise<void> {
  const file = await refusedName(call, status)
  const graph = call.world.store.graphs.get(call.param('graph_id'))
  if (file !== undefined) graph?.files.set(file, { by: 'addition', from: Date.now() })
}

/** ms between a check and what follows from it, under the defects of `409-atomic`. */
const checkMs = 10

/** So many added files break a graph, under the defect `2xx-accepted#many`. */
const manyFiles = 8

async function addFile(call: Call, graph: Graph): Promise<Answer> {
  const file = fileOf(call)
  const known = graph.files.get(file.id)
  const isKnown = known && known.from <= Date.now() && !hasForgotten(call, graph)
  if (isKnown && !overlooks(call, '409-already-in-graph', file.id, [...graph.files.keys()])) {
    // Requirements tell apart where the file came from; both are refused alike.
    if (known.by === 'addition') call.refuse('409-already-in-graph', 409, 'BadRequest')
    call.reject(409, 'BadRequest', 'The file came with its upload')
  }
  const added = [...graph.files.values()].filter(({ by }) => by === 'addition').length
  if (call.broken('2xx-accepted#many') && !known && added >= manyFiles) throw new Error('the graph is full')
  const inOtherGraph = [...call.world.store.graphs.values()].some((each) => each !== graph && each.files.has(file.id))
  if (call.broken('2xx-other-graph') && inOtherGraph) call.reject(409, 'BadRequest', 'The file is in another graph')
  if (call.broken('2xx-other-graph#moves'))
    for (const each of call.world.store.graphs.values()) each.files.delete(file.id)
  const isFull = [...graph.files.values()].some(({ by }) => by === 'addition')
  if (isFull && call.broken('2xx-accepted#one-file')) call.reject(409, 'BadRequest', 'The file is in the graph already')
  if (call.broken('2xx-accepted#always-409')) call.reject(409, 'BadRequest', 'The file is in the graph already')
  if (call.broken('409-atomic')) await pause(checkMs)
  if (!known) graph.files.set(file.id, { by: 'addition', from: processedFrom(call.world) })
  // Defects of a server that adds the file but says that it did not.
  if (call.broken('2xx-accepted#added-400')) call.reject(400, 'BadRequest', 'Nothing is wrong')
  if (call.broken('2xx-accepted#added-404')) call.reject(404, 'ResourceNotFound', 'Nothing is missing')
  return { status: 200, body: fileView(call.world, file) }
}

/** §4.4 */
export const graphsAddFile: Operation<Graph> = {
  id: 'graphs.add-file',
  paths: ['/v1/knowledge-graphs/:graph_id/files'],
  members: ['file_id'],
  find: findGraph,
  access: checkGraphAccess,
  fit: fitFile,
  refused: addAllTheSame,
  run: addFile,
  grant: (call) => ({ status: 200, body: { id: call.body['file_id'] ?? 'file' } }),
}

function checkQuery(call: Call): void {
  const { query, query_config: config } = call.body
  if (typeof query !== 'string') call.refuse('400-malformed-parameters', 400, 'BadRequest')
  checkQueryConfig(call, config, '2xx-query-config')
  if ((query.match(/\b(AND|OR|NOT)\b/g) ?? []).length > queryComplexity) {
    call.refuse('400-too-complex', 400, 'InvalidInputParameters', { description: 'Too many operators' })
  }
}

/** A client that has seen another version of the graph is told so (§7.2, version conflict). */
function fitQuery(call: Call, graph: Graph): void {
  const expected = call.request.header('if-match')
  if (call.varied('graphs/empty-not-queried') && graph.made && graph.files.size === 0) {
    call.reject(422, 'UnprocessableEntity', 'The graph is empty')
  }
  if (expected !== undefined && expected !== graph.version) call.refuse('general/409-conflict', 409, 'Conflict')
}

/** §4.4, §2.7 */
export const graphsQuery: Operation<Graph> = {
  id: 'graphs.query',
  paths: ['/v1/knowledge-graphs/:graph_id/query'],
  members: ['query', 'query_config'],
  find: findGraph,
  access: checkGraphAccess,
  check: checkQuery,
  fit: fitQuery,
  run: (call, graph) => {
    const answer = generated(call, `${graph.name} holds ${graph.files.size} files.`)
    return { status: 200, body: { answer, sources: [], references: {} } }
  },
  grant: () => ({ status: 200, body: { answer: '', sources: [], references: {} } }),
}
