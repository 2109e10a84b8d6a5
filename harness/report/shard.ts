import { createHash } from 'node:crypto'
import { UserError } from '../user-error.ts'

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

/** The `envelope/` rows that send requests of their own; the others are judged on whatever is sent, in every shard. */
const activeEnvelopeRows: ReadonlySet<string> = new Set(
  ['unknown-path', 'unsupported-method', 'large-body', 'charset-parameter'].map((name) => `envelope/${name}`),
)

/** Chosen so that two to five shards come out nearly even, by the number of their requirements. */
const SALT = 4948

/** Whether the row is judged on everything that is sent, so that it belongs to every shard. */
export function isObserved(id: string): boolean {
  return id.startsWith('envelope/') && !activeEnvelopeRows.has(id)
}

/**
 * The shard, from 1 to `count`, to which a requirement is dealt. A group stays together: all `jobs.*` are one, else the
 * operation is. Whatever runs alone (`exclusive`: scenarios with `before`, `after` or `repeat`) is in the last
 * one, which is to run after the others, and so are the active `envelope/` rows. Observed rows are dealt to none.
 */
export function shardOf(id: string, operation: string, count: number, exclusive: ReadonlySet<string>): number {
  if (activeEnvelopeRows.has(id) || exclusive.has(id)) return count
  const group = operation.startsWith('jobs.') ? 'jobs' : operation
  return (createHash('sha256').update(`${SALT}/${group}`).digest().readUInt32BE(0) % count) + 1
}

/** Whether the requirement is judged in this shard; an observed row is, in every one. */
export function isDealtTo(
  { id, operation }: { readonly id: string; readonly operation: string },
  { index, count }: Shard,
  exclusive: ReadonlySet<string>,
): boolean {
  return isObserved(id) || shardOf(id, operation, count, exclusive) === index
}
