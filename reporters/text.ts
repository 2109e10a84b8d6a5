import type { Counts, Outcome } from '../harness/report/index.ts'

/**
 * Characters that hide or disguise text: C0, DEL and C1 controls, line and paragraph separators, bidi controls, lone
 * surrogates, noncharacters, and zero-width characters (zero-width spaces, soft hyphens, tag characters). Variation
 * selectors stay, and joiners between characters that can be joined: emoji and scripts need them.
 */
const hidden =
  // oxlint-disable-next-line no-misleading-character-class -- a joiner by itself is meant
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Noncharacter_Code_Point}]|(?![\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}])\p{Default_Ignorable_Code_Point}|(?<![^\0-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\0-\x7f])/gu

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** The text on one line, with every hiding or disguising character escaped: `\n`, `\x1b`, `\u202e`. */
export function visible(text: string): string {
  return text.replace(hidden, (character) => named[character] ?? codeOf(character))
}

/** Like `visible`, but keeps line feeds and tabs; CRLF counts as a line feed. */
export function visibleLines(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(hidden, (character) =>
      character === '\n' || character === '\t' ? character : visible(character),
    )
}

/**
 * Places where a CI runner finds commands in output: `##[` (GitHub), `##vso[` (Azure) and `##teamcity[` anywhere in a
 * line, `::` at its beginning after any blanks (GitHub).
 */
const command = /#(?=#[\w[])|(?<=^[^\S\n]*):(?=:)/gm

/** The text without such commands: `write` replaces the first character of each, by default with `\x23` or `\x3a`. */
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

/** The first `limit` characters, and how many more there were. Never splits a character. */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text
  const end = /[\ud800-\udbff]/.test(text[limit - 1] ?? '') ? limit - 1 : limit
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}

/** Text of a target in HTML and XML: also what XML 1.0 forbids (§2.2 there) is written out. */
export function markupText(text: string): string {
  return markup(visibleLines(text))
}

/** Text for an attribute in double quotes, in which parsers turn line feeds and tabs into blanks. */
export function markupAttribute(text: string): string {
  return markup(visible(text)).replaceAll('"', reference)
}

function markup(text: string): string {
  return withoutCommands(text.replaceAll(/[&<>]/g, reference), reference)
}

export function htmlAnchor(id: string): string {
  return markupAttribute(`#${encodeURIComponent(visible(id)).replaceAll('%2F', '/')}`)
}

/** JSON with the same value, without hiding or disguising characters and CI commands. */
export function json(value: unknown, indent?: number): string {
  const text = withoutCommands(JSON.stringify(value, null, indent), escaped)
  // Almost all of it is ASCII, in which the whole pattern takes a hundred times as long.
  return text.replace(/[^\n -~]+/g, (part) => part.replace(hidden, escaped))
}

function escaped(character: string): string {
  return character.replaceAll(
    /[^]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Untrusted text for a terminal or log: one line, no control sequence, no CI command, at most `limit` characters. */
export function terminalText(text: string, limit = 2000): string {
  return shortened(withoutCommands(visible(text)), limit)
}

/** Lines of such text. Those after the first are indented, so that none looks like a message of its own. */
export function terminalLines(text: string, indent = '  '): string {
  return text
    .split('\n')
    .map((line) => terminalText(line))
    .join(`\n${indent}`)
}

/**
 * Characters with a meaning in GitHub's Markdown: markup, HTML, tables, links, mentions, references, emoji,
 * mathematics. Each becomes a character reference, which renderers show but do not interpret. A colon before a blank is
 * harmless.
 */
const meaningful = /[&<>`*_[\]#|~@\\$]|:(?!\s|$)|(?<=www)\./gi
/** Lists, headings and rules start only at the beginning. */
const leading = /^(\s*)([-+=]|\d+(?=[.)]))/

/**
 * Texts that GitHub and GitLab link, and notify people of: mentions (`@name`), references (`#12`, `org/repo#12`, `!12`,
 * `GH-12`) and addresses of issues. They are found in the rendered HTML, so neither a backslash nor a character
 * reference hides them; only a character in between, or code, does.
 */
const mention =
  /[@#!](?=\w)|\bGH-(?=\d)|\/(?:issues|pull|discussions|merge_requests|work_items|epics)\/(?=\d)/gi
const wordJoiner = '\u2060'

/** Text of a target as inline Markdown, also for tables: one line, without markup and notifications. */
export function markdownText(text: string): string {
  const joined = visible(text).replaceAll(mention, `$&${wordJoiner}`)
  return inert(joined)
    .replaceAll(wordJoiner, reference)
    .replace(leading, (_, blanks: string, mark: string) => `${blanks}${reference(mark)}`)
}

/** Inline code, also for tables. Nothing in it is linked, and it can be copied unchanged. */
export function markdownCode(text: string): string {
  return /^[\w./-]+$/.test(text) ? `\`${text}\`` : `<code>${inert(visible(text))}</code>`
}

function inert(text: string): string {
  return text.replace(meaningful, reference)
}

/** A fenced block that no line of the text can end. */
export function markdownBlock(text: string, language = ''): string {
  const shown = withoutCommands(visibleLines(text))
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map((run) => run[0].length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${shown}\n${fence}`
}

function reference(characters: string): string {
  return `&#${characters.codePointAt(0)!};${characters.slice(1)}`
}

/** Formats ms: `340 ms`, `12.3 s`, `2 min 5 s`, `3 h 10 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** The first items; if there are more, the last one gives their number. */
export function firstOf(all: readonly string[], most: number, rest = 'more'): string[] {
  return all.length <= most ? [...all] : [...all.slice(0, most), `and ${all.length - most} ${rest}`]
}

/** A sentence that begins with an id (`files.list got 404`) stays as it is. */
export function capital(text: string): string {
  return text.replace(/^[a-z](?![\w-]*\.\w)/, (letter) => letter.toUpperCase())
}

/**
 * Compact JSON: values that fit are on one line, others indented by two.
 * @param taken columns before the value on the first line
 */
export function compactJson(
  value: unknown,
  width: number,
  indent = '',
  taken = indent.length,
): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const members = Object.entries(value).map(([name, member]: [string, unknown]) => ({
    lead: Array.isArray(value) ? '' : `${JSON.stringify(name)}: `,
    member,
  }))
  const isFlat = Object.values(value).every(
    (one) => Object.keys(Object(one) as object).length === 0 || typeof one === 'string',
  )
  const line = `${open}${members.map((one) => one.lead + compactJson(one.member, Infinity)).join(', ')}${close}`
  if (taken + line.length < width) return line
  const deeper = `${indent}  `
  const lines = members.map(
    (one) =>
      deeper + one.lead + compactJson(one.member, width, deeper, deeper.length + one.lead.length),
  )
  const shown = isFlat
    ? filled(
        lines.map((one) => one.trim()),
        width,
        deeper,
      )
    : lines.join(',\n')
  return `${open}\n${shown}\n${indent}${close}`
}

function filled(members: readonly string[], width: number, indent: string): string {
  const lines: string[] = []
  for (const one of members) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + one.length + 3 < width)
      lines[lines.length - 1] = `${last}, ${one}`
    else lines.push(indent + one)
  }
  return lines.join(',\n')
}

/** How something is shown, never by colour alone. `tone` is its CSS class. */
export interface Mark {
  readonly sign: string
  readonly word: string
  readonly tone: string
}

/** How people read the levels that files call must and should. */
export const levels = { must: 'required', should: 'recommended' } as const

/** Signs of outcomes, equal in all reports. */
export const outcomes = {
  passed: { sign: '✓', word: 'Passed', tone: 'p', member: 'passed' },
  failed: { sign: '✗', word: 'Failed', tone: 'f', member: 'failed' },
  'not-exercised': { sign: '○', word: 'Not tested', tone: 'm', member: 'notExercised' },
  'not-applicable': { sign: '–', word: 'Not applicable', tone: 'n', member: 'notApplicable' },
} as const satisfies Record<Outcome, Mark & { member: keyof Counts }>

/** Outcomes, and left out by an option. */
export const kinds = {
  ...outcomes,
  'left-out': { sign: '⊘', word: 'Left out', tone: 'n' },
} as const satisfies Record<string, Mark>
