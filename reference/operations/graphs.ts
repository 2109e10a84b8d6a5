import { type Call, isAbsent, isMembers, type Answer, ok } from '../world/call.ts'
import { askedTwice, findMade, overlooks, processedFrom, refusedName } from '../world/created.ts'
import { fileView, ownFile } from './files.ts'
import { pdfText } from './pdf.ts'
import { generated, queryComplexity } from '../world/preloaded.ts'
import type { Operation } from '../world/operation.ts'
import type { Graph, StoredFile } from '../world/world.ts'

/** §7.3 */
function findGraph(call: Call): Graph {
  const usable = 'graphs.create/2xx-usable'
  const graph = findMade(call, 'graph', call.world.store.graphs, usable)
  const isAddition = graph.made === true && call.operation === 'graphs.add-file'
  call.rejectIf(`${usable}#additions`, isAddition, '404-ResourceNotFound')
  return graph
}

function fileOf(call: Call): StoredFile {
  const { file_id: id } = call.body
  if (typeof id !== 'string' && typeof id !== 'number')
    call.reject('400-BadRequest', 'file_id is missing')
  return ownFile(call, id)
}

function hasForgotten(call: Call, graph: Graph): boolean {
  const isEmptied = askedTwice.has(graph) && call.broken('409-already-in-graph#emptied')
  return graph.made === true && (isEmptied || call.broken('409-already-in-graph#created'))
}

const manyFiles = 8

async function addFile(call: Call, graph: Graph): Promise<Answer> {
  const file = fileOf(call)
  const known = graph.files.get(file.id)
  const isKnown =
    known && known.from <= Date.now() && !(known.by === 'addition' && hasForgotten(call, graph))
  if (isKnown && !overlooks(call, '409-already-in-graph', file.id, [...graph.files.keys()])) {
    call.rejectIf('files.upload/2xx-attached-to-graph#other-status', known.by === 'upload')
    if (known.by === 'addition') call.refuse('409-already-in-graph')
    call.reject('409-BadRequest', 'The file came with its upload')
  }
  const { files } = call.world.store
  const isTwin = (id: string): boolean => id !== file.id && files.get(id)?.name === file.name
  const hasTwin = [...graph.files.keys()].some(isTwin)
  call.rejectIf('409-already-in-graph#same-name', hasTwin, '409-BadRequest')
  const added = [...graph.files.values()].filter(({ by }) => by === 'addition').length
  call.breakIf('2xx-accepted#many', !known && added >= manyFiles)
  call.rejectIf('2xx-accepted#one-file', added > 0, '409-BadRequest')
  call.rejectIf('2xx-accepted#always-409', true, '409-BadRequest')
  if (!known) graph.files.set(file.id, { by: 'addition', from: processedFrom(call.world) })
  call.rejectIf('2xx-accepted#added-400', true)
  call.rejectIf('2xx-accepted#added-404', true, '404-ResourceNotFound')
  return ok(fileView(call.world, file))
}

/** §4.4 */
export const graphsAddFile: Operation<Graph> = {
  id: 'graphs.add-file',
  paths: ['/v1/knowledge-graphs/:graph_id/files'],
  members: ['file_id'],
  find: findGraph,
  foreign: '403-graph-access',
  fit: async (call) => {
    const file = fileOf(call)
    if (!/^(text|image)\/|^application\/(pdf|json|msword|octet-stream)$/.test(file.type))
      call.refuse('400-unsupported-type')
    if (file.type === 'application/pdf' && typeof (await pdfText(file.bytes())) === 'string')
      call.refuse('400-unparsable', '400-InvalidInputParameters')
  },
  refused: async (call, status) => {
    const file = await refusedName(call, status)
    const graph = call.world.store.graphs.get(call.param('graph_id'))
    if (file !== undefined) graph?.files.set(file, { by: 'addition', from: Date.now() })
  },
  run: addFile,
}

// §2.7. Up to 25 snippets are recommended and 30 is the default; the reference accepts any number up to that.
const bounds: Readonly<Record<string, readonly [least: number, most: number]>> = {
  search_weight: [0, 100],
  max_subquestions: [1, 10],
  grounding_level: [0, 1],
  max_snippets: [5, 30],
  max_tokens: [100, 8000],
  keyword_threshold: [0, 1],
  semantic_threshold: [0, 1],
}

function refuseConfig(call: Call): never {
  call.refuse('400-query-config', '400-InvalidInputParameters')
}

function checkNumber(call: Call, name: string, value: unknown, granted: string): void {
  const [least, most] = bounds[name] ?? [0, 0]
  if (typeof value !== 'number' || value < least || value > most) return refuseConfig(call)
  call.rejectIf(`${granted}#bounds`, value === least || value === most)
  call.rejectIf(granted, name === 'max_snippets' && value > 25)
}

export function checkQueryConfig(call: Call, config: unknown, granted: string): void {
  if (isAbsent(config)) return
  if (!isMembers(config)) return refuseConfig(call)
  const { length } = Object.keys(config)
  const { search_weight: weight, max_tokens: tokens, max_snippets: snippets } = config
  call.rejectIf(`${granted}#together`, length === 8 && weight === 0 && tokens === 8000)
  call.rejectIf(`${granted}#empty`, length === 0)
  call.rejectIf(`${granted}#defaults`, snippets === 30 && length > 1)
  call.rejectIf(`${granted}#absent`, length === 1 && snippets === undefined)
  for (const [name, value] of Object.entries(config)) {
    if (value === null) continue
    if (name in bounds) checkNumber(call, name, value, granted)
    else if (name !== 'inline_citations')
      call.reject('400-BadRequest', `query_config has no ${name}`)
    else if (typeof value !== 'boolean') refuseConfig(call)
  }
}

/** §4.4, §2.7 */
export const graphsQuery: Operation<Graph> = {
  id: 'graphs.query',
  paths: ['/v1/knowledge-graphs/:graph_id/query'],
  members: ['query', 'query_config'],
  find: findGraph,
  foreign: '403-graph-access',
  check: (call: Call) => {
    const { query, query_config: config } = call.body
    if (typeof query !== 'string') call.refuse('400-malformed-parameters')
    checkQueryConfig(call, config, '2xx-query-config')
    if ((query.match(/\b(AND|OR|NOT)\b/g) ?? []).length > queryComplexity)
      call.refuse('400-too-complex', '400-InvalidInputParameters')
  },
  fit: (call, graph) => {
    if (call.varied('graphs/empty-not-queried') && graph.made && graph.files.size === 0)
      call.reject('422-UnprocessableEntity', 'The graph is empty')
    // A client that knows another version of the graph gets a version conflict (§7.2).
    const expected = call.request.header('if-match')
    if (expected !== undefined && expected !== graph.version)
      call.refuse('general/409-conflict', '409-Conflict')
  },
  run: (call, graph) => {
    const answer = generated(call, `${graph.name} holds ${graph.files.size} files.`)
    return ok({ answer, sources: [], references: {} })
  },
}
