import { debuglog } from 'node:util'
import { modulesRun, waitedFor, Unjudgeable } from '../harness/user-error.ts'
import { foreignWords, inspected, printed, Redactor } from '../harness/recording/redactor.ts'
import { packageFile } from '../schemas/validate.ts'

const debug = debuglog('conform')

/**
 * Takes the reason why the process cannot make further progress: one sentence, without keys; undefined if the event
 * loop is empty and the waiting code knows why.
 */
type Take = (sentence: string | undefined) => boolean
const takers: Take[] = []
let exit: (code?: number) => void = () => undefined

/** Ends the process now. Foreign code cannot call `process.exit`, since it would end the process silently. */
export function exitProcess(code?: number): void {
  // Passing undefined would overwrite the exit code that is set.
  if (code === undefined) exit()
  else exit(code)
}

/**
 * Calls `take` when foreign code, a bug or an empty event loop ends the current work. If `take` returns false, the
 * handler registered before it is called. Returns a function that unregisters it.
 */
export function onLoss(take: Take): () => void {
  takers.push(take)
  return () => void takers.splice(takers.lastIndexOf(take), 1)
}

/** Returns the result of the work; throws Unjudgeable once it can no longer finish. */
export async function orLost<T>(work: Promise<T>): Promise<T> {
  let release: () => void = () => undefined
  const lost = new Promise<never>((_, reject) => {
    release = onLoss((sentence = stuck('for something that never happens')) => {
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

/** @param what continues the sentence `waited …`: `for the answers to 3 requirements` */
export function stuck(what: string): string {
  return `the run cannot continue: nothing can happen any more, but conform still waits ${what}`
}

/** Makes sure that this process never ends without a message. */
export function guardProcess(): void {
  Object.assign(printed, { keys: new Redactor(), literals: new Redactor() })
  takers.length = 0
  // oxlint-disable no-restricted-properties -- ours goes by another name
  exit = process.exit.bind(process)
  process.exit = (code) => {
    const sentence = `${blamed()} calls process.exit(${code ?? ''}), which would end the run without a report: remove that call`
    lose(sentence)
    throw new Unjudgeable(sentence)
  }
  // oxlint-enable no-restricted-properties
  // Removes keys from everything printed: the module of a target file may print anything.
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (...of: unknown[]) => boolean
    stream.write = (chunk: unknown, ...rest: unknown[]): boolean => {
      const isForeign = typeof chunk === 'string' && modulesRun.length > 0
      return write(isForeign ? printed.literals.text(printed.keys.text(chunk)) : chunk, ...rest)
    }
  }
  process.on('uncaughtException', (error: unknown, origin) => {
    // Already reported.
    if (error instanceof Unjudgeable) return
    const isRejection = origin === 'unhandledRejection'
    const how = isRejection ? 'left a rejected promise unhandled' : 'threw an uncaught error'
    lose(isForeign(error) ? `${blamed()} ${how}: ${foreignWords(error)}` : bugSentence(error))
  })
  process.on('beforeExit', () => {
    if (takers.length > 0) lose(waitedFor())
  })
}

/** Output after the final line is ignored. */
function lose(sentence: string | undefined): void {
  if (takers.length === 0) exit()
  takers.findLast((take) => take(sentence))
}

export function bugSentence(error: unknown): string {
  debug('%s', inspected(error))
  return `a bug in the suite: ${foreignWords(error)}; please report it, with the command line (NODE_DEBUG=conform prints the stack)`
}

const blamed = (): string =>
  modulesRun.map((path) => `the module ${path}`).join(' or ') || 'a program that conform uses'

/**
 * Whether an error comes from the module of a target file or its dependencies: its stack has no frame of ours, or one
 * of the module.
 */
function isForeign(error: unknown): boolean {
  if (modulesRun.length === 0) return false
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  const own = packageFile('')
  return (
    modulesRun.some((path) => frames.some((frame) => frame.includes(path.replace(/^\.\//, '')))) ||
    !frames.some((frame) => frame.includes(own) || frame.includes('node_modules'))
  )
}

/** Signals of the process from its first moment: the first ends a run, the second ends the process. */
export interface Interrupts {
  readonly signal: AbortSignal
  /**
   * Sets what happens one second after the first signal if the run has not ended. Until it is set, the process ends
   * soon: there is nothing to report.
   */
  onOverdue(call: () => void): void
  /** Restores the default effect of signals, also of one already received: for commands that do not run checks. */
  restoreDefaultSignals(): void
  stop(): void
}

/** Time before an interrupted run that does not end is abandoned, in ms. */
const graceMs = 1_000

/** Interrupts for one of several runs: a signal ends the run, not the process. */
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
