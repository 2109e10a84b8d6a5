/** The words of a text: runs of letters and digits, without case. */
export function wordsOf(text: string): readonly string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  )
}

/** How many words of a text another one has in the same order, and the first that it lacks. */
export interface WordsFound {
  readonly found: number
  readonly firstMissing: string | undefined
}

/**
 * The longest common subsequence of words (bit-parallel, Hyyrö 2004): each bit of `open` is a wanted word that is not
 * found yet.
 */
export function findInOrder(wanted: readonly string[], words: readonly string[]): WordsFound {
  const places = new Map<string, bigint>()
  wanted.forEach((word, at) => places.set(word, (places.get(word) ?? 0n) | (1n << BigInt(at))))
  const all = (1n << BigInt(wanted.length)) - 1n
  let open = all
  for (const word of words) {
    const at = places.get(word)
    if (at === undefined) continue
    const next = open & at
    open = ((open + next) | (open & ~next)) & all
  }
  const missing = wanted.filter((_, at) => (open >> BigInt(at)) & 1n)
  return { found: wanted.length - missing.length, firstMissing: missing[0] }
}
