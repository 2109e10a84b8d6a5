/** Nothing that the spec shows is nested so deep; whatever compares or prints a value may recurse as deep as this. */
const deepest = 64

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openArray = 0x5b
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/** JSON text as far as its characters tell: whether it is JSON at all is the parser's to say. */
export interface Structure {
  /** The text, every object and array that is nested deeper than 64 levels emptied. */
  readonly text: string
  /** About as many values as the whole holds: none is counted less than once, an empty object or array twice. */
  readonly values: number
}

/**
 * Cuts what is nested so deep that it would overflow the stack of what reads it, and counts values. Looks at the
 * characters alone: no value is made, which for some bodies of 4 MiB takes a hundred megabytes.
 */
export function structureOf(whole: string): Structure {
  const kept: string[] = []
  let keptTo = 0
  let level = 0
  let values = 1
  let inString = false
  for (let at = 0; at < whole.length; at++) {
    const char = whole.charCodeAt(at)
    if (inString) {
      if (char === backslash) at++
      else if (char === quote) inString = false
    } else if (char === quote) inString = true
    else if (char === comma) values++
    else if (char === openArray || char === openObject) {
      level++
      values++
      if (level === deepest + 1) kept.push(whole.slice(keptTo, at + 1))
    } else if (char === closeArray || char === closeObject) {
      if (level === deepest + 1) keptTo = at
      level--
    }
  }
  // What is not closed is no JSON, wherever it is cut.
  if (kept.length === 0 || level !== 0) return { text: whole, values }
  return { text: kept.join('') + whole.slice(keptTo), values }
}
