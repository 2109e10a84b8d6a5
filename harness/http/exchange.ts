import type { Dispatcher } from 'undici'
import type { Connection, ConnectionSlot } from './connection-pool.ts'
import { type Collector, collect, decode } from './decode.ts'
import { dispatchOptions } from './endpoint.ts'
import { headerLines, headerValue, promisedLength, sentLines } from './message.ts'
import type {
  HeaderLine,
  HttpRequest,
  HttpResult,
  NoResponse,
  Tag,
  WireResponse,
} from './message.ts'
import { count, explain, type Progress, proxyWantsCredentials } from './no-response.ts'
import { type Reason, timedOut, unaskedUpgrade } from './no-response.ts'
import type { Ending } from './under-way.ts'

export interface ExchangeOptions {
  /** Most bytes of a body that are read, as they come. */
  readonly limit: number
  readonly ending: Ending
  readonly tag?: Tag | undefined
}

const untagged: Tag = {}

const closedAsIdle: Reason = {
  cause: 'reset',
  message: 'the connection was closed as idle, by a 408',
}

interface Exchanged {
  /** An answer has its content encoding still on it. */
  readonly result: HttpResult
  /** The slot can carry another exchange. */
  readonly reusable: boolean
}

/** The members of a slot by which an exchange goes. */
export type ExchangeSlot = Pick<ConnectionSlot, 'endpoint' | 'connection' | 'dispatch'>

/** Sends one request on a free slot and reads its answer. Rejects only if the slot takes no such request. */
export function exchange(
  slot: ExchangeSlot,
  request: HttpRequest,
  options: ExchangeOptions,
): Promise<Exchanged> {
  return new Promise((resolve) => {
    const running = new RunningExchange(slot, options, resolve)
    if (options.ending.cause !== undefined) return running.interrupt()
    options.ending.drop = () => running.interrupt()
    slot.dispatch(dispatchOptions(slot.endpoint, request, sentLines(request)), running)
  })
}

/** An exchange as undici tells it: one object, since a run has thousands of them. */
class RunningExchange implements Dispatcher.DispatchHandler {
  readonly #slot: ExchangeSlot
  readonly #options: ExchangeOptions
  readonly #resolve: (exchanged: Exchanged) => void
  #sentAt = performance.now()
  #controller: Dispatcher.DispatchController | undefined
  #connection: Connection | undefined
  #previousTag: Tag | undefined
  #head: { status: number; headers: readonly HeaderLine[]; length: number | undefined } | undefined
  #body: Collector | undefined
  #cameAt: number | undefined
  #isSettled = false

  constructor(
    slot: ExchangeSlot,
    options: ExchangeOptions,
    resolve: (exchanged: Exchanged) => void,
  ) {
    this.#slot = slot
    this.#options = options
    this.#resolve = resolve
  }

  interrupt(): void {
    const { cause, timeoutMs } = this.#options.ending
    this.#fail(cause === 'deadline' ? timedOut(timeoutMs, this.#progress()) : interrupted)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isSettled) return controller.abort(new Error('the exchange is over'))
    const { connection } = this.#slot
    this.#connection = connection
    if (connection) {
      this.#previousTag = connection.exchanges > 0 ? (connection.tag ?? untagged) : undefined
      connection.exchanges += 1
      connection.tag = this.#options.tag
      connection.watch.begin()
    }
    this.#sentAt = performance.now()
  }

  onRequestUpgrade(): void {
    this.#fail(unaskedUpgrade)
  }

  onResponseStart({ rawHeaders }: Dispatcher.DispatchController, status: number): void {
    const { proxy, secure } = this.#slot.endpoint
    if (status === 101) return this.#fail(unaskedUpgrade)
    if (status < 100)
      return this.#fail({
        cause: 'malformed',
        message: 'the answer is not HTTP: its status is below 100',
      })
    if (status < 200) return
    // Only a proxy answers so; one that opens tunnels has answered to CONNECT.
    if (status === 407 && proxy && !secure) return this.#fail(proxyWantsCredentials(proxy))
    const headers = headerLines(rawHeaders as Buffer[])
    // Said to a connection that was idle for too long, not to the request that has just come on it (RFC 9110 §15.5.9).
    if (
      status === 408 &&
      this.#previousTag &&
      /\bclose\b/i.test(headerValue(headers, 'connection') ?? '')
    )
      return this.#fail(closedAsIdle, true)
    this.#head = { status, headers, length: promisedLength(headers) }
    this.#body = collect(this.#options.limit)
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#cameAt = performance.now()
    if (!this.#isSettled && !this.#body!.add(chunk)) this.#finish({ cut: true, reusable: false })
  }

  onResponseEnd(): void {
    this.#finish({ cut: false, reusable: true })
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#head && isBodiless(this.#head.status)) this.#finish({ cut: false, reusable: false })
    else this.#fail(explain(error, this.#progress()))
  }

  #settle(result: HttpResult, reusable: boolean): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#options.ending.drop = undefined
    this.#resolve({ result, reusable })
    if (!reusable) this.#controller?.abort(new Error('the exchange is over'))
  }

  #fail(reason: Reason, isStale = this.#connection?.watch.bytes === 0): void {
    const staleConnection = reason.cause === 'reset' && this.#previousTag !== undefined && isStale
    const result: NoResponse = {
      ...noResponse(reason, this.#sentAt),
      staleConnection,
      previousTag: this.#previousTag,
    }
    this.#settle(result, false)
  }

  #finish({ cut, reusable }: { cut: boolean; reusable: boolean }): void {
    const { status, headers } = this.#head!
    const body = this.#body!.bytes()
    const times = { sentAt: this.#sentAt, endedAt: performance.now() }
    this.#settle(
      { kind: 'answer', status, headers, body, cut, previousTag: this.#previousTag, ...times },
      reusable,
    )
  }

  #progress(): Progress {
    return {
      ...this.#slot.endpoint,
      connected: this.#connection !== undefined,
      bytes: this.#connection?.watch.bytes ?? 0,
      status: this.#head?.status,
      bodyBytes: this.#body?.length ?? 0,
      bodyLength: this.#head?.length,
      ...(this.#cameAt !== undefined && { silentMs: performance.now() - this.#cameAt }),
    }
  }
}

const interrupted: Reason = {
  cause: 'aborted',
  message: 'the run was interrupted before the answer was whole',
}

/** An exchange that had to end before: `what` by its deadline, or an interrupt. */
export function endedBefore({ cause, timeoutMs }: Ending, what: string): Reason {
  if (cause !== 'deadline') return interrupted
  return { cause: 'timeout', message: `${what} within ${count(timeoutMs)} ms` }
}

/** An answer of such a status ends with its head (RFC 9112 §6.3), whatever length it names; undici complains of the length. */
const isBodiless = (status: number) => status === 204 || status === 304

/** The result with the content encoding taken off its answer, if there is one. */
export function withoutEncoding(
  result: HttpResult,
  limit: number,
  ending: Ending,
): HttpResult | Promise<HttpResult> {
  if (result.kind !== 'answer') return result
  const encoding = headerValue(result.headers, 'content-encoding')
  return encoding === undefined ? result : decoded(result, encoding, limit, ending)
}

async function decoded(
  answer: WireResponse,
  encoding: string,
  limit: number,
  ending: Ending,
): Promise<HttpResult> {
  const { body, cut, sentAt } = answer
  try {
    return { ...answer, ...(await decode({ body, cut, encoding }, limit, ending)) }
  } catch {
    return noResponse(endedBefore(ending, 'the body could not be decoded'), sentAt)
  }
}

/** No answer, on a connection about which nothing more is known. */
export const noResponse = (reason: Reason, sentAt: number): NoResponse => ({
  kind: 'no-answer',
  ...reason,
  staleConnection: false,
  sentAt,
  endedAt: performance.now(),
})
