import { htmlAttribute } from '../../reporters/escape/html.ts'

/** HTML that is written already. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Markup | readonly Markup[]

/**
 * The one way in which the register writes HTML: whatever is put into the template is escaped, for text and for attributes
 * alike, unless it was made by this function.
 */
export function markup(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const written = parts.map((part) => {
    if (part instanceof Markup) return part.text
    return typeof part === 'object' ? part.map(({ text }) => text).join('') : htmlAttribute(String(part))
  })
  return new Markup(texts.map((text, index) => text + (written[index] ?? '')).join(''))
}
