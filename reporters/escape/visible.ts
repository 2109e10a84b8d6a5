/**
 * Characters that hide or disguise text wherever it is shown: C0, DEL and C1 controls, line and paragraph separators,
 * bidi controls, lone surrogates, noncharacters, and what takes no room (zero-width spaces, soft hyphens, tag characters).
 * Variation selectors stay, and joiners between characters that can be joined: emoji and scripts need them.
 */
const hidden =
  // oxlint-disable-next-line no-misleading-character-class -- a joiner by itself is meant
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Noncharacter_Code_Point}]|(?![\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}])\p{Default_Ignorable_Code_Point}|(?<![^\0-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\0-\x7f])/gu

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** The text on one line, with every character that could hide or disguise something written out: `\n`, `\x1b`, `\u202e`. */
export function visible(text: string): string {
  return text.replace(hidden, (character) => named[character] ?? codeOf(character))
}

/** Makes text visible, but line feeds and tabs stay as they are; CRLF counts as a line feed. */
export function visibleLines(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(hidden, (character) =>
      character === '\n' || character === '\t' ? character : visible(character),
    )
}

/**
 * Places at which a pipeline's runner sees a command in what a step prints: `##[` (GitHub), `##vso[` (Azure) and `##teamcity[`
 * anywhere in a line, `::` at its beginning after any blanks (GitHub).
 */
const command = /#(?=#[\w[])|(?<=^[^\S\n]*):(?=:)/gm

/** The text without such commands: the first character of each is written as `write` says, by default `\x23` or `\x3a`. */
export function withoutCommands(
  text: string,
  write: (character: string) => string = codeOf,
): string {
  return text.includes('##') || text.includes('::') ? text.replace(command, write) : text
}

function codeOf(character: string): string {
  const hex = character.codePointAt(0)!.toString(16)
  if (hex.length <= 2) return `\\x${hex.padStart(2, '0')}`
  return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`
}

/** The first `limit` characters, and how many more there were. Never cuts a character in two. */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text
  const end = /[\ud800-\udbff]/.test(text[limit - 1] ?? '') ? limit - 1 : limit
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}
