import { modulesRun, waitedFor } from '../harness/foreign-code.ts'
import { foreignWords, printed } from '../harness/recording/index.ts'
import { Unjudgeable } from '../harness/user-error.ts'
import { packageFile } from '../schemas/package-file.ts'

/** Why nothing more comes of what the process is doing. */
export interface Loss {
  /** One sentence, without keys; undefined if nothing is left that could go on, and whoever waits knows for what. */
  readonly sentence: string | undefined
  /** Something in the suite threw what nobody caught. */
  readonly mistake?: string
}

type Take = (loss: Loss) => boolean
const takers: Take[] = []
let exit: (code?: number) => void = () => undefined

/** Ends the process now. `process.exit` is kept from code of others, which would end it with nothing said. */
export function exitProcess(code?: number): void {
  // An undefined code would take the place of the one that is set.
  if (code === undefined) exit()
  else exit(code)
}

/**
 * Calls back once or more if somebody else's code, a mistake or an empty event loop ends the work of now; who gives false
 * leaves it to whoever asked before. Gives what ends that.
 */
export function onLoss(take: Take): () => void {
  takers.push(take)
  return () => void takers.splice(takers.lastIndexOf(take), 1)
}

/** Gives what the work gives; throws Unjudgeable if nothing can come of it any more. */
export async function orLost<T>(work: Promise<T>): Promise<T> {
  let release: () => void = () => undefined
  const lost = new Promise<never>((_, reject) => {
    release = onLoss(({ sentence = stuck('for what never comes') }) => {
      reject(new Unjudgeable(sentence))
      return true
    })
  })
  try {
    return await Promise.race([work, lost])
  } finally {
    release()
  }
}

/** @param what follows `waited`: `for the answers to 3 requirements` */
export function stuck(what: string): string {
  return `nothing is left that could go on, and conform still waited ${what}`
}

/** Sees to it that this process never ends with nothing said. */
export function guardProcess(): void {
  printed.forget()
  takers.length = 0
  // oxlint-disable no-restricted-properties -- ours goes by another name
  exit = process.exit.bind(process)
  process.exit = (code) => {
    const sentence = `${blamed()} calls process.exit(${code ?? ''}), which would end the run with nothing said: take that call out`
    lose({ sentence })
    throw new Unjudgeable(sentence)
  }
  // oxlint-enable no-restricted-properties
  for (const stream of [process.stdout, process.stderr]) hideKeys(stream)
  process.on('uncaughtException', (error: unknown, origin) => {
    // It is told already.
    if (error instanceof Unjudgeable) return
    lose(lossOf(error, origin === 'unhandledRejection'))
  })
  process.on('beforeExit', () => {
    if (takers.length > 0) lose({ sentence: waitedFor() })
  })
}

/** Takes keys from all that is printed as text once the module of a target file runs: it may print what it likes. */
function hideKeys(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream) as (...of: unknown[]) => boolean
  stream.write = (chunk: unknown, ...rest: unknown[]): boolean => {
    const isForeign = typeof chunk === 'string' && modulesRun().length > 0
    return write(isForeign ? printed.foreign(chunk) : chunk, ...rest)
  }
}

/** What comes after everything was said changes nothing. */
function lose(loss: Loss): void {
  if (takers.length === 0) exit()
  takers.findLast((take) => take(loss))
}

function lossOf(error: unknown, isRejection: boolean): Loss {
  const words = foreignWords(error)
  if (!isForeign(error))
    return {
      sentence: `a mistake of the suite: ${words}; please report it, with the command line (NODE_DEBUG=conform shows where)`,
      mistake: words,
    }
  const how = isRejection
    ? 'left a rejected promise that nothing handles'
    : 'threw an error that nothing catches'
  return { sentence: `${blamed()} ${how}: ${words}` }
}

const blamed = (): string =>
  modulesRun()
    .map((path) => `the module ${path}`)
    .join(' or ') || 'a program that conform uses'

/** Whether the error comes from the module of a target file, or from what that has loaded: no frame of its stack is ours, or the module has one. */
function isForeign(error: unknown): boolean {
  if (modulesRun().length === 0) return false
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  const own = packageFile('')
  return (
    modulesRun().some((path) =>
      frames.some((frame) => frame.includes(path.replace(/^\.\//, ''))),
    ) || !frames.some((frame) => frame.includes(own) || frame.includes('node_modules'))
  )
}

/** Signals of the process from its first moment: the first one ends a run, a second one the process at once. */
export interface Interrupts {
  readonly signal: AbortSignal
  /**
   * Sets what is done a second after the first signal, if the run has not ended by itself. Until this is said the process ends
   * soon: there is nothing to report.
   */
  onOverdue(call: () => void): void
  /** Gives signals their usual effect again, also one that came already: for commands that are no run. */
  restoreDefaultSignals(): void
  stop(): void
}

/** Ends at the first signal that asks the process to end: for what goes on until then. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => resolve())
  })
}

/** An interrupted run that has not ended by itself after this long is left behind, in ms. */
const graceMs = 1_000

/** The interrupts of one run among several: a signal ends the run, not the process. */
export function createRunInterrupts() {
  const first = new AbortController()
  let overdue: () => void = () => undefined
  let timer: NodeJS.Timeout | undefined
  return {
    signal: first.signal,
    interrupt() {
      timer ??= setTimeout(() => overdue(), graceMs)
      first.abort()
    },
    onOverdue(call: () => void) {
      overdue = call
    },
    restoreDefaultSignals: () => undefined,
    stop: () => clearTimeout(timer),
  } satisfies Interrupts & { interrupt(): void }
}
