import type { Answer } from '../world/answer.ts'
import { newId, writeId, nameOf } from '../world/ids.ts'
import { isAbsent, type Call, type Members } from '../world/call.ts'
import type { Operation } from '../world/operation.ts'
import type { Graph } from '../world/store.ts'

function view(call: Call, graph: Graph): Members {
  const { id, name, createdAt, version } = graph
  return { id: writeId(call.world, id), name, version, created_at: call.world.clock.write(createdAt) }
}

function check(call: Call): void {
  const { description } = call.body
  const name = nameOf(call, 'Graph')
  if (typeof name !== 'string') call.refuse('400-malformed-parameters', 400, 'BadRequest')
  if (!/^[\p{L}\p{N} ._-]+$/u.test(name)) call.refuse('400-invalid-name', 400, 'InvalidInputParameters')
  if (!isAbsent(description) && typeof description !== 'string') {
    call.reject(400, 'BadRequest', 'description is a string')
  }
}

function run(call: Call): Answer {
  const { world, key } = call
  if (key?.account === 'full') call.refuse('general/507-insufficient-storage', 507, 'InsufficientStorage')
  const name = String(nameOf(call, 'Graph'))
  for (const graph of world.store.graphs.values()) {
    if (graph.name === name) call.refuse('400-duplicate-name', 400, 'BadRequest', { description: 'The name exists' })
  }
  const createdAt = world.clock.now()
  const id = newId(world, 'graph')
  const graph: Graph = {
    id,
    account: key?.account ?? '',
    name,
    version: '"1"',
    files: new Map(),
    createdAt,
    made: true,
  }
  world.store.graphs.set(id, graph)
  return { status: 200, body: view(call, graph) }
}

/** §4.4 */
export const graphsCreate: Operation = {
  id: 'graphs.create',
  method: 'POST',
  paths: ['/v1/knowledge-graphs'],
  body: 'json',
  members: ['name', 'description'],
  check,
  run,
  grant: (call) => ({ status: 200, body: { id: newId(call.world, 'graph'), name: 'graph' } }),
}
