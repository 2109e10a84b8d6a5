import { spawn, type ChildProcess, spawnSync } from 'node:child_process'
import { closeSync, rmSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { UserError } from '../../harness/user-error.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { dirname, join } from 'node:path'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { shellWord } from '../../harness/shell-word.ts'
import { terminalText } from '../../reporters/escape.ts'

export interface CommandEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

const lookMs = 20
const tailLength = 16_384

/**
 * Starts a command line of the shell, in a process group of its own: Ctrl-C reaches it through us, when the run has tidied up.
 * It never outlives this process: what watches it ends it, if this process cannot.
 */
export function startProcess(command: string) {
  const file = openLog()
  const out = file?.descriptor ?? 'ignore'
  const child = spawn(command, {
    shell: true,
    detached: !isWindows,
    windowsHide: true,
    stdio: ['ignore', out, out],
  })
  if (file) closeSync(file.descriptor)
  const log = file?.path
  let end: CommandEnd | undefined
  const ended = new Promise<CommandEnd>((resolve, reject) => {
    child.once('exit', (code, signal) => resolve((end = { code, signal })))
    child.once('error', ({ message }) =>
      reject(new UserError(`--start: the shell cannot be started: ${message}`)),
    )
  })
  ended.catch(() => undefined)
  const close = endedWithUs(child, watchOver(child))
  return {
    /** Path of the file that gets what it writes, or why there is none. */
    output: log ?? 'could not be kept, as the temporary folder takes no file',
    get end() {
      return end
    },
    /** Settles when the command has ended; its children may go on. */
    ended,
    lastLines: (most: number): string[] =>
      log === undefined ? [] : tailOf(log).split('\n').slice(-most),
    close,
    forget: (): void =>
      log === undefined ? undefined : rmSync(dirname(log), { recursive: true, force: true }),
  }
}

/** Ends it with its children when this process ends; gives what ends them before: by SIGTERM, and after so many ms by SIGKILL. */
function endedWithUs(child: ChildProcess, watcher?: ChildProcess) {
  const killNow = (): void => {
    if (watcher) signalAll(watcher, 'SIGKILL')
    signalAll(child, 'SIGKILL')
  }
  process.once('exit', killNow)
  return async (graceMs: number): Promise<void> => {
    const deadline = performance.now() + graceMs
    signalAll(child, 'SIGTERM')
    while (signalAll(child, 0) && performance.now() < deadline) await sleep(lookMs)
    killNow()
    process.off('exit', killNow)
  }
}

/** Ends the group of a process when this process has ended: the pipe that it reads from is closed then, even by a SIGKILL. */
function watchOver({ pid }: ChildProcess): ChildProcess | undefined {
  if (isWindows || pid === undefined) return undefined
  const script = `cat; kill -TERM -${pid}; sleep 1; kill -KILL -${pid}`
  const watcher = spawn('sh', ['-c', script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watcher.once('error', () => undefined)
  // Neither keeps this process alive.
  watcher.unref()
  ;(watcher.stdin as Partial<Pick<Socket, 'unref'>>).unref?.()
  return watcher
}

/** A temporary folder that is full or read-only costs what the server writes, and nothing else. */
function openLog(): { readonly path: string; readonly descriptor: number } | undefined {
  try {
    const path = join(mkdtempSync(join(tmpdir(), 'conform-start-')), 'server.log')
    return { path, descriptor: openSync(path, 'w', 0o600) }
  } catch {
    return undefined
  }
}

function tailOf(log: string): string {
  try {
    return readFileSync(log, 'utf8').slice(-tailLength).trimEnd()
  } catch {
    return ''
  }
}

export const isWindows = process.platform === 'win32'

/** Sends the signal to every process of the group; false if there is none left. */
export function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false
  if (isWindows) {
    // There are no groups there, and no way to ask nicely.
    if (signal !== 0)
      spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true })
    return false
  }
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

const graceMs = 1_000
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
  const end = endedWithUs(child)
  const ended = new Promise<number>((resolve, reject) => {
    child.once('exit', (code, by) => resolve(code ?? 128 + (by === null ? 0 : (numbers[by] ?? 0))))
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(new UserError(`-- ${name}: cannot be run (${error.code ?? error.message})`)),
    )
  })
  const close = (): Promise<void> => end(graceMs)
  void interrupted.then(close)
  try {
    return await ended
  } finally {
    await close()
  }
}

const attached = { stdio: 'inherit', windowsHide: true } as const
const numbers: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }

/** Ends with the exit code of the command, and says so if it is not 0. */
export function endWith(words: readonly string[], code: number | undefined): void {
  if (code === undefined || code === 0) return
  process.exitCode = code
  const command = words.map(shellWord).join(' ').replaceAll(/\s+/g, ' ')
  const named = command.length > longestName ? `${command.slice(0, longestName)}…` : command
  process.stdout.write(`exit ${code}: ${terminalText(named)} ended with ${code}\n`)
}
