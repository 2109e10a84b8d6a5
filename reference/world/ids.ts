import { randomUUID } from 'node:crypto'
import type { World } from './world.ts'
import { countUp } from './world.ts'

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
