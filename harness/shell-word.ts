const runnerCommand = /#(?=#[\w[])/g

/** Quotes a text with single quotes for a POSIX shell, safe for CI runners. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`).replaceAll(runnerCommand, `#''`)}'`
}

/** Quotes a text with double quotes; `$NAME` and `${...}` still expand. */
export function doubleQuoted(text: string): string {
  return `"${text.replaceAll(/["\\`]/g, '\\$&').replaceAll(runnerCommand, '#""')}"`
}

/** Quotes a word for a POSIX shell if needed. */
export function shellWord(word: string): string {
  return /^(?!~)[\w@%+=:,./~-]+$/.test(word) ? word : singleQuoted(word)
}
