/** Nothing that the spec shows is nested so deep; whatever compares or prints a value may recurse as deep as this. */
const deepest = 64

/**
 * Empties, in place, every object and array of a parsed JSON value that is nested deeper than 64 levels, so that no
 * body overflows the stack of what reads it. True where there was one.
 */
export function cutDepth(value: unknown, level = 1): boolean {
  if (typeof value !== 'object' || value === null) return false
  const holder = value as Record<string, unknown>
  let found = false
  for (const key of Object.keys(holder)) {
    const inner = holder[key]
    if (typeof inner !== 'object' || inner === null) continue
    if (level < deepest) found = cutDepth(inner, level + 1) || found
    else {
      holder[key] = Array.isArray(inner) ? [] : {}
      found = true
    }
  }
  return found
}
