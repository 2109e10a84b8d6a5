import { gzipSync } from 'node:zlib'
import { hostile, hostilePieces } from '../reporters/hostile.ts'
import { always, type Behaviour, envelope, http } from '../support/raw-server.ts'

export interface Misbehaviour {
  /** The exit code of the command line. */
  readonly code: 0 | 1 | 3
  readonly answer: Behaviour
}

/** Nothing is at a path that no operation has: a target that answers every path alike is not judged. */
const judged = (answer: Behaviour): Misbehaviour => ({
  code: 1,
  answer: (asked) =>
    /^\/v1\/[a-z]{12}$/.test(asked.path)
      ? void asked.socket.write(http(404, envelope('NotFound')))
      : answer(asked),
})
const unjudged = (answer: Behaviour): Misbehaviour => ({ code: 3, answer })

const uuid = '7d1f2c3b-8a4e-4b5f-9c6d-7e8f90a1b2c3'
const head = (...lines: string[]): string => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n')
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

/** Writes forever, as fast as the client reads. */
function pour(start: string, piece: string | Buffer): Behaviour {
  return ({ socket }) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on('drain', more).write(start)
    more()
  }
}

/** Writes a little now and then, forever. */
function drip(start: string, piece: string): Behaviour {
  return ({ socket }) => {
    socket.write(start)
    const timer = setInterval(() => socket.write(piece), 100)
    socket.once('close', () => clearInterval(timer))
  }
}

/** Faults of the transport: no answer of theirs is whole, or none can be read. */
export const transportFaults: Readonly<Record<string, Misbehaviour>> = {
  'silence after the request': unjudged(() => undefined),
  'a close in place of an answer': unjudged(({ socket }) => void socket.destroy()),
  'a body that drips for ever': unjudged(drip(head('transfer-encoding: chunked'), chunk(' '))),
  'two answers for each request': judged(
    always(Buffer.concat([http(200, '{}'), http(404, envelope('NotFound'))])),
  ),
  'a wrong encoding label': judged(always(http(200, '{"id": 1}', { 'content-encoding': 'gzip' }))),
}

/** Opened it is eight times as long as what is read of it. */
const bomb = gzipSync(gzipSync(Buffer.alloc(64 * 1024 * 1024)))
const nested = '[{"a":'.repeat(100_000) + '1' + '}]'.repeat(100_000)

/** Bodies that cost much. */
export const heavyBodies: Readonly<Record<string, Misbehaviour>> = {
  'an endless body': judged(pour(head('transfer-encoding: chunked'), chunk('x'.repeat(65_536)))),
  'a compressed bomb': judged(always(http(200, bomb, { 'content-encoding': 'gzip, gzip' }))),
  'a body of 50 MB': judged(
    pour(
      head('content-length: 52428800'),
      Buffer.alloc(1024 * 1024, '"%u\\u0041&#65;AAAA'.repeat(30)),
    ),
  ),
  'headers of 60 KiB': judged(
    always(
      http(400, envelope('BadRequest'), {
        'x-long': '<'.repeat(40_000),
        'x-!#$%&': '\\'.repeat(8000),
      }),
    ),
  ),
}

/** A job and everything else at once, in an answer that is nearly right. */
const nearly = (more: object): string =>
  JSON.stringify({
    id: uuid,
    status: 'completed',
    application_id: 'a',
    created_at: '2026-01-01T00:00:00Z',
    ...more,
  })

const answerOf = (
  status: number,
  body: string | Uint8Array,
  headers?: Record<string, string>,
): Misbehaviour => judged(always(http(status, body, headers)))

/** Grants what has a key, and refuses the rest; `change` is put into every body. */
function plausible(change: (asked: Parameters<Behaviour>[0]) => object): Misbehaviour {
  return {
    code: 1,
    answer: (asked) => {
      const more = change(asked)
      const creates = asked.path.endsWith('/jobs')
      const known = asked.headers['authorization']?.startsWith('Bearer ey')
      if (!known) return void asked.socket.write(http(401, envelope('BadCredentials', more)))
      const refused = asked.number % 3 === 2
      const body = refused ? envelope('BadRequest', more) : nearly(more)
      asked.socket.write(http(refused ? 400 : creates ? 202 : 200, body))
    },
  }
}

/** Bodies that are hard to read, or to show. */
export const oddBodies: Readonly<Record<string, Misbehaviour>> = {
  'JSON nested 200,000 deep': answerOf(200, nested),
  'an ill-typed member nested 200,000 deep': answerOf(
    400,
    `{"tpe": ${nested}, "errors": ${nested}, "extras": ${nested}}`,
  ),
  'members of Object.prototype': answerOf(
    400,
    '{"__proto__": {"tpe": "BadRequest"}, "constructor": {"prototype": {"x": 1}}, "toString": 1, "hasOwnProperty": 2, "errors": {"__proto__": []}}',
  ),
  'bytes that are not UTF-8': answerOf(
    400,
    Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x80, 0x22, 0x3a, 0x31, 0x7d]),
  ),
  'lone surrogates': plausible(() => ({
    tpe: '\ud800',
    id: '\udfff',
    errors: [{ key: '\ud800\ud800' }],
    data: { '\udc00': 1 },
  })),
  'hostile text in every string': plausible(({ number }) => {
    const text = hostilePieces[number % hostilePieces.length] as string
    return {
      tpe: hostile,
      id: text,
      status: text,
      error: text,
      extras: { [text]: text },
      errors: [{ description: text, key: text }],
    }
  }),
  'hostile ids': plausible(({ number }) => ({
    id: ['../../..', '?a=b#c', '%00', '', hostile, 7, '{id}', ' '][number % 8],
  })),
  'ids of 2 MB': plausible(() => ({ id: 'x'.repeat(2_000_000) })),
  'a date-time of a million digits': plausible(() => ({
    created_at: `2026-01-01T00:00:00.${'0'.repeat(1_000_000)}1Z`,
    updated_at: `2026-01-01T00:00:00.${'0'.repeat(1_000_000)}`,
  })),
  'a job that never ends': plausible(() => ({ status: 'in_progress' })),
  'a job that is never the same': plausible(({ number }) => ({
    status: ['in_progress', 'completed', 'failed', 'other'][number % 4],
    created_at: new Date(number * 1e9).toISOString(),
    id: number % 2 ? uuid : uuid.replace('7', '8'),
  })),
}

/** Statuses that make no sense. */
export const oddStatuses: Readonly<Record<string, Misbehaviour>> = {
  'always 200 {}': answerOf(200, '{}'),
  'always 500': answerOf(500, envelope('InternalError')),
  'always 999': answerOf(999, envelope('BadRequest')),
  'another status each time': judged(
    ({ socket, number }) =>
      void socket.write(http(200 + ((number * 37) % 400), envelope('BadRequest'))),
  ),
  'a redirect to itself': judged(
    ({ socket, path }) => void socket.write(http(307, '', { location: path })),
  ),
}
