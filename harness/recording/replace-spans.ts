/** A stretch of a text that is written as something else. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly label: string
}

/**
 * The text with the spans replaced: whole keys first, the longer before the shorter if they overlap; then what is left of
 * the runs, each stretch as one.
 */
export function replaceSpans(text: string, wholes: readonly Span[], runs: readonly Span[]): string {
  const spans = [...longestFirst(wholes), ...runs]
  if (spans.length === 0) return text
  // 0: not replaced; else the number of the span that replaces the character, the same number for all runs.
  const owner = new Uint32Array(text.length)
  const runsFrom = spans.length - runs.length
  spans.forEach(({ start, end }, index) => {
    if (index < runsFrom && !isFree(owner, start, end)) return
    const number = index < runsFrom ? index + 1 : runsFrom + 1
    for (let at = start; at < end; at++) if (owner[at] === 0) owner[at] = number
  })
  const parts: string[] = []
  for (let at = 0; at < text.length;) {
    const number = owner[at] as number
    let end = at + 1
    while (end < text.length && owner[end] === number) end++
    parts.push(number === 0 ? text.slice(at, end) : (spans[number - 1] as Span).label)
    at = end
  }
  return parts.join('')
}

function longestFirst(spans: readonly Span[]): Span[] {
  return [...spans].sort((a, b) => b.end - b.start - (a.end - a.start) || a.start - b.start)
}

function isFree(owner: Uint32Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (owner[at] !== 0) return false
  return true
}
