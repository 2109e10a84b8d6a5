import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { shellWord } from '../../harness/shell-word.ts'
import { terminalText } from '../../reporters/escape/terminal.ts'
import { UserError } from '../../harness/user-error.ts'
import { isWindows, signalAll } from './process.ts'

/** Time in which a command has to end by itself, in ms; after an interrupt we have two seconds for all. */
const graceMs = 1_000
const lookMs = 20
/** Characters of a command that name it. */
const longestName = 60

/**
 * Runs a command to its end beside a server of ours, or waits for a signal if there is none to run. Its input and output are ours;
 * its children end with it. Gives its exit code, 128 and more if a signal ended it; undefined if there is none. Throws UserError if
 * it cannot be run.
 * @param words the command, as it was given after `--`
 * @param interrupted ends it
 * @param given what its environment has besides ours
 */
export async function runBeside(
  words: readonly string[],
  interrupted: Promise<void>,
  given: Readonly<Record<string, string | undefined>>,
): Promise<number | undefined> {
  const [name, ...args] = words
  if (name === undefined) return void (await interrupted)
  const env = { ...process.env, ...given }
  // There is no program npm on Windows, but a script of the shell.
  const child = isWindows
    ? spawn(words.map(shellWord).join(' '), { env, ...attached, shell: true })
    : spawn(name, args, { env, ...attached, detached: true })
  const killNow = (): void => void signalAll(child, 'SIGKILL')
  process.once('exit', killNow)
  const ended = new Promise<number>((resolve, reject) => {
    child.once('exit', (code, by) => resolve(code ?? 128 + (by === null ? 0 : (numbers[by] ?? 0))))
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(new UserError(`-- ${name}: cannot be run (${error.code ?? error.message})`)),
    )
  })
  const close = async (): Promise<void> => {
    const deadline = performance.now() + graceMs
    signalAll(child, 'SIGTERM')
    while (signalAll(child, 0) && performance.now() < deadline) await sleep(lookMs)
    killNow()
    process.off('exit', killNow)
  }
  void interrupted.then(close)
  try {
    return await ended
  } finally {
    await close()
  }
}

const attached = { stdio: 'inherit', windowsHide: true } as const
const numbers: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }

/** What is worse: 2, 3 and 1 are ours, in that order; any other is a command's own. */
export function worseExit(ours: number, command: number): number {
  const rank = (code: number): number => [0, 1, 3, 2][code] ?? code
  return rank(command) > rank(ours) ? command : ours
}

/** Sets the exit code to the worse of both, and says so if that is the command's. */
export function endWith(
  words: readonly string[],
  code: number | undefined,
  people: { write(text: string): unknown },
): void {
  const ours = Number(process.exitCode ?? 0)
  if (code === undefined || worseExit(ours, code) === ours) return
  process.exitCode = code
  const command = words.map(shellWord).join(' ').replaceAll(/\s+/g, ' ')
  const named = command.length > longestName ? `${command.slice(0, longestName)}…` : command
  people.write(`exit ${code}: ${terminalText(named)} ended with ${code}\n`)
}
