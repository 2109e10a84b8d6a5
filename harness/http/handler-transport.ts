import type { Dispatcher } from 'undici'
import { type Endpoint, type Connection, HttpExchange, type Line } from './transport.ts'
import {
  handlerFailed,
  type SendOptions,
  type Transport,
  type HttpRequest,
  type HttpResult,
} from './message.ts'

const defaultBodyLimit = 8 * 1024 * 1024

type HandlerRequest = Pick<
  Request,
  'method' | 'url' | 'headers' | 'signal' | 'arrayBuffer' | 'text' | 'json'
>

/** Answers requests in the same process, like the `fetch` of an application. If it throws, there is no answer. */
export type Handler = (request: HandlerRequest) => Response | Promise<Response>

interface HandlerOptions {
  readonly handle: Handler
  readonly baseUrl: string
  readonly bodyLimit?: number
}

export function handlerOf(fetch: (request: Request) => Response | Promise<Response>): Handler {
  return async ({ method, url, headers, signal, ...rest }) => {
    const body = headers.has('content-length') ? { body: await rest.arrayBuffer() } : {}
    const response: unknown = await fetch(new Request(url, { method, headers, signal, ...body }))
    if (response instanceof Response) return response
    throw new Error('it returned no Response')
  }
}

export function createHandlerTransport(handling: HandlerOptions): Transport {
  const { handle, bodyLimit = defaultBodyLimit } = handling
  const { origin, host, pathname } = new URL(handling.baseUrl)
  const endpoint = {
    origin,
    host,
    prefix: pathname.replace(/\/$/, ''),
    secure: false,
    insecure: false,
  }
  const closing = new AbortController()

  function send(request: HttpRequest, sending: SendOptions): Promise<HttpResult> {
    const { timeoutMs, tag } = sending
    const options = { timeoutMs, tag, signals: [closing.signal, sending.signal], limit: bodyLimit }
    return new HttpExchange(lineTo(handle, endpoint), options).send(request)
  }

  return { send, close: async () => closing.abort() }
}

function lineTo(handle: Handler, endpoint: Endpoint): Line {
  const connection: Connection = { bytes: 0, exchanges: 0, tag: undefined }
  return {
    endpoint,
    connection,
    dispatch(options, handler) {
      const ending = new AbortController()
      let reader: ReadableStreamDefaultReader<Buffer> | undefined
      let isOver = false
      const abort = (): void => {
        isOver = true
        ending.abort()
        reader?.cancel().catch(() => undefined)
      }
      const carry = async (request: HandlerRequest): Promise<void> => {
        const response = await handle(request)
        connection.bytes = 1
        const raw = [...response.headers].flat().map((text) => Buffer.from(text, 'latin1'))
        handler.onHeaders(response.status, raw)
        reader = response.body?.getReader() as typeof reader
        // The body of a late response may never end.
        if (isOver) abort()
        for (let part = await reader?.read(); part?.done === false; part = await reader!.read())
          handler.onData(part.value)
        handler.onComplete()
      }
      const fail = (error: unknown): void => {
        const [line] = String(error).split('\n', 1)
        const failure = new Error(`the handler in this process failed: ${line}`)
        handler.onError(Object.assign(failure, { code: handlerFailed }))
      }
      try {
        const request = requestOf(options, endpoint, ending.signal)
        handler.onConnect(abort)
        carry(request).catch(fail)
      } catch (error) {
        handler.onError(Object.assign(error as Error, { code: 'UND_ERR_INVALID_ARG' }))
      }
      return true
    },
  }
}

function requestOf(
  sent: Dispatcher.DispatchOptions,
  endpoint: Endpoint,
  signal: AbortSignal,
): HandlerRequest {
  const body = (sent.body ?? '') as string | Uint8Array
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const lines = sent.headers as readonly string[]
  const headers = new Headers({ host: endpoint.host })
  for (let at = 0; at < lines.length; at += 2) headers.append(lines[at]!, lines[at + 1]!)
  if (sent.body !== undefined) headers.set('content-length', String(bytes.length))
  const text = (): string => new TextDecoder().decode(bytes)
  return {
    ...{ method: sent.method, url: endpoint.origin + sent.path, headers, signal },
    arrayBuffer: async () => new Uint8Array(bytes).buffer,
    text: async () => text(),
    json: async () => JSON.parse(text()) as unknown,
  }
}
