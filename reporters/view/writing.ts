/** Sections as a reader writes them: `4.2, 8` is `§4.2, §8`. */
export function sections(section: string): string {
  return section
    .split(',')
    .map((part) => `§${part.trim()}`)
    .join(', ')
}

/** A duration in ms for a reader: `340 ms`, `12.3 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** The text with a capital at its beginning; not if that is a name that is written small. */
export function capital(text: string): string {
  return /^(?:tpe|errors|extras)\b/.test(text) ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
