import wrapAnsi from 'wrap-ansi'

/**
 * A line of the terminal report. One with a `lead` goes on under its text if it is too long; `width` is how many columns the lead
 * takes. One that is `whole` is to be copied and never broken.
 */
export type Line =
  string | { readonly lead: string; readonly width: number; readonly text: string } | { readonly whole: string }

/** Narrower than that nothing is readable, whatever is done. */
const NARROWEST = 30
const HANGING = 2

/**
 * The lines as a terminal of that many columns shows them: broken between words, what follows indented. Infinity: as they are,
 * for logs and pipes.
 */
export function laidOut(lines: readonly Line[], columns: number): string[] {
  return lines.flatMap((line) => {
    if (typeof line !== 'string' && 'whole' in line) return [line.whole]
    const { lead, text, width } = typeof line === 'string' ? parted(line) : line
    if (columns === Infinity) return [lead + text]
    const room = Math.max(columns, NARROWEST) - width
    const [first = '', ...rest] = wrapAnsi(text, Math.max(room, NARROWEST / 2), { hard: true }).split('\n')
    return [lead + first, ...rest.map((part) => ' '.repeat(width) + part)]
  })
}

/** A line whose lead is its own indentation; one without any goes on a little indented, so that it is seen to go on. */
function parted(line: string): { lead: string; width: number; text: string } {
  const [lead] = /^ */.exec(line)!
  return { lead, width: lead.length === 0 ? HANGING : lead.length, text: line.slice(lead.length) }
}
