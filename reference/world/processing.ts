import type { World } from './world.ts'

/** ms that uploads and additions take under the variant `processing/slow`. */
const slowMs = 1000

/** ms since the epoch from when on a file uploaded or added now counts as part of its graph. */
export function processedFrom(world: World): number {
  return Date.now() + (world.switches.varied('processing/slow') ? (world.pace.settle ?? slowMs) : 0)
}
