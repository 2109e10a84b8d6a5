import { UserError } from '../../harness/user-error.ts'
import { colorsFor } from '../output/say.ts'
import type { RunArguments } from '../run/arguments.ts'
import { createSession, type SessionFront } from '../session/session.ts'
import { listenToKeys, openTerminal } from './terminal.ts'
import { createScreen, helpLine } from './screen.ts'

/** Runs until the user quits; throws UserError if not even the first run can begin. */
export async function watch(baseUrl: string | undefined, options: RunArguments): Promise<void> {
  const stream = process.stdout
  const colors = colorsFor(stream)
  const terminal = openTerminal(process.stdin, stream)
  const help = (): string => helpLine(session.failed, colors)
  const screen = createScreen({ stream, colors, help, onWrite: () => terminal.stopAsking() })
  let giveUp: (error: UserError) => void
  const front: SessionFront = {
    ...screen,
    problem: (sentence) => (screen.hasShownReport ? screen.problem(sentence) : giveUp(new UserError(sentence))),
  }
  const session = createSession(baseUrl, options, front)
  try {
    await new Promise<void>((resolve, reject) => {
      giveUp = reject
      listenToKeys({ terminal, session, screen, quit: resolve })
      session.run('all', 'the first run')
    })
    await session.close()
    // What failed was shown; ending is no failure.
    process.exitCode = 0
  } finally {
    terminal.restore()
  }
}
