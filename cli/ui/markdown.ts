import { htmlText } from '../../reporters/escape/html.ts'

/** The few signs that a paragraph of readings.md has: code, bold, emphasis; a link keeps its words. */
export function paragraphMarkup(markdown: string): string {
  const text = htmlText(markdown.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('\n', ' '))
  const markup = text.split(/(`[^`]+`)/).map((part) => (part.startsWith('`') ? code(part) : emphasis(part)))
  return `<p>${markup.join('')}</p>`
}

const code = (part: string): string => `<code>${part.slice(1, -1)}</code>`

function emphasis(part: string): string {
  return part.replaceAll(/\*\*([^*]+)\*\*/g, '<b>$1</b>').replaceAll(/\b_([^_]+)_\b/g, '<em>$1</em>')
}
