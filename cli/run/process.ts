import { spawn, type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { shellWord } from '../../harness/shell-word.ts'
import { UserError } from '../../harness/user-error.ts'

export interface CommandEnd {
  readonly code: number | null
  /** `with exit code 4`, `by SIGTERM`. */
  readonly how: string
}

const isWindows = process.platform === 'win32'

/**
 * Starts a shell command in its own process group, so that Ctrl-C reaches it only after clean-up. Its output goes to
 * the file `log`, if possible.
 */
export function startProcess(command: string) {
  const log = openLog()
  const out = log?.descriptor ?? 'ignore'
  const options = { shell: true, detached: !isWindows, windowsHide: true }
  const child = spawn(command, { ...options, stdio: ['ignore', out, out] })
  if (log) closeSync(log.descriptor)
  const ended = exitOf(child).then(
    ([code, by]): CommandEnd => ({ code, how: by ? `by ${by}` : `with exit code ${code}` }),
    (error: unknown) => {
      throw new UserError(`--start: the shell cannot be started: ${(error as Error).message}`)
    },
  )
  ended.catch(() => undefined)
  return { log: log?.path, ended, close: endedWithUs(child) }
}

function openLog(): { readonly path: string; readonly descriptor: number } | undefined {
  try {
    const path = join(mkdtempSync(join(tmpdir(), 'conform-start-')), 'server.log')
    return { path, descriptor: openSync(path, 'w', 0o600) }
  } catch {
    return undefined
  }
}

/**
 * Kills the process and its children when this process ends; returns a function that ends them earlier: SIGTERM, then
 * SIGKILL after `graceMs`.
 */
function endedWithUs(child: ChildProcess) {
  const kill = (): boolean => signalAll(child, 'SIGKILL')
  process.once('exit', kill)
  return async (graceMs: number): Promise<void> => {
    const deadline = performance.now() + graceMs
    signalAll(child, 'SIGTERM')
    while (signalAll(child, 0) && performance.now() < deadline) await sleep(20)
    kill()
    process.off('exit', kill)
  }
}

/** Signals the whole group; false if none of it is left. */
function signalAll(childProcess: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (childProcess.pid === undefined) return false
  if (isWindows) {
    // Windows has no process groups, and no signals that a program can handle.
    if (signal !== 0)
      spawnSync('taskkill', ['/pid', String(childProcess.pid), '/T', '/F'], { windowsHide: true })
    return false
  }
  try {
    return process.kill(-childProcess.pid, signal)
  } catch {
    return false
  }
}

/**
 * Runs the command after `--` until it exits or `interrupted` resolves; without a command, waits for `interrupted`.
 * Returns its exit code, or 128 + n after signal n. Throws UserError if it cannot be run.
 */
export async function runBeside(
  words: readonly string[],
  interrupted: Promise<unknown>,
  environment: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  if (words.length === 0) return void (await interrupted)
  // On Windows, npm is a shell script.
  const [name = '', ...args] = isWindows ? [words.map(shellWord).join(' ')] : words
  const child = spawn(name, args, {
    stdio: 'inherit',
    shell: isWindows,
    detached: !isWindows,
    windowsHide: true,
    env: { ...process.env, ...environment },
  })
  const end = endedWithUs(child)
  const close = (): Promise<void> => end(1_000)
  void interrupted.then(close)
  try {
    const [code, by] = await exitOf(child)
    return code ?? 128 + constants.signals[by!]
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UserError(`-- ${words[0]}: cannot be run (${code ?? message})`)
  } finally {
    await close()
  }
}

type Exit = [code: number | null, by: NodeJS.Signals | null]

/** Rejects if the process cannot be started. */
const exitOf = (child: ChildProcess) => once(child, 'exit') as Promise<Exit>
