import { visible, visibleLines, withoutCommands } from './visible.ts'

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text of a target between tags; line feeds and tabs stay. */
export function htmlText(text: string): string {
  const escaped = visibleLines(text).replace(/[&<>]/g, (character) => references[character]!)
  return withoutCommands(escaped, asReference)
}

/** Escapes for between the double quotes of an attribute; one line. */
export function htmlAttribute(text: string): string {
  const escaped = visible(text).replace(/[&<>"']/g, (character) => references[character]!)
  return withoutCommands(escaped, asReference)
}

/** The address of the element of that id on the page. */
export function htmlAnchor(id: string): string {
  return htmlAttribute(`#${encodeURIComponent(visible(id)).replaceAll('%2F', '/')}`)
}

function asReference(character: string): string {
  return `&#${character.charCodeAt(0)};`
}
