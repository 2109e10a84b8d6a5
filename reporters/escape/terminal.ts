import { shortened } from '../view/writing.ts'
import { visible } from './visible.ts'

/** Text of a target on a terminal: one line, no control sequence, at most `limit` characters. */
export function terminalText(text: string, limit = 2000): string {
  return shortened(visible(text), limit)
}

/** Lines of such text; a line feed begins a new one. At most `lines` of them. */
export function terminalLines(text: string, lines = 20, limit = 2000): string[] {
  const all = text.split(/\r?\n/)
  const shown = all.slice(0, lines).map((line) => terminalText(line, limit))
  return all.length > lines ? [...shown, `… (${all.length - lines} more lines)`] : shown
}
