import { visible, visibleLines } from './visible.ts'

/**
 * What gives text a meaning in GitHub's Markdown: markup, HTML, tables, links, mentions, references, emoji, mathematics.
 * Each is written as a character reference, which every renderer shows as the character and none takes for markup.
 * A colon before a blank begins neither an address nor an emoji.
 */
const meaningful = /[&<>`*_[\]#|~@\\$]|:(?!\s|$)/g
/** Begins a list, a heading or a rule only at the beginning. */
const leading = /^(\s*)([-+=]|\d+(?=[.)]))/
const webAddress = /\bwww\./gi

/** Text of a target as inline Markdown: one line, nothing in it is markup; also inside a table. */
export function markdownText(text: string): string {
  return visible(text)
    .replace(meaningful, reference)
    .replace(webAddress, (match) => `${match.slice(0, 3)}&#46;`)
    .replace(leading, (_, blanks: string, mark: string) => `${blanks}${reference(mark)}`)
}

/** Text in monospace, inline; also inside a table. */
export function markdownCode(text: string): string {
  return /^[\w./-]+$/.test(text) ? `\`${text}\`` : `<code>${markdownText(text)}</code>`
}

/** Lines of text as a fenced block that no line of it can end. */
export function markdownBlock(text: string, language = ''): string {
  const shown = visibleLines(text)
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${shown}\n${fence}`
}

function reference(characters: string): string {
  return `&#${characters.codePointAt(0)!};${characters.slice(1)}`
}
