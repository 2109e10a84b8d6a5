/** A number from the command line, at least 1; a word that is none ends the process with one sentence. */
export function wholeNumber(text, usage) {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  console.error(`${text} is no number of at least 1: ${usage}`)
  process.exit(2)
}
