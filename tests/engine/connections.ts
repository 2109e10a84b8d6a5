import type { HttpRequest, HttpResult, Tag, Transport } from '../../harness/http/message.ts'

/** A connection as a client with a pool has them, between the suite and servers in this process. */
export interface Connection {
  /** Counts from 0. */
  readonly number: number
  /** Requests on it, in order, with what came of them. */
  readonly exchanges: { readonly request: HttpRequest; readonly result: HttpResult }[]
  tag?: Tag
}

/** Gives the result of a request on a connection, by `send` or otherwise. */
export type Server = (
  connection: Connection,
  request: HttpRequest,
  send: () => Promise<HttpResult>,
) => Promise<HttpResult>

/** Requests reuse connections as they do over sockets: the one used last first, a new one if none is free or one is asked for. */
export function overConnections(transport: Transport, server: Server): Transport {
  const free: Connection[] = []
  let opened = 0
  const open = (): Connection => ({ number: opened++, exchanges: [] })
  return {
    ...transport,
    async send(request, options) {
      const { fresh = false, after } = options
      const connection = fresh || after ? open() : (free.pop() ?? open())
      const carry = async (sent: HttpRequest, tag?: Tag): Promise<HttpResult> => {
        const previousTag = connection.exchanges.length > 0 ? (connection.tag ?? {}) : undefined
        const result = await server(connection, sent, () => transport.send(sent, options))
        connection.exchanges.push({ request: sent, result })
        connection.tag = tag
        return { ...result, previousTag }
      }
      if (after) after.ended(await carry(after.request, after.tag))
      const result = await carry(request, options.tag)
      if (result.kind === 'answer') free.push(connection)
      return result
    },
  }
}

/** That answer in place of the server's. */
export function answered(
  result: HttpResult,
  status: number,
  body: string,
  type = 'application/json',
): HttpResult {
  if (result.kind !== 'answer') return result
  return {
    ...result,
    status,
    headers: [{ name: 'content-type', value: type }],
    body: Buffer.from(body),
  }
}

/** Whether the request carries that header. */
export function headerOf({ headers }: HttpRequest, name: string): string | undefined {
  return headers.find((header) => header.name.toLowerCase() === name)?.value
}
