import { connect, createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Listening } from './recorded-traffic.ts'

/** Hands on what comes, each piece so many ms later, in order. */
function passLater(from: Socket, to: Socket, ms: number): void {
  from.on('data', (piece: Buffer) => setTimeout(() => to.write(piece), ms))
  from.on('end', () => setTimeout(() => to.end(), ms))
  from.on('error', () => to.destroy())
  from.on('close', () => setTimeout(() => to.destroy(), ms))
}

/** A target that is far away: every request, and every answer, takes half of `latencyMs` more. */
export async function delayBefore(target: string, latencyMs: number): Promise<Listening> {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) {
      socket.setNoDelay(true)
      open.add(socket)
      socket.on('close', () => open.delete(socket))
    }
    passLater(near, far, latencyMs / 2)
    passLater(far, near, latencyMs / 2)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
