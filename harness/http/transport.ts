import { type ConnectionLine, openLine } from './connection.ts'
import { endpointOf } from './endpoint.ts'
import { exchange } from './exchange.ts'
import type {
  HttpRequest,
  HttpResult,
  SendOptions,
  Transport,
  TransportOptions,
} from './message.ts'

/**
 * The suite's HTTP/1.1 client: one origin, no redirects, no retries. Nothing that a server sends makes `send` reject,
 * hang or take more memory than a few times the body limit. It replaces undici's pool, which does not tell what a
 * connection carried before, and cannot provide a fresh or a particular one. Throws UserError if the base URL, a PEM
 * text or a proxy variable is invalid.
 */
export function createTransport(options: TransportOptions): Transport {
  const endpoint = endpointOf(options)
  const { bodyLimit, connections } = options
  const lines = new Set<ConnectionLine>()
  /** Unused connections; the most recent one is taken first, so that connections stay warm. */
  const free: ConnectionLine[] = []
  const closing = new AbortController()

  function take(isFresh: boolean): ConnectionLine {
    const known = isFresh ? undefined : free.pop()
    if (known) return known
    if (lines.size >= connections) drop(free.shift())
    const line = openLine(endpoint)
    lines.add(line)
    return line
  }

  function drop(line: ConnectionLine | undefined): void {
    if (!line) return
    lines.delete(line)
    void line.hangUp()
  }

  async function sendOn(line: ConnectionLine, request: HttpRequest, sending: SendOptions) {
    const { timeoutMs, tag } = sending
    const options = { timeoutMs, tag, signals: [closing.signal, sending.signal], limit: bodyLimit }
    const { result, reusable } = await exchange(line, request, options)
    if (!reusable) drop(line)
    // If the other side closed one, it has probably closed the waiting ones too.
    if (result.kind === 'no-answer' && result.staleConnection) free.splice(0).forEach(drop)
    return { result, reusable }
  }

  async function send(request: HttpRequest, sending: SendOptions): Promise<HttpResult> {
    const { fresh = false, after, ...rest } = sending
    let line = take(fresh || after !== undefined)
    if (after) {
      const first = await sendOn(line, after.request, { ...rest, tag: after.tag })
      after.ended(first.result)
      if (!first.reusable) line = take(true)
    }
    const { result, reusable } = await sendOn(line, request, rest)
    if (reusable) free.push(line)
    return result
  }

  async function close(): Promise<void> {
    closing.abort()
    await Promise.all([...lines].map((line) => line.hangUp()))
  }

  return { send, close, idle: () => free.length }
}
