import { readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { exitProcess, createRunInterrupts, type Interrupts } from '../guard.ts'
import type { EndCause } from '../../harness/client/index.ts'
import { leftOut, type Reason, type Report } from '../../harness/report/index.ts'
import { redactorFor, type Target } from '../../harness/target/index.ts'
import { UserError } from '../../harness/user-error.ts'
import type { RunArguments } from './arguments.ts'
import { findTarget, type FoundTarget, askOnce, takesConnections } from './find-target.ts'
import { startProcess, type CommandEnd } from './process.ts'

const defaultWaitMs = 30_000
const everyMs = 100
const responseMs = 5_000
/** Time for the server to end by itself, in ms; after an interrupt the whole run has two seconds. */
const graceMs = 5_000
const graceAfterInterruptMs = 300
/** Statuses of a gateway whose service is not up, or of a service that is starting. */
const notYet = [502, 503, 504]

/** A server that was started or waited for: why it does not answer, if so, and how to end it. */
export type StartedServer = Awaited<ReturnType<typeof startServer>>

/**
 * Starts the server to judge (--start), and waits until the target answers (--start, --wait).
 * @throws UserError if there is no server to start, its port is taken, or the shell cannot run the command
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
  if (start !== undefined && (await takesConnections(target.baseUrl))) {
    const { host } = new URL(target.baseUrl)
    throw new UserError(
      `--start: another program already listens on ${host} and would be judged instead of your server; stop it, or use another port`,
    )
  }
  const server = start === undefined ? undefined : startProcess(start)
  const { log } = server ?? {}
  let end: CommandEnd | undefined
  void server?.ended.then((ended) => (end = ended)).catch(() => undefined)
  let isLogNamed = false
  const close = async (): Promise<void> => {
    await server?.close(interrupts.signal.aborted ? graceAfterInterruptMs : graceMs)
    if (!isLogNamed && log !== undefined) rmSync(dirname(log), { recursive: true, force: true })
  }
  // An interrupt ends the wait at once: there is nothing to report.
  interrupts.onOverdue(() => undefined)
  try {
    const why = await whyNotAnswering(target, wait, { server, signal: interrupts.signal })
    return {
      problem: whyNotJudged(why, interrupts.signal.aborted),
      notes({ exit }: Report): string[] {
        if (log === undefined || exit.code === 0) return []
        isLogNamed = true
        const lines = [`the output of the server: ${log}`]
        return end
          ? [...lines, `the server exited (${endOf(end)}): ${errorIn(log, target)}`]
          : lines
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

type Ended = { readonly cause: EndCause } & Reason

function whyNotJudged(why: string | undefined, isInterrupted: boolean): Ended | undefined {
  if (isInterrupted) return { cause: 'interrupted', ...leftOut('interrupted') }
  return why === undefined ? undefined : { cause: 'unreachable', reason: why }
}

interface Waiting {
  readonly server: ReturnType<typeof startProcess> | undefined
  readonly signal: AbortSignal
}

async function whyNotAnswering(
  target: Target,
  waitMs: number,
  { server, signal }: Waiting,
): Promise<string | undefined> {
  const over = new AbortController()
  const stopped = AbortSignal.any([signal, over.signal])
  const silence = untilItAnswers(target, waitMs, stopped)
  if (!server) return silence
  const { ended, log } = server
  const first = await Promise.race([silence, ended]).finally(() => over.abort())
  const why = typeof first === 'object' ? whyEnded(first, log, target) : first
  if (why === undefined || log === undefined) return why
  return `${why}; it wrote (${log}): ${errorIn(log, target)}`
}

async function untilItAnswers(
  target: Target,
  waitMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const deadline = performance.now() + waitMs
  while (!signal.aborted) {
    const left = deadline - performance.now()
    const result = await askOnce(target, Math.max(1, Math.min(responseMs, left)), signal)
    const isReady = result.kind === 'answer' && !notYet.includes(result.status)
    // If a gateway still reports the service as down, the run itself judges and names that.
    if (isReady || (result.kind === 'answer' && left <= 0)) return undefined
    if (left <= 0 && result.kind === 'no-answer')
      return `${target.baseUrl} did not answer within ${waitMs / 1000} s: ${result.message}`
    await sleep(everyMs, undefined, { signal }).catch(() => undefined)
  }
  return undefined
}

function whyEnded(end: CommandEnd, log: string | undefined, target: Target): string {
  const { code } = end
  // Shell exit codes for a command that is missing or cannot be run.
  if (code === 126 || code === 127)
    throw new UserError(
      `--start: the shell could not run the command (exit code ${code}): ${errorIn(log, target)}`,
    )
  return `the command of --start ended (${endOf(end)}) before ${target.baseUrl} answered`
}

function endOf({ code, signal }: CommandEnd): string {
  return signal === null ? `with exit code ${code}` : `by ${signal}`
}

const tailLength = 16_384

/**
 * The error that a server wrote, without keys: the line that names it rather than the stack below; else its last lines.
 */
function errorIn(log: string | undefined, target: Target): string {
  const lines = tailOf(log)
    .split('\n')
    .filter((line) => line.trim() !== '')
  const error = lines.find((line) =>
    /^\s*([\w.$]*(Error|Exception)|error|fatal|panic)\b.*\S/i.test(line),
  )
  const shown = error ?? lines.slice(-3).join(' | ')
  return shown === '' ? 'nothing' : redactorFor(target).text(shown.trim())
}

function tailOf(log: string | undefined): string {
  try {
    return log === undefined ? '' : readFileSync(log, 'utf8').slice(-tailLength)
  } catch {
    return ''
  }
}

/**
 * Starts the server once for several runs; returns the options of each run, and a function to stop the server. Throws
 * UserError if the target does not answer.
 */
export async function startForWatch(baseUrl: string | undefined, options: RunArguments) {
  const { start, wait, ...rest } = options
  if (start === undefined && wait === undefined) return { options, close: async () => undefined }
  // A signal would end the process without its `exit` event, and leave the server running.
  const exit = (): void => exitProcess(1)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.once(signal, exit)
  const found = await findTarget(baseUrl, options)
  const server = await startServer(found, options, createRunInterrupts())
  if (server.problem) {
    await server.close()
    throw new UserError(server.problem.reason)
  }
  for (const signal of signals) process.off(signal, exit)
  return { options: rest as RunArguments, close: () => server.close() }
}
