import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, Loss } from './answer.ts'
import type { Switches } from '../switches/switches.ts'
import type { World } from './world.ts'

/** By the defect of any requirement that has it: what comes in place of the answer. */
const losses: Readonly<Record<string, Loss>> = {
  '#no-answer': 'silence',
  '#closed': 'closed',
  '#dropped': 'closed',
  '#no-http': 'noise',
}

/** The answer to a request about requirement `id` if a defect loses it. */
export function lostAnswer(switches: Switches, id: string): Answer | undefined {
  const loss = Object.entries(losses).find(([variant]) => switches.broken(`${id}${variant}`))?.[1]
  return loss && { status: 500, lost: loss }
}

/** What a caller in the same process gets in place of an answer. */
export class ConnectionLost extends Error {
  readonly code = 'ECONNRESET'

  constructor() {
    super('the connection was closed without an answer')
  }
}

/** Gives no answer: on the socket what stands in its place, without one a failed call. */
export async function lose(
  loss: Loss,
  world: World,
  socket: Socket | undefined,
  signal: AbortSignal,
): Promise<Response> {
  if (loss === 'silence') await pause(world.pace.silence, undefined, { signal, ref: false }).catch(() => undefined)
  if (!socket) throw new ConnectionLost()
  if (loss === 'noise') socket.end('220 tea.example ESMTP\r\n')
  else socket.destroy()
  // Nobody reads it: the connection is gone.
  return new Response(null, { status: 500 })
}
