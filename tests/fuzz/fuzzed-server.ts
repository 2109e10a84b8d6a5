import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { operationAt } from '../../cli/recording/base-url.ts'
import { operations } from '../../catalogue/operations.ts'
import { type Asked, http, type Listening, startRaw } from '../support/raw-server.ts'
import { reply, type Reply } from './replies.ts'

/** Behaviour of a server: by operation a few answers, given in turn; the last is for whatever has none of its own. */
export interface Behaviour {
  readonly own: Readonly<Record<string, readonly Reply[]>>
  readonly others: readonly Reply[]
}

const answers = fc.array(reply, { minLength: 1, maxLength: 4 })

export const behaviour: fc.Arbitrary<Behaviour> = fc
  .tuple(
    answers,
    fc.dictionary(fc.constantFrom(...operations.map(({ id }) => id)), answers, { maxKeys: 8 }),
  )
  .map(([others, own]) => ({ others, own }))

export function startFuzzed(does: Behaviour): Promise<Listening> {
  const turns = new Map<string, number>()
  return startRaw((asked) => {
    const operation = operationAt(asked.method, asked.path)?.operation ?? 'others'
    const replies = does.own[operation] ?? does.others
    const turn = turns.get(operation) ?? 0
    turns.set(operation, turn + 1)
    const chosen = replies[turn % replies.length] as Reply
    setTimeout(() => send(asked, chosen), chosen.delayMs)
  })
}

function send({ socket }: Asked, { status, headers, body, framing }: Reply): void {
  const bytes = Buffer.from(body as string)
  const whole = (extra: Record<string, string>, sent: Uint8Array = bytes): Buffer =>
    http(status, sent, { ...headers, ...extra })
  switch (framing) {
    case 'length':
      return void socket.write(whole({}))
    case 'chunked': {
      const chunk =
        bytes.length === 0 ? '' : `${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`
      const head = http(status, '', { ...headers, 'transfer-encoding': 'chunked' }).toString(
        'latin1',
      )
      return void socket.write(
        `${head.replace(/content-length: 0\r\n/, '')}${chunk}0\r\n\r\n`,
        'latin1',
      )
    }
    case 'close':
      return void socket.end(whole({ connection: 'close' }))
    case 'gzip':
      return void socket.write(whole({ 'content-encoding': 'gzip' }, gzipSync(bytes)))
    case 'false gzip':
      return void socket.write(whole({ 'content-encoding': 'gzip' }))
    case 'short':
      return void socket.end(whole({ 'content-length': String(bytes.length + 9) }))
    case 'long':
      return void socket.write(whole({ 'content-length': String(Math.floor(bytes.length / 2)) }))
    case 'reset':
      return void socket.resetAndDestroy()
    case 'silence':
      return undefined
  }
}
