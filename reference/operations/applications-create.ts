import { setTimeout as pause } from 'node:timers/promises'
import { freshName, nameCheckMs, namedBy, refusedName } from '../world/created.ts'
import { ownAccount, type Application } from '../world/world.ts'
import type { Answer } from '../world/answer.ts'
import { isMembers, type Call } from '../world/call.ts'
import { newId, writeId, nameOf } from '../world/ids.ts'
import type { Operation } from '../world/operation.ts'

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

function make(call: Call, name: string, account: string): Application {
  const { world } = call
  const application: Application = {
    id: newId(world, 'application'),
    account,
    name,
    inputs: call.varied('applications/inputs-demanded') ? [{ id: 'subject', required: true }] : [],
    pace: 'usual',
    fails: false,
    createdAt: world.clock.now(),
    made: true,
    jobs: 0,
  }
  world.store.applications.set(application.id, application)
  return application
}

/** Leaves something behind in spite of a refusal, under the defects of `4xx-no-effect`. */
async function actOnRefusal(call: Call, status: number): Promise<void> {
  const name = await refusedName(call, status)
  if (name !== undefined) make(call, name, ownAccount)
}

async function run(call: Call): Promise<Answer> {
  const { world, key } = call
  const { applications } = world.store
  const name = freshName(call, 'Application', applications.values())
  if (call.broken('400-atomic')) await pause(nameCheckMs)
  const { id, createdAt } = namedBy(call, applications.values(), make(call, name, key?.account ?? ''))
  return { status: 201, body: { id: writeId(world, id), name, created_at: world.clock.write(createdAt) } }
}

/** §4.4 */
export const applicationsCreate: Operation = {
  id: 'applications.create',
  method: 'POST',
  paths: ['/v1/applications'],
  body: 'json',
  members: ['name', 'blueprint'],
  check,
  refused: actOnRefusal,
  run,
  grant: (call) => ({ status: 201, body: { id: newId(call.world, 'application'), name: 'application' } }),
}
