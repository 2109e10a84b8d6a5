import { setTimeout as pause } from 'node:timers/promises'
import { type Call, isAbsent, isMembers, type Members } from '../world/call.ts'
// oxfmt-ignore
import { askedTwice, checkMs, namedBy, newId, overlooks, refusedName, writeId } from '../world/created.ts'
import type { Operation } from '../world/operation.ts'
import { type Application, countUp, type Graph, ownAccount, type Owned } from '../world/world.ts'

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
  shows: ({ version }) => ({ version }),
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
    return { inputs, pace: 'usual', fails: false, jobs: 0 }
  },
  shows: () => ({}),
})
