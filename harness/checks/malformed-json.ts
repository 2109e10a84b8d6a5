/** A change to a JSON text after which RFC 8259's grammar refuses it. */
interface JsonFault {
  /** In words that follow `with the valid body`. */
  readonly what: string
  readonly change: (text: string) => string
}

/** A string of JSON; its content is the first group. */
const string = /"((?:[^"\\]|\\.)*)"/g
/** A member name that JavaScript would take without quotes, and what is before it. */
const plainName = /([{,]\s*)"([A-Za-z_]\w*)"(?=\s*:)/

/** What replaces the last bracket, and what follows it. */
function atEnd(text: string, added: string): string {
  return `${text.slice(0, -1)}${added}${text.slice(-1)}`
}

/** One more member or item that no grammar has: a parser that takes it has all the others too. */
function withNaN(text: string): string {
  const comma = /^[{[]\s*[}\]]$/.test(text) ? '' : ','
  return atEnd(text, text.startsWith('{') ? `${comma}"conform":NaN` : `${comma}NaN`)
}

export const jsonFaults: readonly JsonFault[] = [
  { what: 'cut in the middle', change: (text) => text.slice(0, Math.ceil(text.length / 2)) },
  { what: 'cut before its last bracket', change: (text) => text.slice(0, -1) },
  { what: 'and a bracket too many', change: (text) => `${text}}` },
  { what: 'and a comma before its last bracket', change: (text) => atEnd(text, ',') },
  { what: 'and text after its end', change: (text) => `${text} and more` },
  { what: 'and a comment in it', change: (text) => `${text.slice(0, 1)}/* no comment */${text.slice(1)}` },
  { what: 'and NaN in it', change: withNaN },
  { what: 'in single quotes', change: (text) => text.replaceAll(string, (_, content: string) => `'${content}'`) },
  { what: 'and a member name without quotes', change: (text) => text.replace(plainName, '$1$2') },
]

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The changed text; undefined if it is still JSON, or empty. */
export function malformedBy(change: JsonFault['change'], valid: string): string | undefined {
  const text = change(valid.trim())
  return text === '' || isJson(text) ? undefined : text
}
