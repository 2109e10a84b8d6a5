/** JSON Pointer (RFC 6901) on plain JSON values. */

/** The reference tokens of a pointer, unescaped. */
export function tokensOf(pointer: string): string[] {
  if (pointer === '') return []
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function step(value: unknown, token: string): unknown {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(token) ? value[Number(token)] : undefined
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, token)) {
    return (value as Record<string, unknown>)[token]
  }
  return undefined
}

/** The value at the pointer; undefined if there is none. */
export function getAt(value: unknown, pointer: string): unknown {
  return tokensOf(pointer).reduce(step, value)
}

/** A copy with `replacement` at the pointer, the member added if its parent lacks it; removed if it is `undefined`. */
export function setAt(value: unknown, pointer: string, replacement: unknown): unknown {
  const path = tokensOf(pointer)
  const last = path.pop()
  if (last === undefined) return replacement
  const copy = structuredClone(value)
  const parent = path.reduce(step, copy)
  if (Array.isArray(parent)) {
    if (replacement === undefined) parent.splice(Number(last), 1)
    else parent[last === '-' ? parent.length : Number(last)] = replacement
  } else if (typeof parent === 'object' && parent !== null) {
    if (replacement === undefined) delete (parent as Record<string, unknown>)[last]
    else (parent as Record<string, unknown>)[last] = replacement
  } else {
    throw new Error(`no parent at ${pointer}`)
  }
  return copy
}

/** The pointers of all members at a pattern, `*` in it for each item of an array; none if the value has no such member. */
export function pointersAt(value: unknown, pattern: string): string[] {
  const found = tokensOf(pattern).reduce<string[]>(
    (pointers, token) => {
      if (token !== '*') return pointers.map((pointer) => `${pointer}/${escapeToken(token)}`)
      return pointers.flatMap((pointer) => {
        const items = getAt(value, pointer)
        return Array.isArray(items) ? items.map((_, at) => `${pointer}/${at}`) : []
      })
    },
    [''],
  )
  return found.filter((pointer) => getAt(value, pointer) !== undefined)
}

export function escapeToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1')
}
