import { catalogue } from '../../catalogue/catalogue.ts'
import { UserError } from '../../harness/user-error.ts'
import { selectionOf } from '../session/selection.ts'
import type { Session } from '../session/session.ts'
import type { Screen } from './screen.ts'
import type { Terminal } from './terminal.ts'

export interface Watched {
  readonly terminal: Terminal
  readonly session: Session
  readonly screen: Screen
  readonly quit: () => void
}

const ctrlC = '\x03'
const ctrlD = '\x04'

/** Does what the keys say, and what the signals do that end a command. */
export function listenToKeys(watched: Watched): void {
  const { terminal, session, quit } = watched
  const ender = createEnder(watched)
  const idle: Readonly<Record<string, () => void>> = {
    a: () => session.run('all', 'asked for'),
    f: () => runFailed(watched),
    i: () => void runOne(watched),
    [ctrlD]: quit,
  }
  terminal.onKey((key) => {
    if (key === ctrlC) ender.interrupt()
    else if (key === 'q') quit()
    else if (!session.isRunning && Object.hasOwn(idle, key)) idle[key]!()
  })
  process.on('SIGINT', ender.interrupt)
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.once(signal, quit)
}

/** The first Ctrl-C ends the run that goes on, the next one the program; at once if the run has not ended by then. */
function createEnder({ session, screen, quit }: Watched) {
  let isEnding = false
  return {
    interrupt() {
      if (!session.isRunning) return quit()
      // eslint-disable-next-line no-restricted-properties -- the second time nothing is waited for
      if (isEnding) process.exit(130)
      isEnding = true
      session.interrupt()
      screen.say('', 'The run is being ended. Ctrl-C again ends conform.')
      void session.idle().then(() => (isEnding = false))
    },
  }
}

function runFailed({ session, screen }: Watched): void {
  if (session.failed > 0) session.run('failed', 'asked for')
  else screen.say('Nothing failed when it was last judged.')
}

async function runOne({ terminal, session, screen }: Watched): Promise<void> {
  const pattern = await terminal.ask('id (Tab completes, * is any characters): ', idList())
  if (pattern === undefined) {
    if (!session.isRunning) screen.say()
    return
  }
  try {
    session.run(selectionOf(pattern), 'asked for')
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    screen.say(error.message)
  }
}

const idList = (): string[] => catalogue.map(({ id }) => id)
