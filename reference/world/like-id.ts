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
  ]
}
