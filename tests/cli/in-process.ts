import { tmpdir } from 'node:os'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { createRunInterrupts } from '../../cli/guard.ts'
import { main } from '../../cli/index.ts'
import { startReference } from '../../reference/server.ts'
import {
  bin,
  type Ended,
  folder,
  readReport,
  type Settings,
  targetFile,
  userEnvironment,
  wordsOf,
} from './conform.ts'

interface Shown extends Settings {
  /** Both streams are terminals of so many columns. */
  readonly columns?: number
}

// The modules of each test file listen to the end of the process, which the files of a worker share.
process.setMaxListeners(0)

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs `conform` to its end in this process, from its sources. What is about a process (signals, closed streams, terminals) needs
 * one of its own: `start`. One call after another: the environment, the folder, the streams and the exit code are this process's.
 */
export function conform(args: string | readonly string[], settings: Shown = {}): Promise<Ended> {
  const ended = last.then(() => runHere(wordsOf(args), settings))
  last = ended.catch(() => undefined)
  return ended
}

async function runHere(args: readonly string[], settings: Shown): Promise<Ended> {
  const { env, columns, cwd = tmpdir() } = settings
  const began = performance.now()
  const [stdout, stderr] = [new Kept(columns), new Kept(columns)]
  const restore = keepProcess()
  try {
    process.env = userEnvironment(env)
    process.chdir(cwd)
    process.exitCode = undefined
    for (const [name, value] of Object.entries({ stdout, stderr }))
      Object.defineProperty(process, name, { value, configurable: true, enumerable: true })
    // It ends this call and not the tests.
    const exited = new Promise<void>((resolve) => {
      process.exit = ((code) => {
        process.exitCode = code ?? process.exitCode
        resolve()
      }) as typeof process.exit
    })
    const ended = main([process.execPath, bin, ...args], createRunInterrupts())
    await Promise.race([ended, exited, tooLate(args)])
    return {
      ...{ code: exitCode(), signal: null, stdout: stdout.text },
      stderr: stderr.text.replaceAll(progress, ''),
      ms: performance.now() - began,
    }
  } finally {
    restore()
  }
}

const exitCode = (): number => Number(process.exitCode ?? 0)

/** Reports the progress of a run like a log, every 10 s: a busy machine changes no test. */
const progress = /^conform: \d+ of \d+ judged.*\n/gm

/** Rejects a minute before the test runner gives up (`testTimeout`): what comes after finds the process as it was. */
async function tooLate(args: readonly string[]): Promise<never> {
  await sleep(240_000, undefined, { ref: false })
  throw new Error(`conform ${args.join(' ')} did not end within 240 s`)
}

/** Collects what is written, as a terminal of that many columns, or as a pipe without any. */
class Kept extends Writable {
  text = ''
  readonly columns: number | undefined
  readonly isTTY: boolean

  constructor(columns: number | undefined) {
    super({ decodeStrings: false })
    this.columns = columns
    this.isTTY = columns !== undefined
  }

  override _write(piece: Buffer | string, _: BufferEncoding, done: () => void): void {
    this.text += piece.toString()
    done()
  }
}

/** Gives what makes the process again what it was. */
function keepProcess(): () => void {
  const members = ['env', 'exit', 'stdout', 'stderr'] as const
  const kept = members.map(
    (name) => [name, Object.getOwnPropertyDescriptor(process, name)!] as const,
  )
  const { exitCode } = process
  const cwd = process.cwd()
  const events = ['uncaughtException', 'beforeExit'] as const
  const listeners = events.flatMap((event) => process.listeners(event as 'beforeExit'))
  return () => {
    for (const [name, descriptor] of kept) Object.defineProperty(process, name, descriptor)
    process.exitCode = exitCode
    process.chdir(cwd)
    for (const event of events)
      for (const one of process.listeners(event as 'beforeExit'))
        if (!listeners.includes(one)) process.off(event, one)
  }
}

/** A reference for the length of one test. */
export async function reference(options: Parameters<typeof startReference>[0] = {}) {
  const server = await startReference({ jobMs: 15, slowJobMs: 150, ...options })
  onTestFinished(() => server.close())
  return server
}

/** Judges a reference in a folder of the test's own, and reads the report. */
export async function judged(args: string, options?: Parameters<typeof reference>[0]) {
  const { url } = await reference(options)
  const cwd = folder()
  const target = targetFile(cwd, url)
  const ended = await conform(`-t ${target} ${args} --report json`, { cwd })
  return { ...ended, cwd, report: readReport(cwd), target, url }
}
