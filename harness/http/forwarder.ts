import type { Dispatcher } from 'undici'
import { createDispatcher, dispatchOptions, endpointOf } from './endpoint.ts'
import { headerLines, type HeaderLine, type TransportOptions } from './message.ts'
import { explain } from './no-response.ts'

/** A request of somebody else's, to be handed on as it comes. */
export interface ForwardedRequest {
  readonly method: string
  /** Path and query after the base URL's own path. */
  readonly path: string
  readonly headers: readonly HeaderLine[]
  /** Undefined: it has no body. */
  readonly body?: AsyncIterable<Uint8Array> | undefined
  /** Its number among all that were handed on, from 1. */
  readonly n?: number
}

/** Takes a response as it comes. */
export interface ResponseSink {
  head(status: number, headers: readonly HeaderLine[], statusText: string): void
  /** Gives false if no more is to come until `resume`. */
  data(chunk: Buffer): boolean
  end(): void
  /** Ends the response, or takes its place, with one sentence on what went wrong. */
  fail(message: string): void
  /** Closes the connection, in the middle of the response if that has begun. */
  cut(message: string): void
}

export interface Forwarding {
  resume(): void
  abort(): void
}

/** Hands requests on to a target: nothing of them is changed but what belongs to a connection, and nothing has a deadline. */
export interface Forwarder {
  forward(request: ForwardedRequest, sink: ResponseSink): Forwarding
  close(): Promise<void>
}

/** Headers of one connection, which a proxy does not hand on (RFC 9110 §7.6.1), and those that say who a message is for. */
const ofConnection = new Set([
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
])
const ofRequest = new Set([...ofConnection, 'host', 'expect'])

/** The lines of a message that go further: those of its connection, and what `Connection` names, do not. */
export function endToEnd(
  lines: readonly HeaderLine[],
  dropped: ReadonlySet<string> = ofConnection,
): HeaderLine[] {
  const named = lines
    .filter(({ name }) => name.toLowerCase() === 'connection')
    .flatMap(({ value }) => value.split(',').map((one) => one.trim().toLowerCase()))
  return lines.filter(
    ({ name }) => !dropped.has(name.toLowerCase()) && !named.includes(name.toLowerCase()),
  )
}

/** Methods of requests that may be sent again if the connection was closed before a byte of an answer came. */
const repeatable = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Throws UserError if the base URL, a PEM text or a proxy variable cannot be used. */
export function createForwarder(
  options: Pick<TransportOptions, 'baseUrl' | 'tls' | 'insecure'>,
): Forwarder {
  const endpoint = endpointOf(options)
  const watch = { opening: () => undefined, connected: () => undefined }
  const dispatcher = createDispatcher(endpoint, watch, 'many')
  const send = (request: ForwardedRequest, handler: Dispatcher.DispatchHandler): void => {
    const { method, path, body = null } = request
    const sent = { method, path, body } as Dispatcher.DispatchOptions
    dispatcher.dispatch(
      dispatchOptions(endpoint, sent, endToEnd(request.headers, ofRequest)),
      handler,
    )
  }
  return {
    close: () => dispatcher.destroy(),
    forward(request, sink) {
      let controller: Dispatcher.DispatchController | undefined
      let status = 0
      let isOver = false
      let mayRepeat = request.body === undefined && repeatable.has(request.method)
      const over = (call: () => void): void => {
        if (!isOver) call()
        isOver = true
      }
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart(given) {
          controller = given
          if (isOver) given.abort(new Error('nobody waits for it'))
        },
        onResponseStart({ rawHeaders }, code, _headers, statusText = '') {
          if (code < 200 || isOver) return
          status = code
          sink.head(code, headerLines(rawHeaders as Buffer[]), statusText)
        },
        onResponseData(_, chunk) {
          if (!isOver && !sink.data(chunk)) controller?.pause()
        },
        onResponseEnd: () => over(() => sink.end()),
        onResponseError(_, error) {
          const { code = '' } = error as NodeJS.ErrnoException
          const isStale = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(code)
          if (status === 0 && isStale && mayRepeat && !isOver) {
            mayRepeat = false
            return send(request, handler)
          }
          const seen = { connected: controller !== undefined, bytes: status, bodyBytes: 0 }
          const progress = { ...endpoint, ...seen, ...(status > 0 && { status }) }
          over(() => sink.fail(explain(error, progress).message))
        },
      }
      try {
        send(request, handler)
      } catch (error) {
        over(() => sink.fail(error instanceof Error ? error.message : String(error)))
      }
      return {
        resume: () => controller?.resume(),
        abort() {
          isOver = true
          controller?.abort(new Error('nobody waits for it'))
        },
      }
    },
  }
}
