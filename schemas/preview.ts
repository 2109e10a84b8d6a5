/** Longest text of a value in a message, in characters. */
const longest = 60
const deepest = 4

/** A member at a time, so that neither a huge nor a deeply nested value costs more than is shown. */
function write(value: unknown, depth: number, room: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room))
  if (typeof value !== 'object' || value === null) return String(value)
  const [open, close] = Array.isArray(value) ? (['[', ']'] as const) : (['{', '}'] as const)
  if (depth === deepest) return `${open}…${close}`
  let text: string = open
  for (const [place, key] of Object.keys(value).entries()) {
    if (text.length > room) break
    if (place > 0) text += ','
    if (!Array.isArray(value)) text += `${JSON.stringify(key.slice(0, room))}:`
    text += write((value as Record<string, unknown>)[key], depth + 1, Math.max(0, room - text.length))
  }
  return text + close
}

/** A JSON value as text of at most 60 characters, whatever its size and depth. */
export function preview(value: unknown): string {
  const text = write(value, 0, longest)
  // Not through the middle of a surrogate pair.
  return text.length > longest ? `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…` : text
}
