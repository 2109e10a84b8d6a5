import { terminalLines } from '../../reporters/escape/terminal.ts'

/** Says on stderr what is wrong. It may quote a file or an answer of a stranger's: no control and no command of theirs gets out. */
export function complain(text: string): void {
  process.stderr.write(`conform: ${terminalLines(text)}\n`)
}

/** Says on stderr what may be meant otherwise. */
export function warnOf(text: string): void {
  complain(`warning: ${text}`)
}
