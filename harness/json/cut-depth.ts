/** Nothing that the spec shows is nested so deep; whatever compares or prints a value may recurse as deep as this. */
export const deepest = 64

/**
 * Empties, in place, every object and array of a parsed JSON value that is nested deeper than 64 levels, so that no
 * body overflows the stack of what reads it.
 */
export function cutDepth(value: unknown, level = 1): void {
  if (typeof value !== 'object' || value === null) return
  const holder = value as Record<string, unknown>
  for (const key of Object.keys(holder)) {
    const inner = holder[key]
    if (typeof inner !== 'object' || inner === null) continue
    if (level < deepest) cutDepth(inner, level + 1)
    else holder[key] = Array.isArray(inner) ? [] : {}
  }
}
