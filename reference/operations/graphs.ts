import { type Call, isAbsent, isMembers, type Answer, ok, type Members } from '../world/call.ts'
import {
  askedTwice,
  findMade,
  overlooks,
  processedFrom,
  refusedName,
  checkMs,
  namedBy,
  newId,
  writeId,
} from '../world/created.ts'
import { fileView, ownFile } from './files.ts'
import { pdfText } from './pdf.ts'
import { generated, queryComplexity } from '../world/preloaded.ts'
import type { Operation } from '../world/operation.ts'
import {
  type Graph,
  type StoredFile,
  type Application,
  countUp,
  ownAccount,
  type Owned,
} from '../world/world.ts'
import { setTimeout as pause } from 'node:timers/promises'

/** §7.3 */
function findGraph(call: Call): Graph {
  const usable = 'graphs.create/2xx-usable'
  const graph = findMade(call, 'graph', call.world.store.graphs, usable)
  const isAddition = graph.made === true && call.operation === 'graphs.add-file'
  call.rejectIf(`${usable}#additions`, isAddition, '404-ResourceNotFound')
  const isUnfilled = graph.made === true && !isAddition && graph.files.size === 0
  call.rejectIf(`${usable}#unfilled`, isUnfilled, '404-ResourceNotFound')
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

/** The refusal of a file that is in the graph. */
const inGraph = '409-BadRequest'

async function addFile(call: Call, graph: Graph): Promise<Answer> {
  const file = fileOf(call)
  const known = graph.files.get(file.id)
  const isKnown =
    known && known.from <= Date.now() && !(known.by === 'addition' && hasForgotten(call, graph))
  if (isKnown && !overlooks(call, '409-already-in-graph', file.id, [...graph.files.keys()])) {
    call.rejectIf('files.upload/2xx-attached-to-graph#other-status', known.by === 'upload')
    if (known.by === 'addition') call.refuse('409-already-in-graph', inGraph)
    call.reject(inGraph, 'The file came with its upload')
  }
  const { files } = call.world.store
  const others = [...graph.files.keys()].filter((id) => id !== file.id)
  const hasTwin = others.some((id) => files.get(id)?.name === file.name)
  call.rejectIf('409-already-in-graph#same-name', hasTwin, inGraph)
  const added = [...graph.files.values()].filter((one) => one.by === 'addition').length
  call.breakIf('2xx-accepted#many', !known && added >= manyFiles)
  call.rejectIf('2xx-accepted#one-file', added > 0, inGraph)
  call.rejectIf('2xx-accepted#always-409', true, inGraph)
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

interface Creation<Made extends Owned> {
  readonly kind: 'graph' | 'application'
  readonly path: string
  readonly status: number
  readonly members: readonly string[]
  check(call: Call, name: string): void
  refuseFull?(call: Call): void
  all(call: Call): Map<string, Made>
  own(call: Call): Omit<Made, keyof Owned | 'name'>
  shows(made: Made): Members
}

/**
 * The requested name, of any type. Without one the request is refused for a reason that no requirement covers, or,
 * under `names/optional`, the server chooses one.
 */
function nameOf(call: Call, kind: string): unknown {
  const { name } = call.body
  if (!isAbsent(name)) return name
  if (!call.varied('names/optional'))
    return name === null ? null : call.reject('400-BadRequest', 'name is missing')
  call.body = { ...call.body, name: `${kind} ${countUp(call.world, 'names')}` }
  return call.body['name']
}

function refuseKnown(call: Call, name: string, all: readonly (Graph | Application)[]): void {
  const known = all.find((each) => each.name === name)
  if (!known) return
  askedTwice.add(known)
  const isUsed = 'files' in known ? known.files.size > 0 : known.jobs > 0
  if (isUsed && call.broken('400-duplicate-name#used')) return
  const names = all.map((each) => each.name)
  if (!overlooks(call, '400-duplicate-name', name, names)) call.refuse('400-duplicate-name')
}

const underWay = new Set<string>()

function creation<Made extends Graph | Application>(creation: Creation<Made>): Operation {
  const { kind, path, status, members } = creation
  const make = (call: Call, name: string, account: string): Made => {
    const { world } = call
    const owned = {
      id: newId(world, kind),
      account,
      name,
      createdAt: world.clock.now(),
      made: true,
    }
    const made = { ...owned, ...creation.own(call) } as Made
    creation.all(call).set(made.id, made)
    return made
  }
  return {
    id: `${kind}s.create`,
    paths: [path],
    members,
    check: (call: Call) => {
      const name = nameOf(call, kind)
      if (typeof name !== 'string') call.refuse('400-malformed-parameters')
      creation.check(call, name)
    },
    refused: async (call, status) => {
      const name = await refusedName(call, status)
      if (name !== undefined) make(call, name, ownAccount)
    },
    run: async (call) => {
      const { clock } = call.world
      const name = String(call.body['name'])
      creation.refuseFull?.(call)
      if (call.broken('400-atomic#breaks')) {
        if (underWay.has(name)) throw new Error('the name is there twice')
        underWay.add(name)
        await pause(checkMs).finally(() => underWay.delete(name))
      }
      // No await from here on: two creations of one name may come at the same moment.
      refuseKnown(call, name, [...creation.all(call).values()])
      if (call.broken('400-atomic')) await pause(checkMs)
      const made = namedBy(call, creation.all(call).values(), make(call, name, call.account))
      const shown = { id: writeId(call.world, made.id), name: made.name, ...creation.shows(made) }
      return { status, body: { ...shown, created_at: clock.write(made.createdAt) } }
    },
    grant: (call) => ({ status, body: { id: newId(call.world, kind), name: kind } }),
  }
}

/** §4.4 */
export const graphsCreate = creation<Graph>({
  kind: 'graph',
  path: '/v1/knowledge-graphs',
  status: 200,
  members: ['name', 'description'],
  check: (call, name) => {
    const { description } = call.body
    if (!/^[\p{L}\p{N} ._-]+$/u.test(name))
      call.refuse('400-invalid-name', '400-InvalidInputParameters')
    if (!isAbsent(description) && typeof description !== 'string')
      call.reject('400-BadRequest', 'description is a string')
  },
  all: (call) => call.world.store.graphs,
  refuseFull: (call) => {
    if (call.account === 'full')
      call.refuse('general/507-insufficient-storage', '507-InsufficientStorage')
  },
  own: () => ({ version: '"1"', files: new Map() }),
  shows: (one) => ({ version: one.version }),
})

function isBlueprint(blueprint: unknown): boolean {
  const { nodes, edges } = isMembers(blueprint) ? blueprint : {}
  if (!Array.isArray(nodes) || !Array.isArray(edges)) return false
  const isEdge = (edge: unknown) =>
    Array.isArray(edge) && edge.length === 2 && edge.every((end) => nodes.includes(end))
  return nodes.every((node) => typeof node === 'string') && edges.every(isEdge)
}

/** §4.4 */
export const applicationsCreate = creation<Application>({
  kind: 'application',
  path: '/v1/applications',
  status: 201,
  members: ['name', 'blueprint'],
  check: (call) => {
    if (!isBlueprint(call.body['blueprint']))
      call.refuse('400-invalid-blueprint', '400-InvalidInputParameters')
  },
  all: (call) => call.world.store.applications,
  own: (call) => {
    const isDemanded = call.varied('applications/inputs-demanded')
    const inputs = isDemanded ? [{ id: 'subject', required: true }] : []
    return { inputs, isSlow: false, fails: false, jobs: 0 }
  },
  shows: () => ({}),
})
