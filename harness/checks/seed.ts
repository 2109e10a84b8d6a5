import type { RunOptions } from '../engine/run.ts'
import { createHash } from 'node:crypto'

/** A 32-bit seed of its own for each property: derived from the run's seed and a name (a requirement id, as a rule). */
export function seedFor(seed: number, name: string): number {
  return createHash('sha256').update(`${seed}:${name}`).digest().readInt32BE(0)
}

/** A stream of numbers in [0, 1) from a seed (mulberry32): for choices that no arbitrary makes, such as unknown ids. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

interface SampledFor {
  readonly run: { readonly options: Pick<RunOptions, 'depth' | 'seed'> }
  readonly requirement: { readonly id: string }
}

/** Cases that have a name: all of them, or of a quick run one, drawn from its seed for each requirement. */
export function sampled<T>({ run: { options }, requirement }: SampledFor, cases: readonly T[]): readonly T[] {
  if (options.depth === 'full') return cases
  const at = Math.floor(randomOf(seedFor(options.seed, `case of ${requirement.id}`))() * cases.length)
  return cases.slice(at, at + 1)
}
