/** How JSON text is built, as far as its bytes tell: whether it is JSON at all is the parser's to say. */
export interface Structure {
  /** Levels of objects and arrays. */
  readonly depth: number
  /** Objects, arrays and members. */
  readonly parts: number
}

const [quote, backslash, colon, openArray, closeArray, openObject, closeObject] = Buffer.from('"\\:[]{}')

/** Looks at the bytes alone: no value is made, which for some bodies of 4 MiB takes a hundred megabytes. */
export function structureOf(text: Uint8Array): Structure {
  let level = 0
  let depth = 0
  let parts = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]
    if (inString) {
      if (byte === backslash) at++
      else if (byte === quote) inString = false
    } else if (byte === quote) inString = true
    else if (byte === colon) parts++
    else if (byte === openArray || byte === openObject) {
      parts++
      if (++level > depth) depth = level
    } else if (byte === closeArray || byte === closeObject) level--
  }
  return { depth, parts }
}
