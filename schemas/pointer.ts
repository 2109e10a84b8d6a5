/** JSON Pointer (RFC 6901) on plain JSON values. */

/** The reference tokens of a pointer, unescaped. */
export function tokensOf(pointer: string): string[] {
  if (pointer === '') return []
  const tokens = pointer.slice(1).split('/')
  return pointer.includes('~') ? tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')) : tokens
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
  return replacedAt(value, tokensOf(pointer), replacement, pointer)
}

/** Copies what leads to the place, and shares the rest. */
function replacedAt(
  value: unknown,
  [token, ...rest]: readonly string[],
  replacement: unknown,
  pointer: string,
): unknown {
  if (token === undefined) return replacement
  const child = (): unknown => replacedAt(step(value, token), rest, replacement, pointer)
  if (Array.isArray(value)) {
    const items = [...(value as unknown[])]
    if (rest.length === 0 && replacement === undefined) items.splice(Number(token), 1)
    else items[token === '-' ? items.length : Number(token)] = child()
    return items
  }
  if (typeof value !== 'object' || value === null) throw new Error(`no parent at ${pointer}`)
  if (rest.length > 0 || replacement !== undefined) return { ...value, [token]: child() }
  const { [token]: _removed, ...others } = value as Record<string, unknown>
  return others
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
