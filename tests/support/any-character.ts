import fc from 'fast-check'

/** Surrogates stand for no character of their own. */
const surrogates = { first: 0xd800, count: 0x800 }

/**
 * Any character of Unicode, as `unit: 'binary'` of fast-check means it and in the same order. That one keeps a table of
 * all million of them once a text was made of it, which takes a second and a hundred megabytes.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat(0x10ffff - surrogates.count)
  .map((at) => String.fromCodePoint(at < surrogates.first ? at : at + surrogates.count), place)

function place(character: unknown): number {
  if (typeof character !== 'string' || [...character].length !== 1)
    throw new Error('not a character')
  const code = character.codePointAt(0)!
  if (code >= surrogates.first && code < surrogates.first + surrogates.count)
    throw new Error('a lone surrogate')
  return code < surrogates.first ? code : code - surrogates.count
}
