import { visible, visibleLines, withoutCommands } from './visible.ts'

/**
 * Text of a target in XML: characters that XML 1.0 forbids (§2.2 there) are written out, as are those that disguise.
 * Markup is escaped by the builder, but for the ampersand.
 */
export function xmlText(text: string): string {
  return withReferences(visibleLines(text))
}

/** Escapes for an attribute, whose line feeds and tabs a parser would turn into blanks. */
export function xmlAttribute(text: string): string {
  return withReferences(visible(text))
}

/**
 * The builder leaves whatever looks like a reference as it is: `&nbsp;`, which XML does not know, `&#0;`, which it forbids,
 * and `&lt;`, which a reader would see as another character than was sent. It adds nothing to `&amp;`. What a runner would
 * take for a command when the report goes to stdout is written as a reference, too.
 */
function withReferences(text: string): string {
  return withoutCommands(
    text.replaceAll('&', '&amp;'),
    (character) => `&#${character.charCodeAt(0)};`,
  )
}
