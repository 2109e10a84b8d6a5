import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../../harness/user-error.ts'

/** How a command ended: its exit code, or the signal that ended it. */
export interface CommandEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A command that goes on beside a run, with all the processes that it starts. */
export interface ServerProcess {
  /** Path of the file that gets what it writes; undefined if the temporary folder takes none. */
  readonly log: string | undefined
  /** Undefined while it goes on. */
  readonly end: CommandEnd | undefined
  /** Settles when the command has ended; its children may go on. */
  readonly ended: Promise<CommandEnd>
  /** The last lines that it wrote, at most so many. */
  lastLines(most: number): string[]
  /** Ends it with its children: by SIGTERM, and after so many ms by SIGKILL. */
  close(graceMs: number): Promise<void>
  /** Removes the log. */
  forget(): void
}

/** Between two looks whether all of its processes have ended, in ms. */
const lookMs = 20
/** What is read of the end of a log, in characters. */
const tailLength = 16_384

/**
 * Starts a command line of the shell, in a process group of its own: Ctrl-C reaches it through us, when the run has tidied up.
 * It never outlives this process, but for a SIGKILL.
 */
export function startProcess(command: string): ServerProcess {
  const file = openLog()
  const out = file?.descriptor ?? 'ignore'
  const child = spawn(command, { shell: true, detached: !isWindows, windowsHide: true, stdio: ['ignore', out, out] })
  if (file) closeSync(file.descriptor)
  const log = file?.path
  let end: CommandEnd | undefined
  const ended = new Promise<CommandEnd>((resolve, reject) => {
    child.once('exit', (code, signal) => resolve((end = { code, signal })))
    child.once('error', ({ message }) => reject(new UserError(`--start: the shell cannot be started: ${message}`)))
  })
  ended.catch(() => undefined)
  const killNow = (): void => void signalAll(child, 'SIGKILL')
  process.once('exit', killNow)
  return {
    log,
    get end() {
      return end
    },
    ended,
    lastLines: (most) => (log === undefined ? [] : tailOf(log).split('\n').slice(-most)),
    async close(graceMs) {
      const deadline = performance.now() + graceMs
      signalAll(child, 'SIGTERM')
      while (isAlive(child) && performance.now() < deadline) await sleep(lookMs)
      killNow()
      process.off('exit', killNow)
    },
    forget: () => (log === undefined ? undefined : rmSync(dirname(log), { recursive: true, force: true })),
  }
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

const isWindows = process.platform === 'win32'

/** Sends the signal to every process of the group; false if there is none left. */
function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false
  if (isWindows) {
    // There are no groups there, and no way to ask nicely.
    if (signal !== 0) spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true })
    return false
  }
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

const isAlive = (child: ChildProcess): boolean => signalAll(child, 0)
