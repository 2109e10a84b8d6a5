import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTransport } from '../../harness/http/index.ts'
import { isLoopback } from '../../harness/loopback.ts'
import type { Target } from '../../harness/target/index.ts'

type Reached = Pick<Target, 'baseUrl' | 'headers' | 'tls'>

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
  { baseUrl, headers, tls }: Reached,
  waitMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const deadline = performance.now() + waitMs
  // The run itself judges the certificate.
  const transport = createTransport({ baseUrl, connections: 1, insecure: true, tls, bodyLimit })
  try {
    while (!signal.aborted) {
      const left = deadline - performance.now()
      const timeoutMs = Math.max(1, Math.min(responseMs, left))
      const request = { method: 'GET', path: '/v1/files', headers }
      const result = await transport.send(request, { timeoutMs, signal, fresh: true })
      const isAnswer = result.kind === 'answer'
      if (isAnswer && (left <= 0 || !notYet.includes(result.status))) return undefined
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
