import { randomUUID } from 'node:crypto'
import { type World, countUp } from './world.ts'
import type { Call } from './call.ts'

/** A new id of a file, a graph or an application; its form is the server's own affair. */
export function newId(world: World, kind: 'file' | 'graph' | 'application'): string {
  const { varied } = world.switches
  if (varied('ids/numeric') || varied('ids/json-number')) return String(100_000_000 + countUp(world, 'ids'))
  if (varied('ids/long')) return `${kind}_${randomUUID().replaceAll('-', '')}Z${randomUUID().slice(0, 8)}`
  if (varied('ids/upper-case')) return randomUUID().toUpperCase()
  return randomUUID()
}

/** How such an id stands in a response. */
export function writeId(world: World, id: string): string | number {
  return world.switches.varied('ids/json-number') && /^\d+$/.test(id) ? Number(id) : id
}

/**
 * The name of what is to be created, of whatever type. Without one the request is refused for a reason that no
 * requirement is about, or under `names/optional` the server finds one.
 */
export function nameOf(call: Call, kind: string): unknown {
  const { name } = call.body
  if (name !== undefined && name !== null) return name
  if (!call.varied('names/optional')) return name === null ? null : call.reject(400, 'BadRequest', 'name is missing')
  call.body = { ...call.body, name: `${kind} ${countUp(call.world, 'names')}` }
  return call.body['name']
}
