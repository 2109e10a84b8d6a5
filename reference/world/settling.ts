import type { Call } from './call.ts'
import { isTakenAway } from './created.ts'
import type { World } from './world.ts'

/** ms between the creation of something and its first use, if nothing else is asked for. */
const usualMs = 1000
/** ms after which nobody waits for it any more. */
const tooLateMs = 30_000

/** Something that came with a request. */
interface Made {
  readonly id: string
  readonly createdAt: number
  readonly made?: true
}

function age(world: World, thing: Made): number {
  return thing.made ? world.clock.now() - thing.createdAt : Infinity
}

/** Whether it is not there yet, under the variant `settling/<kind>`. */
export function isSettling(world: World, kind: 'uploads' | 'graphs' | 'applications', thing: Made): boolean {
  return world.switches.varied(`settling/${kind}`) && age(world, thing) < (world.pace.settle ?? usualMs)
}

/** Breaks the use of something that a request made, under the defects of that requirement. */
export function breakUse(call: Call, id: string, thing: Made, all: Iterable<Made>): void {
  const { broken } = call.world.switches
  if (!thing.made) return
  if (isTakenAway(call.world, id, all, thing)) call.reject(404, 'ResourceNotFound')
  if (broken(id)) call.reject(404, 'ResourceNotFound')
  if (broken(`${id}#gone`)) call.reject(410, 'Gone')
  if (broken(`${id}#forbidden`)) call.reject(403, 'InsufficientAccessRights')
  if (broken(`${id}#5xx`)) call.reject(500, 'InternalError')
  if (broken(`${id}#late`) && age(call.world, thing) < tooLateMs) call.reject(404, 'ResourceNotFound')
}

/** ms that uploads and additions take under the variant `processing/slow`. */
const slowMs = 1000

/** When a file that is uploaded or added now begins to count as part of its graph, in ms since the epoch. */
export function processedFrom(world: World): number {
  return Date.now() + (world.switches.varied('processing/slow') ? (world.pace.settle ?? slowMs) : 0)
}
