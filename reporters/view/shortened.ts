/** The first `limit` characters, and how many more there were. Never cuts a character in two. */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text
  const end = /[\ud800-\udbff]/.test(text[limit - 1] ?? '') ? limit - 1 : limit
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}
