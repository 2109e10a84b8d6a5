import { spawn, type ChildProcess, spawnSync } from 'node:child_process'
import { closeSync, rmSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { UserError } from '../../harness/user-error.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { dirname, join } from 'node:path'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'

export interface CommandEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Between two looks whether all of its processes have ended, in ms. */
const lookMs = 20
/** Length of the end of a log that is read, in characters. */
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
  const watcher = watchOver(child)
  const killNow = (): void => {
    if (watcher) signalAll(watcher, 'SIGKILL')
    signalAll(child, 'SIGKILL')
  }
  process.once('exit', killNow)
  return {
    /** Path of the file that gets what it writes, or why there is none. */
    output: log ?? 'could not be kept, as the temporary folder takes no file',
    /** Undefined while it goes on. */
    get end() {
      return end
    },
    /** Settles when the command has ended; its children may go on. */
    ended,
    lastLines: (most: number): string[] =>
      log === undefined ? [] : tailOf(log).split('\n').slice(-most),
    /** Ends it with its children: by SIGTERM, and after so many ms by SIGKILL. */
    async close(graceMs: number): Promise<void> {
      const deadline = performance.now() + graceMs
      signalAll(child, 'SIGTERM')
      while (signalAll(child, 0) && performance.now() < deadline) await sleep(lookMs)
      killNow()
      process.off('exit', killNow)
    },
    forget: (): void =>
      log === undefined ? undefined : rmSync(dirname(log), { recursive: true, force: true }),
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
