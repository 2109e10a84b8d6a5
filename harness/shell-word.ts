/** `##[`, `##vso[` and the like are commands to the runner of a pipeline, wherever in a line they are printed. */
const runnerCommand = /#(?=#[\w[])/g

/** Text in single quotes for a POSIX shell; nothing in it is a command to a runner. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`).replaceAll(runnerCommand, `#''`)}'`
}

/** Text in double quotes in which `$NAME` and `${...}` still expand. */
export function doubleQuoted(text: string): string {
  return `"${text.replaceAll(/["\\`]/g, '\\$&').replaceAll(runnerCommand, '#""')}"`
}

/** A word for a POSIX shell, quoted only if it needs to be. */
export function shellWord(word: string): string {
  return /^(?!~)[\w@%+=:,./~-]+$/.test(word) ? word : singleQuoted(word)
}
