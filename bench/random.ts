import { createHash } from 'node:crypto'

/** Numbers that only depend on what they are asked for: the same in every run, in whatever order. */
export interface Random {
  /** At least 0, below 1. */
  of(what: string): number
  oneOf<T>(what: string, choices: readonly T[]): T
}

export function randomFrom(seed: number): Random {
  const of = (what: string): number => createHash('sha256').update(`${seed} ${what}`).digest().readUInt32BE(0) / 2 ** 32
  return { of, oneOf: (what, choices) => choices[Math.floor(of(what) * choices.length)] as (typeof choices)[number] }
}
