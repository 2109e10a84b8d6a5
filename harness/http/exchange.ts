import type { Dispatcher } from 'undici'
import { Collector, decode } from './decode.ts'
import { dispatchOptions, type Endpoint } from './endpoint.ts'
import {
  headerLines,
  headerValue,
  promisedLength,
  sentLines,
  type HeaderLine,
  type HttpRequest,
  type HttpResult,
  type NoResponse,
  type SendOptions,
  type Tag,
} from './message.ts'
import {
  explain,
  type Progress,
  proxyWantsCredentials,
  type Reason,
  timedOut,
  unaskedUpgrade,
} from './no-response.ts'

export interface Connection {
  bytes: number
  exchanges: number
  tag: Tag | undefined
}

export interface Line {
  readonly endpoint: Endpoint
  readonly connection: Connection | undefined
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): unknown
}

interface Exchanged {
  readonly result: HttpResult
  readonly reusable: boolean
}

export interface ExchangeOptions extends Pick<SendOptions, 'timeoutMs' | 'tag'> {
  readonly limit: number
  readonly signals: readonly (AbortSignal | undefined)[]
}

export async function exchange(
  line: Line,
  request: HttpRequest,
  options: ExchangeOptions,
): Promise<Exchanged> {
  const { result, reusable } = await new Promise<Exchanged>((resolve) => {
    const running = new Running(line, options, resolve)
    if (!running.begins()) return
    line.dispatch(dispatchOptions(line.endpoint, request, sentLines(request)), running)
  })
  if (result.kind === 'no-answer') return { result, reusable }
  const encoding = headerValue(result.headers, 'content-encoding')
  if (encoding === undefined) return { result, reusable }
  return {
    result: { ...result, ...(await decode({ ...result, encoding }, options.limit)) },
    reusable,
  }
}

/** Extra time after the deadline, in ms: the answer may have arrived while this process was busy. */
const graceMs = 50
const longestTimerMs = 2 ** 31 - 1

const over = new Error('the exchange is over')

class Running implements Dispatcher.DispatchHandler {
  readonly #line: Line
  readonly #options: ExchangeOptions
  readonly #resolve: (exchanged: Exchanged) => void
  readonly #body: Collector
  #timer: NodeJS.Timeout | undefined
  #isLate = false
  #sentAt = performance.now()
  #controller: Dispatcher.DispatchController | undefined
  #connection: Connection | undefined
  #previousTag: Tag | undefined
  #head: { status: number; headers: readonly HeaderLine[] } | undefined
  #cameAt: number | undefined
  #isSettled = false

  constructor(line: Line, options: ExchangeOptions, resolve: (exchanged: Exchanged) => void) {
    this.#line = line
    this.#options = options
    this.#resolve = resolve
    this.#body = new Collector(options.limit)
  }

  begins(): boolean {
    const { timeoutMs, signals } = this.#options
    if (timeoutMs < longestTimerMs) this.#timer = setTimeout(beLate, timeoutMs, this)
    for (const signal of signals) if (signal) openUnder(signal).add(this)
    if (signals.some((signal) => signal?.aborted)) this.interrupt()
    return !this.#isSettled
  }

  interrupt(): void {
    this.#fail(interrupted)
  }

  late(): void {
    const { timeoutMs } = this.#options
    if (this.#isLate) return this.#fail(timedOut(timeoutMs, this.#progress()))
    this.#isLate = true
    this.#timer = setTimeout(beLate, graceMs, this)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isSettled) return controller.abort(over)
    const { connection } = this.#line
    this.#connection = connection
    if (connection) {
      this.#previousTag = connection.exchanges > 0 ? (connection.tag ?? {}) : undefined
      connection.exchanges += 1
      connection.tag = this.#options.tag
      connection.bytes = 0
    }
    this.#sentAt = performance.now()
  }

  onRequestUpgrade(): void {
    this.#fail(unaskedUpgrade)
  }

  onResponseStart(dispatchController: Dispatcher.DispatchController, status: number): void {
    const { proxy, secure } = this.#line.endpoint
    if (status === 101) return this.#fail(unaskedUpgrade)
    if (status < 100) return this.#fail(belowHundred)
    if (status < 200) return
    // Only a forwarding proxy sends this; a tunnelling one has answered to CONNECT.
    if (status === 407 && proxy && !secure) return this.#fail(proxyWantsCredentials(proxy))
    const headers = headerLines(dispatchController.rawHeaders as Buffer[])
    // Sent to an idle connection, not in answer to the request that has just arrived (RFC 9110 §15.5.9).
    const closes = /\bclose\b/i.test(headerValue(headers, 'connection') ?? '')
    if (status === 408 && this.#previousTag && closes) return this.#fail(closedAsIdle, true)
    this.#head = { status, headers }
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#cameAt = performance.now()
    if (!this.#isSettled && !this.#body.add(chunk)) this.#finish(true, false)
  }

  onResponseEnd(): void {
    this.#finish(false, true)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const status = this.#head?.status
    // Such an answer has no body, whatever length it names (RFC 9112 §6.3); undici rejects the length.
    if (status === 204 || status === 304) this.#finish(false, false)
    else this.#fail(explain(error, this.#progress()))
  }

  #settle(result: HttpResult, reusable: boolean): void {
    if (this.#isSettled) return
    this.#isSettled = true
    clearTimeout(this.#timer)
    for (const signal of this.#options.signals) if (signal) openUnder(signal).delete(this)
    this.#resolve({ result, reusable })
    if (!reusable) this.#controller?.abort(over)
  }

  #fail(reason: Reason, isUnread = this.#connection?.bytes === 0): void {
    const isReused = this.#previousTag !== undefined
    const result: NoResponse = {
      ...noResponse(reason, this.#sentAt),
      staleConnection: reason.cause === 'reset' && isReused && isUnread,
      previousTag: this.#previousTag,
    }
    this.#settle(result, false)
  }

  #finish(cut: boolean, reusable: boolean): void {
    const body = this.#body.bytes()
    const times = { sentAt: this.#sentAt, endedAt: performance.now() }
    const { status, headers } = this.#head!
    const previousTag = this.#previousTag
    this.#settle({ kind: 'answer', status, headers, body, cut, previousTag, ...times }, reusable)
  }

  #progress(): Progress {
    return {
      ...this.#line.endpoint,
      connected: this.#connection !== undefined,
      bytes: this.#connection?.bytes ?? 0,
      status: this.#head?.status,
      bodyBytes: this.#body.length,
      bodyLength: this.#head && promisedLength(this.#head.headers),
      silentMs: this.#cameAt === undefined ? undefined : performance.now() - this.#cameAt,
    }
  }
}

const beLate = (running: Running): void => running.late()

const open = new WeakMap<AbortSignal, Set<Running>>()

/** The exchanges that a signal interrupts: one listener serves the thousands of a run. */
function openUnder(signal: AbortSignal): Set<Running> {
  const known = open.get(signal)
  if (known) return known
  const all = new Set<Running>()
  open.set(signal, all)
  const interruptAll = (): void => {
    for (const one of all) one.interrupt()
  }
  signal.addEventListener('abort', interruptAll, { once: true })
  return all
}

const interrupted: Reason = {
  cause: 'aborted',
  message: 'the run was interrupted before the answer was complete',
}
const belowHundred: Reason = {
  cause: 'malformed',
  message: 'the answer is not HTTP: its status is below 100',
}
const closedAsIdle: Reason = {
  cause: 'reset',
  message: 'the connection was closed as idle, by a 408',
}

export const noResponse = (reason: Reason, sentAt: number): NoResponse => ({
  kind: 'no-answer',
  ...reason,
  staleConnection: false,
  sentAt,
  endedAt: performance.now(),
})
