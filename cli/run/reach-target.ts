import { connect } from 'node:net'
import { createTransport } from '../../harness/http/transport.ts'
import type { HttpResult } from '../../harness/http/message.ts'
import type { Target } from '../../harness/target/model.ts'

const bodyLimit = 64 * 1024
/** Longest wait for a connection, in ms: from where nothing comes back, nobody listens for us. */
const connectMs = 2_000

/** Opens a connection and closes it: a server does not even write that to its log. */
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

/** Sends `GET /v1/files` without a key, to learn whether anything answers; at most so many ms. */
export async function askOnce(
  { baseUrl, headers, tls }: Pick<Target, 'baseUrl' | 'headers' | 'tls'>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<HttpResult> {
  // Whether its certificate can be trusted is for the run to say.
  const transport = createTransport({ baseUrl, connections: 1, insecure: true, tls, bodyLimit })
  try {
    return await transport.send({ method: 'GET', path: '/v1/files', headers }, { timeoutMs, signal, fresh: true })
  } finally {
    await transport.close()
  }
}
