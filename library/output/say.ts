import pc from 'picocolors'
import type { Colors } from 'picocolors/types'
import { terminalLines } from '../../reporters/text.ts'
import { columnsOf, laidOut, type Line } from '../../reporters/terminal.ts'
import { printed } from '../../harness/recording/index.ts'

export interface People {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

export function tell(people: People, lines: readonly Line[]): void {
  people.write(
    laidOut(lines, columnsOf(people))
      .map((line) => `${line}\n`)
      .join(''),
  )
}

/** Prints an error to stderr, without keys, control characters and CI commands: it may quote untrusted text. */
export function complain(text: string, kind = ''): void {
  const { isTTY } = process.stderr
  const colors = isTTY ? colorsFor(process.stderr) : pc.createColors(false)
  const paint = kind === '' ? colors.red : colors.yellow
  const [first, ...others] = terminalLines(printed.text(text)).split('\n')
  tell(process.stderr, [`${paint(`conform:${kind}`)} ${first}`, ...others])
}

export function warnOf(text: string): void {
  complain(text, ' warning:')
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Colours for a stream. NO_COLOR (https://no-color.org) and FORCE_COLOR decide if set; picocolors does not know that
 * `FORCE_COLOR=0` and `TERM=dumb` mean none.
 */
export function colorsFor(
  stream: { readonly isTTY?: boolean },
  env: Environment = process.env,
): Colors {
  return pc.createColors(wantsColor(stream.isTTY === true, env))
}

export function canRewrite(
  stream: { readonly isTTY?: boolean },
  env: Environment = process.env,
): boolean {
  return stream.isTTY === true && env.TERM !== 'dumb'
}

function wantsColor(
  isTerminal: boolean,
  { CI, FORCE_COLOR, NO_COLOR, TERM }: Environment,
): boolean {
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '')
    return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  if (TERM === 'dumb') return false
  // CI logs show colours, though they are not terminals.
  return isTerminal || (CI !== undefined && CI !== '' && CI !== 'false' && CI !== '0')
}
