/** Reads a number of at least 1 from the command line; a word that is none ends the process with one sentence and code 2. */
export function wholeNumber(text: string, usage: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  process.stderr.write(`${text} is no whole number of at least 1: ${usage}\n`)
  process.exit(2)
}
