import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Interrupts } from '../guard.ts'
import type { EndCause } from '../../harness/client/index.ts'
import { leftOut, type Reason, type Report } from '../../harness/report/index.ts'
import { redacted, Redactor } from '../../harness/recording/redactor.ts'
import type { Target } from '../../harness/target/index.ts'
import { UserError } from '../../harness/user-error.ts'
import type { RunArguments } from './arguments.ts'
import type { FoundTarget } from './find-target.ts'
import { startProcess, type CommandEnd } from './process.ts'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTransport } from '../../harness/http/index.ts'
import { isLoopback } from '../../harness/loopback.ts'

const defaultWaitMs = 30_000
/** Time for the server to end by itself, in ms; after an interrupt the whole run has two seconds. */
const graceMs = 5_000
const graceAfterInterruptMs = 300

/** A server that was started or waited for: why it does not answer, if so, and how to end it. */
export type StartedServer = Awaited<ReturnType<typeof startServer>>

/**
 * Starts the server to judge (--start), and waits until the target answers (--start, --wait).
 * @throws UserError if there is no server to start, its port is taken, or the shell cannot run the command
 */
export async function startServer(
  found: FoundTarget,
  options: Pick<RunArguments, 'insecure' | 'start' | 'wait'>,
  interrupts: Interrupts,
) {
  const { insecure, start, wait = defaultWaitMs } = options
  const target = { ...found.target, insecure }
  if (found.handler)
    throw new UserError(
      `${start === undefined ? '--wait' : '--start'}: the target file has a handler, which runs in this process; leave the option out`,
    )
  if (start !== undefined && (await takesConnections(found.target.baseUrl))) {
    const { host } = new URL(found.target.baseUrl)
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
    return {
      problem: await problemOf(target, wait, server, interrupts.signal),
      notes(report: Report): string[] {
        if (log === undefined || report.exit.code === 0) return []
        isLogNamed = true
        const ended = end && `the server exited (${end.how}): ${errorIn(log, found.target)}`
        return [`the output of the server: ${log}`, ...(ended === undefined ? [] : [ended])]
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Waits until the target answers; why it cannot be judged, if so. */
async function problemOf(
  target: Target & Reached,
  waitMs: number,
  server: ReturnType<typeof startProcess> | undefined,
  signal: AbortSignal,
): Promise<({ readonly cause: EndCause } & Reason) | undefined> {
  const over = new AbortController()
  const silence = untilItAnswers(target, waitMs, AbortSignal.any([signal, over.signal]))
  const first = await Promise.race([silence, ...(server ? [server.ended] : [])]).finally(() =>
    over.abort(),
  )
  if (signal.aborted) return { cause: 'interrupted', ...leftOut('interrupted') }
  if (first === undefined) return undefined
  const written = server?.log === undefined ? '' : errorIn(server.log, target)
  const quoted = written === '' ? '' : `; it wrote (${server?.log}): ${written}`
  const why = { kind: 'target' } as const
  if (typeof first === 'string') return { cause: 'unreachable', reason: first + quoted, why }
  // Shell exit codes for a command that is missing or cannot be run.
  if (first.code === 126 || first.code === 127)
    throw new UserError(
      `--start: the shell could not run the command (exit code ${first.code}): ${written}`,
    )
  const reason = `the command of --start ended (${first.how}) before ${target.baseUrl} answered`
  return { cause: 'unreachable', reason: reason + quoted, why }
}

const tailLength = 16_384

/**
 * The error that a server wrote, without keys: the line that names it rather than the stack below; else its last lines.
 */
function errorIn(log: string, target: Target): string {
  const text = existsSync(log) ? readFileSync(log, 'utf8').slice(-tailLength) : ''
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const error = lines.find((line) =>
    /^\s*([\w.$]*(Error|Exception)|error|fatal|panic)\b.*\S/i.test(line),
  )
  const shown = error ?? lines.slice(-3).join(' | ')
  // A server may log the address of its database.
  const withoutPassword = shown.trim().replaceAll(/(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g, redacted)
  return shown === '' ? 'nothing' : new Redactor(target).text(withoutPassword)
}

interface Reached extends Pick<Target, 'baseUrl' | 'headers' | 'tls'> {
  readonly insecure?: boolean | undefined
}

const bodyLimit = 64 * 1024
/** Longest wait for a connection in ms: without any reply, nothing is listening. */
const connectMs = 2_000
const responseMs = 5_000
/** Poll intervals in ms: for a target that takes connections, and for one that does not answer. */
const lookMs = 250
const askMs = 100
/** Statuses of a gateway whose service is not up, or of a service that is starting. */
const notYet = [502, 503, 504]

/** Opens and closes a connection: servers do not even log that. */
export function takesConnections(baseUrl: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(baseUrl)
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
      timeout: connectMs,
    })
    const end = (takes: boolean) => () => {
      socket.destroy()
      resolve(takes)
    }
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false))
  })
}

/**
 * Sends `GET /v1/files` without a key until the target answers. If a gateway still reports the service as down at the
 * end, the run itself names that.
 * @returns why there was no answer, if so
 */
export async function untilItAnswers(
  { baseUrl, headers, insecure = false, tls }: Reached,
  waitMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const deadline = performance.now() + waitMs
  const transport = createTransport({ baseUrl, connections: 1, insecure, tls, bodyLimit })
  try {
    while (!signal.aborted) {
      const left = deadline - performance.now()
      const timeoutMs = Math.max(1, Math.min(responseMs, left))
      const request = { method: 'GET', path: '/v1/files', headers }
      const result = await transport.send(request, { timeoutMs, signal, fresh: true })
      const isAnswer = result.kind === 'answer'
      if (isAnswer && (left <= 0 || !notYet.includes(result.status))) return undefined
      // A server whose certificate is not accepted gets no headers: the run itself names it.
      if (!isAnswer && (result.detail === 'untrusted' || result.detail === 'not-valid'))
        return undefined
      if (left <= 0 && !isAnswer)
        return `${baseUrl} did not answer within ${waitMs / 1000} s: ${result.message}`
      await sleep(askMs, undefined, { signal }).catch(() => undefined)
    }
    return undefined
  } finally {
    await transport.close()
  }
}

/**
 * Waits for a target to restart; false if waiting is pointless. A local target counts as gone when it refuses
 * connections, so nothing is sent meanwhile; a remote one when `isGone`.
 */
export async function untilBack(
  target: Reached,
  isGone: boolean,
  signal: AbortSignal,
  onGone: () => void,
): Promise<boolean> {
  if (!isGone && !isLoopback(new URL(target.baseUrl).hostname)) return false
  while (!isGone && !signal.aborted && (await takesConnections(target.baseUrl)))
    await sleep(lookMs, undefined, { signal }).catch(() => undefined)
  if (signal.aborted) return false
  onGone()
  await untilItAnswers(target, Infinity, signal)
  return !signal.aborted
}
