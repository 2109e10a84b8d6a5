import { UserError } from '../../harness/user-error.ts'
import { exitProcess } from '../guard.ts'
import { colorsFor, tell } from '../../library/output/say.ts'
import type { Line } from '../../reporters/terminal/lines.ts'
import { firstOf, outcomes } from '../../reporters/view/writing.ts'
import type { RunArguments } from '../run/arguments.ts'
import {
  createSession,
  type RunStarted,
  type Session,
  type SessionFront,
  type Changes,
} from '../session.ts'
import { createInterface, type Interface } from 'node:readline'
import { catalogue } from '../../catalogue/catalogue.ts'
import { patternMistake } from '../../library/options.ts'
import type { Colors } from 'picocolors/types'
import { terminalText } from '../../reporters/escape.ts'
import { count } from '../../harness/report/index.ts'

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
    problem: (sentence) =>
      screen.hasShownReport ? screen.problem(sentence) : giveUp(new UserError(sentence)),
  }
  const session = createSession(baseUrl, options, front)
  try {
    await new Promise<void>((resolve, reject) => {
      giveUp = reject
      listenToKeys({ terminal, session, screen, quit: resolve })
      session.run('all', 'the first run')
    })
    await session.close()
    // The failures were shown; ending is not one.
    process.exitCode = 0
  } finally {
    terminal.restore()
  }
}

/** Takes the keyboard for itself: nothing that is typed is shown, and Ctrl-C is a key. */
function openTerminal(input: NodeJS.ReadStream, output: NodeJS.WriteStream) {
  let call: (key: string) => void = () => undefined
  let asking: Interface | undefined
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
    /** Called with each character that is typed; Ctrl-C is `\x03`. */
    onKey: (callback: typeof call): void => void (call = callback),
    /** Asks for a line, Tab completes it; undefined if none was given. Keys are not reported meanwhile. */
    async ask(question: string, words: readonly string[]): Promise<string | undefined> {
      input.off('data', onData)
      const completer = (typed: string): [string[], string] => [
        words.filter((word) => word.startsWith(typed)),
        typed,
      ]
      const lines = createInterface({ input, output, completer, terminal: true })
      asking = lines
      const line = await new Promise<string>((resolve) => {
        lines.question(question, resolve)
        // Ctrl-C closes it.
        lines.once('close', () => resolve(''))
      })
      asking = undefined
      lines.close()
      take()
      return line.trim() || undefined
    },
    stopAsking: (): void => asking?.close(),
    restore(): void {
      asking?.close()
      process.off('exit', give)
      give()
    },
  }
}

interface Watched {
  readonly terminal: ReturnType<typeof openTerminal>
  readonly session: Session
  readonly screen: ReturnType<typeof createScreen>
  readonly quit: () => void
}

const ctrlC = '\x03'
const ctrlD = '\x04'

function listenToKeys(watched: Watched): void {
  const { terminal, session, screen, quit } = watched
  const ender = createEnder(watched)
  const idle: Readonly<Record<string, () => void>> = {
    a: () => session.run('all', 'asked for'),
    f: () =>
      session.failed > 0
        ? session.run('failed', 'asked for')
        : screen.say('Nothing failed when it was last judged.'),
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
      // The second time nothing is waited for.
      if (isEnding) return exitProcess(130)
      isEnding = true
      session.interrupt()
      screen.say('', 'The run is being ended. Ctrl-C again ends conform.')
      void session.idle().then(() => (isEnding = false))
    },
  }
}

async function runOne({ terminal, session, screen }: Watched): Promise<void> {
  const pattern = await terminal.ask(
    'id (Tab completes, * is any characters): ',
    catalogue.map(({ id }) => id),
  )
  if (pattern === undefined) {
    if (!session.isRunning) screen.say()
    return
  }
  const mistake = patternMistake(pattern)
  if (mistake === undefined) session.run([pattern], 'asked for')
  else screen.say(mistake)
}

const MOST_SHOWN = 20

function helpLine(failed: number, colors: Colors): string {
  const keys = [
    ['a', 'run all'],
    ...(failed > 0 ? [['f', `run the ${failed} failed`] as const] : []),
    ['i', 'run one id'],
    ['q', 'quit'],
  ] as const
  return keys
    .map(([key, does]) => `${colors.bold(key)} ${colors.dim(does)}`)
    .join(colors.dim('  ·  '))
}

const RULE = 76

function headLine({ selection, why }: RunStarted, colors: Colors, now = new Date()): string {
  const what =
    selection === 'all' ? 'all' : selection === 'failed' ? 'the failed' : selection.join(', ')
  const text = terminalText(`${now.toTimeString().slice(0, 8)}  ${what}: ${why}`)
  return colors.dim(`${'─'.repeat(4)} ${text} ${'─'.repeat(Math.max(4, RULE - 6 - text.length))}`)
}

function changeLines(
  { lost, newlyFailed, newlyPassed, stillFailed }: Changes,
  colors: Colors,
): Line[] {
  const lines = [
    ...listed(`${outcomes.failed.sign} newly failed`, newlyFailed, colors.red),
    ...listed(`${outcomes.passed.sign} newly passed`, newlyPassed, colors.green),
    ...listed(`${outcomes['not-exercised'].sign} not tested now`, lost, colors.yellow),
  ]
  const still =
    stillFailed > 0
      ? [
          `  ${count(stillFailed, 'requirement')} failed before and still ${stillFailed === 1 ? 'does' : 'do'}`,
        ]
      : []
  if (lines.length === 0) return ['Since the run before: nothing changed', ...still]
  return ['Since the run before:', ...lines, ...still]
}

function listed(title: string, ids: readonly string[], color: (text: string) => string): Line[] {
  return firstOf(ids, MOST_SHOWN).map((id) => ({
    lead: `  ${color(title.padEnd(17))} `,
    width: 20,
    text: terminalText(id),
  }))
}

interface ScreenParts {
  readonly stream: NodeJS.WriteStream
  readonly colors: Colors
  readonly help: () => string
  readonly onWrite: () => void
}

function createScreen({ stream, colors, help, onWrite }: ScreenParts) {
  let isRunning = false
  let hasShownReport = false
  const write = (text: string): void => {
    onWrite()
    stream.write(text)
  }
  const people = {
    isTTY: stream.isTTY,
    hasKeys: true,
    get columns() {
      return stream.columns
    },
    write,
  }
  /** Writes lines, and below them the keys if no run goes on. */
  const say = (...lines: readonly Line[]): void =>
    tell(people, [...lines, ...(isRunning ? [] : ['', help()])])
  return {
    people,
    get hasShownReport() {
      return hasShownReport
    },
    say,
    started(run) {
      isRunning = true
      say('', headLine(run, colors))
    },
    ended({ changes, isGone }) {
      isRunning = false
      hasShownReport = true
      const lines = changes ? ['', ...changeLines(changes, colors)] : []
      // What comes next ends with the keys.
      if (isGone) tell(people, lines)
      else say(...lines)
    },
    problem(sentence) {
      isRunning = false
      say(`${colors.red('conform:')} ${terminalText(sentence)}`)
    },
    gone: () =>
      say('', colors.yellow('The target takes no requests. The run starts again when it answers.')),
  } satisfies SessionFront & Record<'say' | 'hasShownReport', unknown>
}
