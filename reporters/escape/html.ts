import { visible, visibleLines } from './visible.ts'

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text of a target between tags; line feeds and tabs stay. */
export function htmlText(text: string): string {
  return visibleLines(text).replace(/[&<>]/g, (character) => references[character]!)
}

/** The same between the double quotes of an attribute; one line. */
export function htmlAttribute(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => references[character]!)
}

/** The address of the element of that id on the page. */
export function htmlAnchor(id: string): string {
  return htmlAttribute(`#${encodeURIComponent(visible(id)).replaceAll('%2F', '/')}`)
}
