/** A string of JSON, so that nothing inside one is taken for a fault. */
const string = '"(?:[^"\\\\]|\\\\.)*"'

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Replaces what the pattern finds outside of strings. */
function outside(text: string, pattern: string, replace: (...groups: string[]) => string): string {
  return text.replace(new RegExp(`${string}|${pattern}`, 'g'), (found: string, ...groups: string[]) =>
    found.startsWith('"') ? found : replace(...groups),
  )
}

/** What lenient parsers overlook, and how they read it. */
const repairs: Readonly<Record<string, (text: string) => string>> = {
  comma: (text) => outside(text, ',(?=\\s*[,\\]}])|(?<=[[{]\\s*),', () => ''),
  comment: (text) => outside(text, '/\\*[\\s\\S]*?\\*/|//[^\\n]*|#[^\\n]*', () => ' '),
  nan: (text) => outside(text, '-?(?:NaN|Infinity)\\b', () => 'null'),
  'single-quotes': (text) => outside(text, "'((?:[^'\\\\]|\\\\.)*)'", (content) => JSON.stringify(content)),
  unquoted: (text) => outside(text, '([{,]\\s*)([A-Za-z_$][\\w$]*)(?=\\s*:)', (before, name) => `${before}"${name}"`),
}

/** Whether brackets or a string are still open at its end. */
function isCut(text: string): boolean {
  const bare = text.replace(new RegExp(string, 'g'), '')
  const count = (bracket: RegExp) => bare.match(bracket)?.length ?? 0
  return count(/[[{]/g) > count(/[\]}]/g) || bare.includes('"')
}

/** Whether a whole value stands before what is too much; only a few characters are looked at. */
function hasTextAfterEnd(text: string): boolean {
  for (let end = text.length - 1; end > text.length - 40; end--) if (isJson(text.slice(0, end))) return true
  return false
}

/** What a lenient parser would have to overlook in a text that is no JSON: kinds of fault. */
export function jsonFaults(text: string): readonly string[] {
  const repaired = Object.entries(repairs).filter(([, repair]) => isJson(repair(text)))
  const kinds = repaired.map(([kind]) => kind)
  if (kinds.length > 0) return kinds
  if (isCut(text)) return ['cut']
  return hasTextAfterEnd(text) ? ['text-after-end'] : []
}
