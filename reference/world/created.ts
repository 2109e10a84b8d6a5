import { randomUUID } from 'node:crypto'
import type { Call } from './call.ts'
import { ownAccount, type Owned, type World, countUp } from './world.ts'

/** A new id of a file, a graph or an application; its form is the server's own affair. */
export function newId(world: World, kind: 'file' | 'graph' | 'application'): string {
  const { varied } = world.switches
  if (varied('ids/numeric') || varied('ids/json-number')) return String(100_000_000 + countUp(world, 'ids'))
  // Above what a number of JavaScript holds.
  if (varied('ids/int64')) return String(9_007_199_254_740_993n + 2n * BigInt(countUp(world, 'ids')))
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

/** How an id that no object has is like one that an object has, for servers that compare less than the whole: kinds of fault. */
export function likenessOf(call: Call, id: string, known: Iterable<string>): string[] {
  const ids = [...known]
  const again = countUp(call.world, `asked for ${call.operation} ${id}`) > 1
  return [
    ...(id.length > 3 && ids.some((each) => each.startsWith(id)) ? ['cut'] : []),
    ...(ids.some((each) => id.startsWith(each)) ? ['appended'] : []),
    ...(ids.some((each) => each.length === id.length && each.slice(0, -1) === id.slice(0, -1)) ? ['last-digit'] : []),
    ...(ids.some((each) => each.length === id.length && each.slice(1) === id.slice(1)) ? ['first-digit'] : []),
    ...(id.length > 8 && ids.some((each) => each.slice(0, 8) === id.slice(0, 8)) ? ['first-group'] : []),
    ...(id.endsWith('_') && ids.some((each) => each.startsWith(id.slice(0, -1))) ? ['wildcard'] : []),
    ...(again ? ['again'] : []),
    ...(Object.values(call.world.store).some((kind) => kind instanceof Map && kind.has(id)) ? ['another-kind'] : []),
  ]
}

/** A word that begins like a known one, for servers that compare no more than its beginning: a kind of fault. */
export function lengthened(word: unknown, known: Iterable<string>): string[] {
  return [...known].some((each) => typeof word === 'string' && word.startsWith(each)) ? ['lengthened'] : []
}

/** A word of the form of a known one, for servers that look at no more than the form: a kind of fault. */
export function ofForm(word: string, known: Iterable<string>): string[] {
  const formOf = (each: string): string => each.replaceAll(/[a-z]/g, 'a')
  return [...known].some((each) => formOf(each) === formOf(word)) ? ['form'] : []
}

/** Whether the value is an array of one such word, which a server that looks words up by their text takes for the word. */
export function inArray(value: unknown, known: ReadonlySet<string>): boolean {
  return Array.isArray(value) && value.length === 1 && known.has(String(value[0]))
}

/** Two that are so many ms apart at most count as made at once. */
const atOnceMs = 20

const madeBefore = <T extends Owned>(all: Iterable<T>, own: Owned): T[] =>
  [...all].filter((each) => each.made && each !== own && each.createdAt <= own.createdAt)

/** The object that the answer to a creation names: another one, under the defects of `2xx-own-id`. */
export function namedBy<T extends Owned>(call: Call, all: Iterable<T>, own: T): T {
  const before = madeBefore(all, own)
  if (call.broken('2xx-own-id')) return before[0] ?? own
  const beside = before.find(({ createdAt }) => own.createdAt - createdAt < atOnceMs)
  return beside && call.broken('2xx-own-id#at-once') ? beside : own
}

/** Whether an object is lost because of others, under the defects of that requirement. */
function isTakenAway({ switches }: World, id: string, all: Iterable<Owned>, own: Owned): boolean {
  if (!own.made) return false
  const made = [...all].filter((each) => each.made)
  const next = made[made.findIndex((each) => each.id === own.id) + 1]
  if (switches.broken(`${id}#last-only`) && next) return true
  return switches.broken(`${id}#at-once`) && next !== undefined && next.createdAt - own.createdAt < atOnceMs
}

/** The name in a refused creation that has an effect nevertheless, under the defects of `4xx-no-effect`. */
/** Leaves something behind in spite of a refusal, under the defects of `4xx-no-effect`. */
export function createAllTheSame(make: (call: Call, name: string, account: string) => unknown) {
  return async (call: Call, status: number): Promise<void> => {
    const name = await refusedName(call, status)
    if (name !== undefined) make(call, name, ownAccount)
  }
}

export async function refusedName(call: Call, status: number): Promise<string | undefined> {
  const isLabelled = call.request.header('content-type') === 'application/json'
  const isEffective =
    (call.broken('4xx-no-effect') && status === 401) ||
    (call.broken('4xx-no-effect#forbidden') && status === 403) ||
    (call.broken('4xx-no-effect#content-type') && status === 400 && !isLabelled) ||
    (call.broken('4xx-no-effect#blueprint') && status === 400 && isLabelled)
  if (!isEffective) return undefined
  const body: unknown = await call.request.json().catch(() => undefined)
  const { name, file_id: file } = (body ?? {}) as Record<string, unknown>
  return typeof name === 'string' ? name : typeof file === 'string' ? file : undefined
}

/** Names that were refused because they exist, under `#third`: the next creation with one of them is granted. */
const refusedOnce = new WeakMap<World, Set<string>>()

const few = 3

/** Whether a broken server does not see that something exists; `all`: what was made, the newest last. */
export function overlooks(call: Call, requirement: string, name: string, all: readonly string[]): boolean {
  if (call.broken(`${requirement}#latest-only`) && all.at(-1) !== name) return true
  if (call.broken(`${requirement}#few-known`) && !all.slice(-few).includes(name)) return true
  if (!call.broken(`${requirement}#third`)) return false
  const known = refusedOnce.get(call.world) ?? new Set()
  refusedOnce.set(call.world, known)
  if (known.delete(name)) return true
  known.add(name)
  return false
}

/** What was asked for a second time: lost, under `#asked-twice`. */
const askedTwice = new WeakSet<object>()

/** Tells whether a created graph has forgotten its files, under the defects of `409-already-in-graph`. */
export function hasForgotten(call: Call, graph: Owned): boolean {
  const isEmptied = askedTwice.has(graph) && call.broken('409-already-in-graph#emptied')
  return graph.made === true && (isEmptied || call.broken('409-already-in-graph#created'))
}

/** ms between the check of a name and what follows from it, under the defects of `400-atomic`. */
export const nameCheckMs = 10

/**
 * The name of what is to be created; refuses one that exists among `all`, in the order in which they were made. What
 * follows has to follow at once: two of one name may come at the same moment.
 */
export function freshName(
  call: Call,
  kind: string,
  all: Iterable<{ readonly name: string; readonly files?: ReadonlyMap<string, unknown>; readonly jobs?: number }>,
): string {
  const name = String(nameOf(call, kind))
  const made = [...all]
  const names = made.map((each) => each.name)
  const known = made.find((each) => each.name === name)
  if (known) askedTwice.add(known)
  const isUsed = (known?.files?.size ?? 0) > 0 || (known?.jobs ?? 0) > 0
  if (known && isUsed && call.broken('400-duplicate-name#used')) return name
  if (known && !overlooks(call, '400-duplicate-name', name, names))
    call.refuse('400-duplicate-name', 400, 'BadRequest', { description: 'The name exists' })
  return name
}

/** ms between the creation of something and its first use, if nothing else is asked for. */
const usualMs = 1000
/** ms after which nobody waits for it any more. */
const tooLateMs = 30_000

function age(world: World, thing: Owned): number {
  return thing.made ? world.clock.now() - thing.createdAt : Infinity
}

/** Whether it is not there yet, under the variant `settling/<kind>`. */
export function isSettling(world: World, kind: 'uploads' | 'graphs' | 'applications', thing: Owned): boolean {
  return world.switches.varied(`settling/${kind}`) && age(world, thing) < (world.pace.settle ?? usualMs)
}

/** Breaks the use of something that a request made, under the defects of that requirement. */
export function breakUse(call: Call, id: string, thing: Owned, all: Iterable<Owned>): void {
  const { broken } = call.world.switches
  if (!thing.made) return
  if (isTakenAway(call.world, id, all, thing)) call.reject(404, 'ResourceNotFound')
  if (broken(`${id}#asked-twice`) && askedTwice.has(thing)) call.reject(404, 'ResourceNotFound')
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
