import { createHash } from 'node:crypto'
import { UserError } from '../user-error.ts'

export interface Selection {
  readonly only: readonly string[]
  readonly skip: readonly string[]
}

/** Whether `--only` and `--skip` leave the id in: every id if `--only` is not given; `--skip` counts after `--only`. */
export function isSelected(id: string, { only, skip }: Selection): boolean {
  if (only.length > 0 && !only.some((pattern) => matchesId(id, pattern))) return false
  return !skip.some((pattern) => matchesId(id, pattern))
}

const longestPattern = 256

/** Most patterns that a file may hold in one place: several times as many as there are requirements. */
export const maxPatterns = 1000

/** Why a text can be no pattern; undefined if it can. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length <= longestPattern) return undefined
  return `a pattern has at most ${longestPattern} characters, and this one has ${pattern.length}`
}

/**
 * Whether the pattern matches the whole id; `*` matches any characters, `/` included; everything else matches itself. A
 * pattern that is too long matches nothing. Patterns come from strangers too (a bundle that is verified): what stands between
 * two stars is looked for once, so that no pattern takes more steps than its length times the id's.
 */
export function matchesId(id: string, pattern: string): boolean {
  if (pattern.length > longestPattern) return false
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return id === pattern
  if (!id.startsWith(first) || !id.endsWith(last)) return false
  let at = first.length
  for (const part of parts) {
    const found = id.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at + last.length <= id.length
}

/** One part of a run: the `index`-th of `count`, from 1. */
export interface Shard {
  readonly index: number
  readonly count: number
}

/** Reads `2/3`; throws UserError on anything else. */
export function parseShard(text: string): Shard {
  const [, index, count] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(text)?.map(Number) ?? []
  if (index === undefined || count === undefined || index > count) {
    throw new UserError(`--shard ${text}: give the part and the number of parts, for example 1/3`)
  }
  return { index, count }
}

/** The `envelope/` requirements that send requests of their own; the others are judged on whatever is sent, in every shard. */
const activeEnvelopeRequirements: ReadonlySet<string> = new Set(
  ['unknown-path', 'unsupported-method', 'large-body', 'charset-parameter'].map(
    (name) => `envelope/${name}`,
  ),
)

/** Chosen so that two to five shards come out nearly even, by the number of their requirements. */
const SALT = 4948

/** Whether the requirement is judged on everything that is sent, so that it belongs to every shard. */
export function isObserved(id: string): boolean {
  return id.startsWith('envelope/') && !activeEnvelopeRequirements.has(id)
}

/**
 * The shard, from 1 to `count`, to which a requirement is assigned. A group stays together: all `jobs.*` are one, else the
 * operation is. Whatever runs alone (`exclusive`: scenarios with `before`, `after` or `repeat`) is in the last
 * one, which is to run after the others, and so are the active `envelope/` requirements. Observed requirements are assigned to none.
 */
export function shardOf(
  id: string,
  operation: string,
  count: number,
  exclusive: ReadonlySet<string>,
): number {
  if (activeEnvelopeRequirements.has(id) || exclusive.has(id)) return count
  const group = operation.startsWith('jobs.') ? 'jobs' : operation
  return (createHash('sha256').update(`${SALT}/${group}`).digest().readUInt32BE(0) % count) + 1
}

/** Whether the requirement is judged in this shard; an observed requirement is, in every one. */
export function isAssignedTo(
  { id, operation }: { readonly id: string; readonly operation: string },
  { index, count }: Shard,
  exclusive: ReadonlySet<string>,
): boolean {
  return isObserved(id) || shardOf(id, operation, count, exclusive) === index
}
