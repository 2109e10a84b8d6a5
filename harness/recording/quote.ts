/** Text in single quotes for a POSIX shell. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Text in double quotes in which `$NAME` and `${...}` still expand. */
export function expanding(text: string): string {
  return `"${text.replaceAll(/["\\`]/g, '\\$&')}"`
}

/** A word for a POSIX shell, quoted only if it needs to be. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : singleQuoted(word)
}
