import { shortened, visible, withoutCommands } from './visible.ts'

/** Foreign text on a terminal or in a log: one line, no control sequence, no command to a runner, at most `limit` characters. */
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

/** Escapes text in pieces, of which the marked ones are painted; not if only together they are a command. */
export function terminalPieces(
  pieces: readonly { readonly text: string; readonly isMarked: boolean }[],
  paint: (text: string) => string,
): string {
  const whole = terminalText(pieces.map(({ text }) => text).join(''))
  const each = pieces.map(({ isMarked, text }) => ({ isMarked, text: visible(text) }))
  if (whole !== each.map(({ text }) => text).join('')) return whole
  return each.map(({ isMarked, text }) => (isMarked ? paint(text) : text)).join('')
}
