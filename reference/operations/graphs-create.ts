import { setTimeout as pause } from 'node:timers/promises'
import { namedBy, overlooks, refusedName } from '../world/created.ts'
import { ownAccount, type Graph } from '../world/world.ts'
import type { Answer } from '../world/answer.ts'
import { newId, writeId, nameOf } from '../world/ids.ts'
import { isAbsent, type Call, type Members } from '../world/call.ts'
import type { Operation } from '../world/operation.ts'

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

function make({ world }: Call, name: string, account: string): Graph {
  const id = newId(world, 'graph')
  const createdAt = world.clock.now()
  const graph: Graph = { id, account, name, version: '"1"', files: new Map(), createdAt, made: true }
  world.store.graphs.set(id, graph)
  return graph
}

/** What a refused creation leaves behind, under the defects of `4xx-no-effect`. */
async function actOnRefusal(call: Call, status: number): Promise<void> {
  const name = await refusedName(call, status)
  if (name !== undefined) make(call, name, ownAccount)
}

/** ms between a check and what follows from it, under the defects of `400-atomic`. */
const checkMs = 10

async function run(call: Call): Promise<Answer> {
  const { world, key } = call
  const { graphs } = world.store
  if (key?.account === 'full') call.refuse('general/507-insufficient-storage', 507, 'InsufficientStorage')
  const name = String(nameOf(call, 'Graph'))
  const names = [...graphs.values()].map((graph) => graph.name)
  if (names.includes(name) && !overlooks(call, '400-duplicate-name', name, names))
    call.refuse('400-duplicate-name', 400, 'BadRequest', { description: 'The name exists' })
  if (call.broken('400-atomic')) await pause(checkMs)
  const graph = make(call, name, key?.account ?? '')
  return { status: 200, body: view(call, namedBy(call, graphs.values(), graph)) }
}

/** §4.4 */
export const graphsCreate: Operation = {
  id: 'graphs.create',
  method: 'POST',
  paths: ['/v1/knowledge-graphs'],
  body: 'json',
  members: ['name', 'description'],
  check,
  refused: actOnRefusal,
  run,
  grant: (call) => ({ status: 200, body: { id: newId(call.world, 'graph'), name: 'graph' } }),
}
