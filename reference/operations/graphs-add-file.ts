import { setTimeout as pause } from 'node:timers/promises'
import { overlooks, refusedName, processedFrom } from '../world/created.ts'
import type { Answer } from '../world/answer.ts'
import type { Call } from '../world/call.ts'
import { fileView, reachable, checkGraphAccess, findGraph, pdfText } from '../world/files.ts'
import type { Operation } from '../world/operation.ts'
import type { Graph, StoredFile } from '../world/world.ts'

function fileOf(call: Call): StoredFile {
  const { file_id: id } = call.body
  if (typeof id !== 'string' && typeof id !== 'number') call.reject(400, 'BadRequest', 'file_id is missing')
  const file = reachable(call, id)
  if (!file) call.reject(404, 'ResourceNotFound', 'The file does not exist')
  if (file.account !== call.key?.account) call.refuse('403-file-access', 403, 'InsufficientAccessRights')
  return file
}

async function fit(call: Call): Promise<void> {
  const file = fileOf(call)
  if (!/^(text|image)\/|^application\/(pdf|json|msword|octet-stream)$/.test(file.type)) {
    call.refuse('400-unsupported-type', 400, 'BadRequest', { description: `Graphs take no ${file.type}` })
  }
  if (file.type === 'application/pdf' && typeof (await pdfText(file.bytes())) === 'string') {
    call.refuse('400-unparsable', 400, 'InvalidInputParameters', { description: 'The file cannot be read' })
  }
}

/** What a refused addition leaves behind, under the defects of `4xx-no-effect`. */
async function actOnRefusal(call: Call, status: number): Promise<void> {
  const file = await refusedName(call, status)
  const graph = call.world.store.graphs.get(call.param('graph_id'))
  if (file !== undefined) graph?.files.set(file, { by: 'addition', from: Date.now() })
}

/** ms between a check and what follows from it, under the defects of `409-atomic`. */
const checkMs = 10

async function run(call: Call, graph: Graph): Promise<Answer> {
  const file = fileOf(call)
  const known = graph.files.get(file.id)
  if (known && known.from <= Date.now() && !overlooks(call, '409-already-in-graph', file.id, [...graph.files.keys()])) {
    // Requirements tell apart where the file came from; both are refused alike.
    if (known.by === 'addition') call.refuse('409-already-in-graph', 409, 'BadRequest')
    call.reject(409, 'BadRequest', 'The file came with its upload')
  }
  const inOtherGraph = [...call.world.store.graphs.values()].some((each) => each !== graph && each.files.has(file.id))
  if (call.broken('2xx-other-graph') && inOtherGraph) call.reject(409, 'BadRequest', 'The file is in another graph')
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
  method: 'POST',
  paths: ['/v1/knowledge-graphs/:graph_id/files'],
  body: 'json',
  members: ['file_id'],
  find: findGraph,
  access: checkGraphAccess,
  fit,
  refused: actOnRefusal,
  run,
  grant: (call) => ({ status: 200, body: { id: call.body['file_id'] ?? 'file' } }),
}
