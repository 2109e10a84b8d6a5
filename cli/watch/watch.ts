import { UserError } from '../../harness/user-error.ts'
import { colorsFor } from '../output/say.ts'
import type { RunArguments } from '../run/arguments.ts'
import { createSession, type SessionFront, type Session } from '../session/session.ts'
import { createScreen, helpLine, type Screen } from './screen.ts'
import { createInterface } from 'node:readline'
import { catalogue } from '../../catalogue/catalogue.ts'
import { selectionOf } from '../session/results.ts'

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

/** The keyboard and the screen of the user. */
interface Terminal {
  /** Called with each character that is typed; Ctrl-C is `\x03`. */
  onKey(call: (key: string) => void): void
  /** Asks for a line, Tab completes it; undefined if none was given. Keys are not reported meanwhile. */
  ask(question: string, words: readonly string[]): Promise<string | undefined>
  /** Takes back a question. */
  stopAsking(): void
  /** Gives the terminal back as it was. */
  restore(): void
}

/** Takes the keyboard for itself: nothing that is typed is shown, and Ctrl-C is a key. */
function openTerminal(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Terminal {
  let call: (key: string) => void = () => undefined
  let asking: AbortController | undefined
  const onData = (text: string): void => {
    for (const key of text) call(key)
  }
  const take = (): void => {
    input.setRawMode(true)
    input.setEncoding('utf8').on('data', onData).resume()
  }
  const give = (): void => {
    input.off('data', onData)
    input.setRawMode(false)
    input.pause()
  }
  process.once('exit', give)
  take()
  return {
    onKey: (callback) => void (call = callback),
    async ask(question, words) {
      input.off('data', onData)
      asking = new AbortController()
      try {
        return await line(question, words, { input, output, signal: asking.signal })
      } finally {
        asking = undefined
        take()
      }
    },
    stopAsking: () => asking?.abort(),
    restore() {
      asking?.abort()
      process.off('exit', give)
      give()
    },
  }
}

interface Lines {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
  readonly signal: AbortSignal
}

function line(question: string, words: readonly string[], { input, output, signal }: Lines) {
  const completer = (typed: string): [string[], string] => [words.filter((word) => word.startsWith(typed)), typed]
  const lines = createInterface({ input, output, completer, terminal: true })
  return new Promise<string | undefined>((resolve) => {
    const end = (line?: string): void => {
      resolve(line?.trim() === '' ? undefined : line?.trim())
      lines.close()
    }
    signal.addEventListener('abort', () => end())
    lines.on('SIGINT', () => end()).on('close', () => resolve(undefined))
    lines.question(question, end)
  })
}

interface Watched {
  readonly terminal: Terminal
  readonly session: Session
  readonly screen: Screen
  readonly quit: () => void
}

const ctrlC = '\x03'
const ctrlD = '\x04'

/** Does what the keys say, and what the signals do that end a command. */
function listenToKeys(watched: Watched): void {
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
      // oxlint-disable-next-line no-restricted-properties -- the second time nothing is waited for
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
