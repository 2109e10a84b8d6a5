import { createRequire } from 'node:module'
import { visible, visibleLines, withoutCommands } from './visible.ts'

/** An element: attributes by `@name`, its text as `#text`, children by their names; what is undefined is left out. */
export interface Element {
  readonly [name: string]: string | undefined | Element | readonly Element[]
}

/** The document, with two blanks a level. Texts and attributes are escaped already: by the two functions below. */
export function xmlDocument(root: Element): string {
  // Loaded when XML is written: other formats do not need it.
  const { default: Builder } = createRequire(import.meta.url)(
    'fast-xml-builder',
  ) as typeof import('fast-xml-builder')
  const builder = new Builder({
    attributeNamePrefix: '@',
    format: true,
    ignoreAttributes: false,
    processEntities: false,
    suppressBooleanAttributes: false,
    suppressEmptyNode: true,
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n${builder.build(root)}`
}

/** Text of a target in XML: characters that XML 1.0 forbids (§2.2 there) are written out, as are those that disguise. */
export function xmlText(text: string): string {
  return escaped(visibleLines(text))
}

/** Escapes for an attribute, whose line feeds and tabs a parser would turn into blanks. */
export function xmlAttribute(text: string): string {
  return escaped(visible(text))
}

const entities: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }

/** What a runner would take for a command when the report goes to stdout is written as a reference, too. */
function escaped(text: string): string {
  return withoutCommands(
    text.replaceAll(/[&<>"]/g, (character) => `&${entities[character]};`),
    (character) => `&#${character.charCodeAt(0)};`,
  )
}
