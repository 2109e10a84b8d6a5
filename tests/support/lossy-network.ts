import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpRequest, NoResponse, SendOptions, Transport } from '../../harness/http/message.ts'

/** Numbers that only depend on what they are asked for: the same in every run, in whatever order. */
export interface Random {
  /** At least 0, below 1. */
  of(what: string): number
  oneOf<T>(what: string, choices: readonly T[]): T
}

export function randomFrom(seed: number): Random {
  const of = (what: string): number =>
    createHash('sha256').update(`${seed} ${what}`).digest().readUInt32BE(0) / 2 ** 32
  return {
    of,
    oneOf: (what, choices) =>
      choices[Math.floor(of(what) * choices.length)] as (typeof choices)[number],
  }
}

/** Properties of a network. */
export interface Network {
  readonly seed: number
  /** Most ms that a response takes; each takes another part of it. */
  readonly latencyMs: number
  /** Share of the requests whose connection is closed before they are answered. */
  readonly lost: number
}

/**
 * A network that takes another time for each request and loses some: those that cannot have had an effect may also be lost
 * without a word, but no request twice in a row, since a target that does not answer twice may be failed for it.
 */
export function network(transport: Transport, { seed, latencyMs, lost }: Network): Transport {
  const random = randomFrom(seed)
  const justLost = new Set<string>()
  let sent = 0

  function loses(request: HttpRequest, { fresh }: SendOptions): NoResponse | undefined {
    const name = `${request.method} ${request.path}`
    if (justLost.delete(name) || fresh || random.of(`lost ${sent}`) >= lost) return undefined
    justLost.add(name)
    // A connection that had been open for a while was closed; else, the request itself got no answer.
    const staleConnection = request.method !== 'GET' || random.of(`stale ${sent}`) < 0.5
    const now = performance.now()
    return {
      kind: 'no-answer',
      cause: 'reset',
      message: 'lost',
      staleConnection,
      sentAt: now,
      endedAt: now,
    }
  }

  return {
    ...transport,
    async send(request, options) {
      sent++
      const lateMs = Math.ceil(random.of(`late ${sent}`) * latencyMs)
      const loss = loses(request, options)
      await sleep(lateMs)
      if (loss) return { ...loss, endedAt: performance.now() }
      const result = await transport.send(request, options)
      return { ...result, sentAt: result.sentAt - lateMs }
    },
  }
}
