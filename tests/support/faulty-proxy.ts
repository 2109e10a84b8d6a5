import http from 'node:http'
import { Socket } from 'node:net'
import { listenOn, type Listening } from './raw-server.ts'
import { randomFrom } from './lossy-network.ts'

/** What a proxy does to requests, each by a share of them (0 to 1). */
export interface Faults {
  readonly seed: number
  /** Resets the connection before it sends the request on, or after the target has answered it: one as often as the other. */
  readonly reset?: number
  /** Closes the connection in the middle of the answer's body. */
  readonly cut?: number
  /** ms that it takes besides. */
  readonly delayMs?: number
}

/** A proxy on a free loopback port before one server or several, which take turns; until it is closed. */
export async function faultyProxy(
  upstreams: readonly number[],
  { seed, reset = 0, cut = 0, delayMs = 0 }: Faults,
): Promise<Listening & { readonly faults: () => number }> {
  const random = randomFrom(seed)
  const agent = new http.Agent({ keepAlive: true })
  let sent = 0
  let faults = 0
  const server = http.createServer((request, response) => {
    const number = sent++
    const meets = (what: string, share: number): boolean => {
      const isMet = random.of(`${what} ${number}`) < share
      if (isMet) faults++
      return isMet
    }
    const { socket } = request
    const drop = (): void => void (socket instanceof Socket && socket.resetAndDestroy())
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    const isReset = meets('reset', reset)
    if (isReset && random.of(`before ${number}`) < 0.5) return drop()
    const { method, url: path, headers } = request
    const port = upstreams[number % upstreams.length]!
    const onward = http.request({ agent, host: '127.0.0.1', port, method, path, headers })
    onward.on('error', () => response.destroy())
    onward.on('response', (answer) => {
      const { statusCode = 502, statusMessage, rawHeaders } = answer
      if (isReset) {
        answer.resume()
        return drop()
      }
      response.writeHead(statusCode, statusMessage, rawHeaders)
      if (!meets('cut', cut)) return void answer.pipe(response)
      answer.once('data', (piece: Buffer) => {
        response.write(piece.subarray(0, Math.ceil(piece.length / 2)), () => response.destroy())
        answer.resume()
      })
    })
    setTimeout(() => request.pipe(onward), delayMs)
  })
  const listening = await listenOn(server)
  return {
    ...listening,
    faults: () => faults,
    close: async () => {
      agent.destroy()
      await listening.close()
    },
  }
}
