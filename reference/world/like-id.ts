import type { Call } from './call.ts'
import { countUp } from './world.ts'

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
