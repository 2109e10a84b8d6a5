import { setTimeout as sleep } from 'node:timers/promises'
import { exitProcess, createRunInterrupts, type Interrupts } from '../guard.ts'
import type { EndCause } from '../../harness/engine/index.ts'
import { leftOut, type Reason, type Report } from '../../harness/report/index.ts'
import { redactorFor } from '../../harness/target/index.ts'
import { UserError } from '../../harness/user-error.ts'
import type { RunArguments } from './arguments.ts'
import { findTarget, type FoundTarget, askOnce, takesConnections } from './find-target.ts'
import { startProcess, type CommandEnd } from './process.ts'

const defaultWaitMs = 30_000
/** Pause between two questions, and time for one answer, in ms. */
const everyMs = 100
const responseMs = 5_000
/** Time in which the server has to end by itself, in ms; after an interrupt the whole run has two seconds. */
const graceMs = 5_000
const graceAfterInterruptMs = 300
const fewLines = 3
const manyLines = 10
/** Statuses of a gateway that is up before its service, and of a service that is starting. */
const notYet = [502, 503, 504]

/** A server that was started, or only waited for: why the target does not answer, if it does not, and how to end it. */
export type StartedServer = Awaited<ReturnType<typeof startServer>>

/**
 * Starts the server to judge, if --start says how, and waits until the target answers. Only for --start or --wait.
 * @throws UserError if the target has no server to start, its port is taken, or the shell cannot run the command
 */
export async function startServer(
  { target, handler }: FoundTarget,
  { start, wait = defaultWaitMs }: Pick<RunArguments, 'start' | 'wait'>,
  interrupts: Interrupts,
) {
  const option = start === undefined ? '--wait' : '--start'
  if (handler)
    throw new UserError(
      `${option}: the target file names a handler (fetch): there is no server to wait for`,
    )
  const { baseUrl } = target
  if (start !== undefined && (await takesConnections(baseUrl))) {
    const { host } = new URL(baseUrl)
    throw new UserError(
      `--start: another program listens on ${host} already, and would be judged in place of your server: stop it, or use another port`,
    )
  }
  const server = start === undefined ? undefined : startProcess(start)
  const redactor = redactorFor(target)
  const lines = (most: number): string[] =>
    (server?.lastLines(most) ?? []).map((line) => redactor.text(line))
  let isKept = false
  const close = async (): Promise<void> => {
    await server?.close(interrupts.signal.aborted ? graceAfterInterruptMs : graceMs)
    if (!isKept) server?.forget()
  }
  try {
    return {
      problem: await whyNotAnswering({ target, waitMs: wait, interrupts, server, lines }),
      /** The server's output, for the reader of a report that is not good. */
      notes({ exit }: Report): string[] {
        if (!server || exit.code === 0) return []
        isKept = true
        const ending = server.end
          ? `; it ended by itself (${endOf(server.end)}), and wrote at last:`
          : ''
        return [
          `the output of the server: ${server.output}${ending}`,
          ...(server.end ? lines(manyLines).map((line) => `  ${line}`) : []),
        ]
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

interface Waiting {
  readonly target: FoundTarget['target']
  readonly waitMs: number
  readonly interrupts: Interrupts
  readonly server: ReturnType<typeof startProcess> | undefined
  /** The last lines that the server wrote, without keys. */
  readonly lines: (most: number) => string[]
}

async function whyNotAnswering(
  waiting: Waiting,
): Promise<({ readonly cause: EndCause } & Reason) | undefined> {
  const { interrupts, lines, server } = waiting
  const why = await untilItAnswers(waiting)
  if (interrupts.signal.aborted) return { cause: 'interrupted', ...leftOut('interrupted') }
  if (why === undefined || !server)
    return why === undefined ? undefined : { cause: 'unreachable', reason: why }
  const shown = lines(fewLines).filter((line) => line.trim() !== '')
  const written =
    shown.length === 0
      ? ` (its output, ${server.output}, is empty)`
      : ` (its output: ${server.output}), and wrote at last: ${shown.join(' | ')}`
  return { cause: 'unreachable', reason: why + written }
}

async function untilItAnswers({
  target,
  waitMs,
  interrupts,
  server,
  lines,
}: Waiting): Promise<string | undefined> {
  const stop = new AbortController()
  const signal = AbortSignal.any([interrupts.signal, stop.signal])
  // Nothing is to be reported later than usual: the waiting ends at once.
  interrupts.onOverdue(() => undefined)
  const ended = server?.ended.finally(() => stop.abort())
  ended?.catch(() => undefined)
  const deadline = performance.now() + waitMs
  const isStopped = (): boolean => signal.aborted
  while (!isStopped()) {
    const left = deadline - performance.now()
    const result = await askOnce(target, Math.max(1, Math.min(responseMs, left)), signal)
    if (isStopped()) break
    const isReady = result.kind === 'answer' && !notYet.includes(result.status)
    // If a gateway still answers that the service is away, the run itself judges that, and names it.
    if (isReady || (result.kind === 'answer' && left <= 0)) return undefined
    if (left <= 0 && result.kind === 'no-answer')
      return `${target.baseUrl} did not answer within ${waitMs / 1000} s: ${result.message}`
    await sleep(everyMs, undefined, { signal }).catch(() => undefined)
  }
  return interrupts.signal.aborted || !ended
    ? undefined
    : whyEnded(await ended, lines, target.baseUrl)
}

function whyEnded(end: CommandEnd, lines: Waiting['lines'], baseUrl: string): string {
  const { code } = end
  // Exit codes by which shells say that there is no such program, or that it cannot be run.
  if (code === 126 || code === 127) {
    const written = lines(fewLines).join(' | ')
    throw new UserError(
      `--start: the shell could not run the command (exit code ${code}): ${written}`,
    )
  }
  const remedy =
    code === 0
      ? '; give a command that goes on, or start the server yourself and give --wait <ms> alone'
      : ''
  return `the command of --start ended (${endOf(end)}) before ${baseUrl} answered${remedy}`
}

function endOf({ code, signal }: CommandEnd): string {
  return signal === null ? `with exit code ${code}` : `by ${signal}`
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Starts the server of several runs once, and gives the options of each, and what ends the server. Throws UserError if the
 * target does not answer.
 */
export async function startForSession(baseUrl: string | undefined, options: RunArguments) {
  const { start, wait, ...rest } = options
  if (start === undefined && wait === undefined)
    return { options, handOverSignals: () => undefined, close: async () => undefined }
  // A signal ends a process without its `exit`, and its server would stay.
  const exit = (): void => exitProcess(1)
  for (const signal of signals) process.once(signal, exit)
  const found = await findTarget(baseUrl, options)
  const server = await startServer(found, options, createRunInterrupts())
  if (server.problem) {
    await server.close()
    throw new UserError(server.problem.reason)
  }
  return {
    options: rest as RunArguments,
    /** From now on somebody else hears signals, and calls `close`. */
    handOverSignals: () => {
      for (const signal of signals) process.off(signal, exit)
    },
    close: () => server.close(),
  }
}
