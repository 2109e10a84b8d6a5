import type { Colors } from 'picocolors/types'
import { terminalText } from '../../reporters/escape/terminal.ts'
import type { SessionFront } from '../session/session.ts'
import { changeLines, headLine } from './texts.ts'

/** What a session shows on a terminal. */
export interface Screen extends SessionFront {
  readonly hasShownReport: boolean
  /** Writes lines, and below them the keys if no run goes on. */
  say(...lines: readonly string[]): void
}

export interface ScreenParts {
  readonly stream: NodeJS.WriteStream
  readonly colors: Colors
  /** The line that names the keys, as things are now. */
  readonly help: () => string
  /** Something is about to be written. */
  readonly onWrite: () => void
}

export function createScreen({ stream, colors, help, onWrite }: ScreenParts): Screen {
  let isRunning = false
  let hasShownReport = false
  const write = (text: string): void => {
    onWrite()
    stream.write(text)
  }
  const say = (...lines: readonly string[]): void => {
    write([...lines, ...(isRunning ? [] : ['', help()]), ''].join('\n'))
  }
  return {
    people: { isTTY: stream.isTTY, write },
    get hasShownReport() {
      return hasShownReport
    },
    say,
    begun(run) {
      isRunning = true
      say('', headLine(run, colors))
    },
    ended({ changes }) {
      isRunning = false
      hasShownReport = true
      say(...(changes ? ['', ...changeLines(changes, colors)] : []))
    },
    problem(sentence) {
      isRunning = false
      say(terminalText(`conform: ${sentence}`))
    },
    gone: () => say('', colors.yellow('The target takes no requests. It is run again when it answers.')),
  }
}
