/** Longest text of a failure or a reason, in characters. */
const longestText = 2000
/** A key that begins in what is kept is found to its end. */
const lookedAt = 64 * 1024

/** Reasons and failures may quote what the target sent: keys are removed from them, and they are cut. */
export function shownText(text: string, redact: (text: string) => string): string {
  const kept = redact(text.slice(0, lookedAt))
  return kept.length > longestText ? `${kept.slice(0, longestText)}…` : kept
}
