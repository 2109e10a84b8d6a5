import type { Answer } from '../world/answer.ts'
import { isMembers, type Call } from '../world/call.ts'
import { newId, writeId, nameOf } from '../world/ids.ts'
import type { Operation } from '../world/operation.ts'
import type { Application } from '../world/store.ts'

/** A blueprint names its nodes, and its edges lead from one of them to another. */
function isBlueprint(blueprint: unknown): boolean {
  if (!isMembers(blueprint) || !Array.isArray(blueprint['nodes']) || !Array.isArray(blueprint['edges'])) return false
  const nodes = new Set<unknown>(blueprint['nodes'])
  const isEdge = (edge: unknown) => Array.isArray(edge) && edge.length === 2 && edge.every((end) => nodes.has(end))
  return [...nodes].every((node) => typeof node === 'string') && blueprint['edges'].every(isEdge)
}

function check(call: Call): void {
  if (typeof nameOf(call, 'Application') !== 'string') call.refuse('400-malformed-parameters', 400, 'BadRequest')
  if (!isBlueprint(call.body['blueprint'])) {
    call.refuse('400-invalid-blueprint', 400, 'InvalidInputParameters', {
      description: 'The blueprint does not hold together',
    })
  }
}

function run(call: Call): Answer {
  const { world, key } = call
  const name = String(nameOf(call, 'Application'))
  for (const application of world.store.applications.values()) {
    if (application.name === name)
      call.refuse('400-duplicate-name', 400, 'BadRequest', { description: 'The name exists' })
  }
  const application: Application = {
    id: newId(world, 'application'),
    account: key?.account ?? '',
    name,
    inputs: call.varied('applications/inputs-demanded') ? [{ id: 'subject', required: true }] : [],
    pace: 'usual',
    fails: false,
    createdAt: world.clock.now(),
    made: true,
    jobs: 0,
  }
  world.store.applications.set(application.id, application)
  return {
    status: 201,
    body: { id: writeId(world, application.id), name, created_at: world.clock.write(application.createdAt) },
  }
}

/** §4.4 */
export const applicationsCreate: Operation = {
  id: 'applications.create',
  method: 'POST',
  paths: ['/v1/applications'],
  body: 'json',
  members: ['name', 'blueprint'],
  check,
  run,
  grant: (call) => ({ status: 201, body: { id: newId(call.world, 'application'), name: 'application' } }),
}
