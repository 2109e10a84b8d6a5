import { wrapAnsi } from 'fast-wrap-ansi'

/**
 * A line for people. One with a `lead` goes on under its text if it is too long; `width` is how many columns the lead
 * takes. One that is `whole` is to be copied and never broken.
 */
export type Line =
  | string
  | { readonly lead: string; readonly width: number; readonly text: string }
  | { readonly whole: string }

/** Colour of each tone of a mark. */
export const paints = { p: 'green', f: 'red', m: 'yellow', n: 'dim', w: 'dim' } as const

/** Makes a link of a text, if whoever shows it knows links; else the text as it is. */
export type Link = (text: string, address: string) => string

export const noLink: Link = (text) => text

/** The link of a terminal (OSC 8). The address holds no control characters: it is a URL that was parsed. */
export const terminalLink: Link = (text, address) =>
  `\u001b]8;;${new URL(address).href}\u0007${text}\u001b]8;;\u0007`

/** Least width, in columns, at which text is readable. */
const NARROWEST = 30
const HANGING = 2

/** Columns of a stream if it is a terminal; Infinity for logs and pipes, where lines stay as they are. */
export function columnsOf(stream: { readonly isTTY?: boolean; readonly columns?: number }): number {
  return stream.isTTY === true ? stream.columns || 80 : Infinity
}

/** Breaks lines between words for that many columns, the rest indented; Infinity: as they are. */
export function laidOut(lines: readonly Line[], columns: number): string[] {
  return lines.flatMap((line) => {
    if (typeof line !== 'string' && 'whole' in line) return [line.whole]
    const { lead, text, width } = typeof line === 'string' ? parted(line) : line
    if (columns === Infinity) return [lead + text]
    const room = Math.max(columns, NARROWEST) - width
    const [first = '', ...rest] = wrapAnsi(text, Math.max(room, NARROWEST / 2), {
      hard: true,
    }).split('\n')
    return [lead + first, ...rest.map((part) => ' '.repeat(width) + part)]
  })
}

/** Takes the indentation of a line as its lead; a line without one goes on a little indented. */
function parted(line: string): { lead: string; width: number; text: string } {
  const [lead] = /^ */.exec(line)!
  return { lead, width: lead.length === 0 ? HANGING : lead.length, text: line.slice(lead.length) }
}
