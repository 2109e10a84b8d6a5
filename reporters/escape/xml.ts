import { visible, visibleLines } from './visible.ts'

/**
 * Text of a target in XML: characters that XML 1.0 forbids (§2.2 there) are written out, as are those that disguise.
 * Markup is escaped by the builder.
 */
export function xmlText(text: string): string {
  return visibleLines(text)
}

/** The same for an attribute, whose line feeds and tabs a parser would turn into blanks. */
export function xmlAttribute(text: string): string {
  return visible(text)
}
