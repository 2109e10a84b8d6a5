/**
 * Characters that hide or disguise text wherever it is shown: C0, DEL and C1 controls, line and paragraph separators,
 * bidi controls, lone surrogates, noncharacters, byte order marks and tag characters.
 */
const hidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Noncharacter_Code_Point}\u{feff}\u{e0000}-\u{e007f}]/gu

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** The text on one line, with every character that could hide or disguise something written out: `\n`, `\x1b`, `\u202e`. */
export function visible(text: string): string {
  return text.replace(hidden, (character) => named[character] ?? codeOf(character))
}

/** The same, but line feeds and tabs stay as they are; CRLF counts as a line feed. */
export function visibleLines(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(hidden, (character) => (character === '\n' || character === '\t' ? character : visible(character)))
}

function codeOf(character: string): string {
  const hex = character.codePointAt(0)!.toString(16)
  if (hex.length <= 2) return `\\x${hex.padStart(2, '0')}`
  return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`
}
