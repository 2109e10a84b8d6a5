import { tmpdir } from 'node:os'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { main } from '../../cli/index.ts'
import { createRunInterrupts } from '../../cli/guard.ts'
import { bin, type Ended, type Settings, userEnvironment, wordsOf } from './conform.ts'

interface Shown extends Settings {
  /** Both streams are terminals of so many columns. */
  readonly columns?: number
}

// The modules of each test file listen to the end of the process, which the files of a worker share.
process.setMaxListeners(0)

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs `conform` to its end in this process, from its sources: a process of its own costs up to a second, most of it for
 * compiling. What is about a process (signals, closed streams, terminals, what keeps it alive) needs one: `start`.
 *
 * One call after another: the environment, the folder, the streams and the exit code are those of this process meanwhile.
 * @param args words with blanks between, or a list if one of them has blanks
 */
export function conform(args: string | readonly string[], settings: Shown = {}): Promise<Ended> {
  const ended = last.then(() => runHere(wordsOf(args), settings))
  last = ended.catch(() => undefined)
  return ended
}

async function runHere(
  args: readonly string[],
  { env, columns, cwd = tmpdir() }: Shown,
): Promise<Ended> {
  const began = performance.now()
  const [stdout, stderr] = [new Kept(columns), new Kept(columns)]
  const restore = keepProcess()
  try {
    process.env = userEnvironment(env)
    process.chdir(cwd)
    process.exitCode = undefined
    for (const [name, value] of Object.entries({ stdout, stderr })) {
      Object.defineProperty(process, name, { value, configurable: true, enumerable: true })
    }
    // It ends this call and not the tests.
    const exited = new Promise<void>((resolve) => {
      process.exit = ((code) => {
        process.exitCode = code ?? process.exitCode
        resolve()
      }) as typeof process.exit
    })
    await Promise.race([
      main([process.execPath, bin, ...args], createRunInterrupts()),
      exited,
      tooLate(args),
    ])
    return {
      code: exitCode(),
      signal: null,
      stdout: stdout.text,
      stderr: stderr.text.replaceAll(progress, ''),
      ms: performance.now() - began,
    }
  } finally {
    restore()
  }
}

/** Reports the progress of a run like a log, every 10 s: a busy machine changes no test. */
const progress = /^conform: \d+ of \d+ judged.*\n/gm

const exitCode = (): number => Number(process.exitCode ?? 0)

/** A minute before the test runner gives up (`testTimeout`). */
const tooLateMs = 240_000

/** Rejects before the test runner gives up: what comes after finds the process as it was. */
async function tooLate(args: readonly string[]): Promise<never> {
  await sleep(tooLateMs, undefined, { ref: false })
  throw new Error(`conform ${args.join(' ')} did not end within ${tooLateMs} ms`)
}

/** Collects what is written, as a terminal of that many columns, or as a pipe without any. */
class Kept extends Writable {
  readonly #pieces: Buffer[] = []
  readonly columns: number | undefined
  readonly isTTY: boolean

  constructor(columns: number | undefined) {
    super()
    this.columns = columns
    this.isTTY = columns !== undefined
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString('utf8')
  }

  override _write(piece: Buffer, _: BufferEncoding, done: () => void): void {
    this.#pieces.push(piece)
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
