import { randomUUID } from 'node:crypto'
import type { Call } from './call.ts'
import { type World, countUp } from './world.ts'

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

/** Whether the value is an array of one such word, which a server that looks words up by their text takes for the word. */
export function inArray(value: unknown, known: ReadonlySet<string>): boolean {
  return Array.isArray(value) && value.length === 1 && known.has(String(value[0]))
}
