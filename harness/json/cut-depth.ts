/** Nothing that the spec shows is nested so deep; whatever compares or prints a value may recurse as deep as this. */
const deepest = 64

const [quote, backslash, openArray, closeArray, openObject, closeObject] = Buffer.from('"\\[]{}')

/** Whether JSON text nests deeper than 64 levels. Looks at its bytes alone: of a large body no value is made for it. */
export function isTooDeep(text: Uint8Array): boolean {
  let level = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]
    if (inString) {
      if (byte === backslash) at++
      else if (byte === quote) inString = false
    } else if (byte === quote) inString = true
    else if (byte === openArray || byte === openObject) {
      if (++level > deepest) return true
    } else if (byte === closeArray || byte === closeObject) level--
  }
  return false
}

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
