/** Nothing that the spec shows is nested so deep; whatever compares or prints a value may recurse as deep as this. */
const deepest = 64

const [quote, backslash, colon, openArray, closeArray, openObject, closeObject] = Buffer.from('"\\:[]{}')

/** JSON text as far as its bytes tell: whether it is JSON at all is the parser's to say. */
export interface Structure {
  /** The text, every object and array that is nested deeper than 64 levels emptied. */
  readonly text: Uint8Array
  /** Objects, arrays and members in it. */
  readonly parts: number
}

/**
 * Cuts what is nested so deep that it would overflow the stack of what reads it, and counts the rest. Looks at the bytes
 * alone: no value is made, which for some bodies of 4 MiB takes a hundred megabytes.
 */
export function structureOf(whole: Uint8Array): Structure {
  const kept: Uint8Array[] = []
  let keptTo = 0
  let level = 0
  let parts = 0
  let inString = false
  for (let at = 0; at < whole.length; at++) {
    const byte = whole[at]
    if (inString) {
      if (byte === backslash) at++
      else if (byte === quote) inString = false
    } else if (byte === quote) inString = true
    else if (byte === colon) {
      if (level <= deepest) parts++
    } else if (byte === openArray || byte === openObject) {
      level++
      if (level <= deepest + 1) parts++
      if (level === deepest + 1) kept.push(whole.subarray(keptTo, at + 1))
    } else if (byte === closeArray || byte === closeObject) {
      if (level === deepest + 1) keptTo = at
      level--
    }
  }
  // What is not closed is no JSON, wherever it is cut.
  if (kept.length === 0 || level !== 0) return { text: whole, parts }
  return { text: Buffer.concat([...kept, whole.subarray(keptTo)]), parts }
}
