import { escapeToken, getAt, tokensOf } from '../../schemas/json.ts'

/** Pointers of the members that match a pattern in which `*` is any array item. */
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
