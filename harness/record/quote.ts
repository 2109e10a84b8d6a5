/** Text in single quotes for a POSIX shell. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Text in double quotes in which `$NAME` and `${...}` still expand. */
export function expanding(text: string): string {
  return `"${text.replaceAll(/["\\`]/g, '\\$&')}"`
}
