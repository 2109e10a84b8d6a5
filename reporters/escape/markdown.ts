import { visible, visibleLines, withoutCommands } from './visible.ts'

/**
 * Characters that give text a meaning in GitHub's Markdown: markup, HTML, tables, links, mentions, references, emoji, mathematics.
 * Each is written as a character reference, which every renderer shows as the character and none takes for markup.
 * A colon before a blank begins neither an address nor an emoji.
 */
const meaningful = /[&<>`*_[\]#|~@\\$]|:(?!\s|$)/g
/** Begins a list, a heading or a rule only at the beginning. */
const leading = /^(\s*)([-+=]|\d+(?=[.)]))/
const webAddress = /\bwww\./gi

/**
 * Texts that GitHub and GitLab link, and tell somebody of, as a reader sees them: mentions (`@name`), references (`#12`,
 * `org/repo#12`, `!12`, `GH-12`) and addresses of issues. They look for these when the Markdown is HTML already, so that
 * neither a backslash nor a character reference hides one; only a character between, or code, does.
 */
const mention =
  /[@#!](?=\w)|\bGH-(?=\d)|\/(?:issues|pull|discussions|merge_requests|work_items|epics)\/(?=\d)/gi
/** Takes no room, and no line is broken at it. */
const wordJoiner = '&#8288;'

/** Text of a target as inline Markdown: one line, nothing in it is markup and nobody is told of it; also inside a table. */
export function markdownText(text: string): string {
  const parts = visible(text).split(mention)
  const marks = visible(text).match(mention) ?? []
  const written = parts.map((part, at) => inert(part + (marks[at] ?? ''))).join(wordJoiner)
  return written.replace(
    leading,
    (_, blanks: string, mark: string) => `${blanks}${reference(mark)}`,
  )
}

/** Text in monospace, inline; also inside a table. In code nothing is linked, and it can be copied as it is. */
export function markdownCode(text: string): string {
  return /^[\w./-]+$/.test(text) ? `\`${text}\`` : `<code>${inert(visible(text))}</code>`
}

function inert(text: string): string {
  return text
    .replace(meaningful, reference)
    .replace(webAddress, (match) => `${match.slice(0, 3)}&#46;`)
}

/** Lines of text as a fenced block that no line of it can end. */
export function markdownBlock(text: string, language = ''): string {
  const shown = withoutCommands(visibleLines(text))
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${shown}\n${fence}`
}

function reference(characters: string): string {
  return `&#${characters.codePointAt(0)!};${characters.slice(1)}`
}
