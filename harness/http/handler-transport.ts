import type { Dispatcher } from 'undici'
import type { Endpoint } from './endpoint.ts'
import { type ExchangeSlot, exchange, noResponse, withoutEncoding } from './exchange.ts'
import type { SendOptions, Transport, HttpRequest, HttpResult } from './message.ts'
import { createUnderWay } from './under-way.ts'

const defaultBodyLimit = 8 * 1024 * 1024

/** The members of a request that a handler may read. A whole `Request` would cost more than the rest of the exchange. */
type HandlerRequest = Pick<
  Request,
  'method' | 'url' | 'headers' | 'signal' | 'arrayBuffer' | 'text' | 'json'
>

/** Answers requests in the same process: for example the `fetch` of an application. One that throws gives no answer. */
export type Handler = (request: HandlerRequest) => Response | Promise<Response>

interface HandlerOptions {
  readonly handle: Handler
  /** The base URL of the requests that it is given. */
  readonly baseUrl: string
  /** Longest decoded body that is read, in bytes. Default 8 MiB. */
  readonly bodyLimit?: number
}

/** The handler behind a `fetch`, which takes a whole `Request`. */
export function handlerOf(fetch: (request: Request) => Response | Promise<Response>): Handler {
  return async ({ method, url, headers, signal, ...rest }) => {
    const body = headers.has('content-length') ? { body: await rest.arrayBuffer() } : {}
    const response: unknown = await fetch(new Request(url, { method, headers, signal, ...body }))
    if (response instanceof Response) return response
    throw new Error('the handler returned no Response')
  }
}

/** A transport to a handler in the same process: no socket, so that there is no connection to be reused, or to be fresh. */
export function createHandlerTransport({
  handle,
  baseUrl,
  bodyLimit = defaultBodyLimit,
}: HandlerOptions): Transport {
  const { origin, host, pathname } = new URL(baseUrl)
  const endpoint = {
    origin,
    host,
    prefix: pathname.replace(/\/$/, ''),
    secure: false,
    insecure: false,
  }
  const underWay = createUnderWay()

  async function send(request: HttpRequest, sending: SendOptions): Promise<HttpResult> {
    const calledAt = performance.now()
    const ending = underWay.begin(sending)
    try {
      const { result } = await exchange(slotTo(handle, endpoint), request, {
        limit: bodyLimit,
        ending,
      })
      return await withoutEncoding(result, bodyLimit, ending)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      return noResponse(
        { cause: 'refused', message: `the request cannot be sent: ${why}` },
        calledAt,
      )
    } finally {
      underWay.settle(ending)
    }
  }

  return { send, close: async () => underWay.endAll() }
}

/** A slot for one exchange with the handler, in place of a connection. */
function slotTo(handle: Handler, endpoint: Endpoint): ExchangeSlot {
  const watch = { bytes: 0, begin: () => undefined, see: () => undefined }
  return {
    endpoint,
    connection: { watch, exchanges: 0, tag: undefined },
    dispatch(options, handler) {
      const ending = new AbortController()
      const request = requestOf(options, endpoint, ending.signal)
      let reader: ReadableStreamDefaultReader<Buffer> | undefined
      let isOver = false
      const abort = (): void => {
        isOver = true
        ending.abort()
        reader?.cancel().catch(() => undefined)
      }
      const controller = { rawHeaders: [] as Buffer[], abort }
      const given = controller as unknown as Dispatcher.DispatchController
      const carry = async (): Promise<void> => {
        const response = await handle(request)
        watch.bytes = 1
        controller.rawHeaders = [...response.headers]
          .flat()
          .map((text) => Buffer.from(text, 'latin1'))
        handler.onResponseStart?.(given, response.status, {})
        reader = response.body?.getReader() as typeof reader
        // A response that comes too late may have a body without an end.
        if (isOver) abort()
        for (let part = await reader?.read(); part?.done === false; part = await reader!.read())
          handler.onResponseData?.(given, part.value)
        handler.onResponseEnd?.(given, {})
      }
      handler.onRequestStart?.(given, {})
      carry().catch((error: unknown) => handler.onResponseError?.(given, error as Error))
      return true
    },
  }
}

/** Builds the request as it would come over a socket: with host and length. */
function requestOf(
  sent: Dispatcher.DispatchOptions,
  { origin, host }: Endpoint,
  signal: AbortSignal,
): HandlerRequest {
  const body = (sent.body ?? '') as string | Uint8Array
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const lines = sent.headers as readonly string[]
  const headers = new Headers({ host })
  for (let at = 0; at < lines.length; at += 2) headers.append(lines[at]!, lines[at + 1]!)
  if (sent.body !== undefined) headers.set('content-length', String(bytes.length))
  const text = (): string => new TextDecoder().decode(bytes)
  return {
    ...{ method: sent.method, url: origin + sent.path, headers, signal },
    arrayBuffer: async () => new Uint8Array(bytes).buffer,
    text: async () => text(),
    json: async () => JSON.parse(text()) as unknown,
  }
}
