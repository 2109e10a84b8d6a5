import { type Collector, collect } from './decode.ts'
import { type ExchangeOptions, interrupted, noResponse, readResponse } from './exchange.ts'
import type { HeaderLine, SendOptions, Transport, HttpRequest, HttpResult } from './message.ts'
import { promisedLength, sentLines } from './message.ts'
import { type Progress, explain, timedOut } from './no-response.ts'
import { createUnderWay, deadlinePassed, type Ending } from './under-way.ts'

const defaultBodyLimit = 8 * 1024 * 1024

/** The members of a request that a handler may read. A whole `Request` would cost more than the rest of the exchange. */
type HandlerRequest = Pick<Request, 'method' | 'url' | 'headers' | 'signal' | 'arrayBuffer' | 'text' | 'json'>

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
export function createHandlerTransport({ handle, baseUrl, bodyLimit = defaultBodyLimit }: HandlerOptions): Transport {
  const base = baseUrl.replace(/\/$/, '')
  const { host } = new URL(baseUrl)
  const underWay = createUnderWay()

  async function send(request: HttpRequest, sending: SendOptions): Promise<HttpResult> {
    const calledAt = performance.now()
    const { ending, settle } = underWay.begin(sending)
    const options: ExchangeOptions = { limit: bodyLimit, timeoutMs: sending.timeoutMs, ending }
    try {
      return await exchangeWith(handle, requestOf(request, base, host, ending), host, options)
    } catch (error) {
      return noResponse({ cause: 'refused', message: `the request cannot be sent: ${messageOf(error)}` }, calledAt)
    } finally {
      settle()
    }
  }

  return { send, close: async () => underWay.endAll() }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Builds the request as it would come over a socket: with host, length and accepted encodings. */
function requestOf(wanted: HttpRequest, base: string, host: string, ending: Ending): HandlerRequest {
  const { method, path, body = '' } = wanted
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const headers = new Headers({ host })
  for (const { name, value } of sentLines(wanted)) headers.append(name, value)
  if (wanted.body !== undefined) headers.set('content-length', String(bytes.length))
  let signal: AbortSignal | undefined
  const text = (): string => new TextDecoder().decode(bytes)
  return {
    ...{ method, url: base + path, headers },
    get signal() {
      return (signal ??= ending.signal)
    },
    arrayBuffer: async () => new Uint8Array(bytes).buffer,
    text: async () => text(),
    json: async () => JSON.parse(text()) as unknown,
  }
}

/** Never rejects. */
async function exchangeWith(
  handle: Handler,
  request: HandlerRequest,
  host: string,
  options: ExchangeOptions,
): Promise<HttpResult> {
  const { ending, limit, timeoutMs } = options
  const sentAt = performance.now()
  let head: { readonly status: number; readonly headers: readonly HeaderLine[] } | undefined
  let body: Collector | undefined
  const progress = (): Progress => ({
    host,
    secure: false,
    connected: true,
    bytes: head ? 1 : 0,
    ...(head ? { status: head.status, bodyLength: promisedLength(head.headers) } : {}),
    bodyBytes: body?.length ?? 0,
  })
  const { over, forget } = rejection(ending)
  try {
    const response = await Promise.race([handle(request), over])
    head = { status: response.status, headers: [...response.headers].map(([name, value]) => ({ name, value })) }
    body = collect(limit)
    const cut = !(await readInto(body, response, over))
    return await readResponse(
      { kind: 'raw', ...head, body: body.bytes(), cut, previousTag: undefined, sentAt, endedAt: performance.now() },
      options,
    )
  } catch (error) {
    if (!ending.aborted) return noResponse(explain(error, progress()), sentAt)
    return noResponse(ending.reason === deadlinePassed ? timedOut(timeoutMs, progress()) : interrupted, sentAt)
  } finally {
    forget()
  }
}

/** Rejects when the exchange has to end; until it is forgotten. */
function rejection(ending: Ending): { readonly over: Promise<never>; forget(): void } {
  let reject: (reason: unknown) => void
  const over = new Promise<never>((_, no) => (reject = no))
  over.catch(() => undefined)
  const forget = ending.onEnd(() => reject(ending.reason))
  if (ending.aborted) reject!(ending.reason)
  return { over, forget }
}

/** False if the body is longer than the limit: its rest is not read. */
async function readInto(body: Collector, { body: stream }: Response, over: Promise<never>): Promise<boolean> {
  if (!stream) return true
  const reader = stream.getReader() as ReadableStreamDefaultReader<Uint8Array>
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), over])
      if (done) return true
      if (!body.add(value)) return false
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}
