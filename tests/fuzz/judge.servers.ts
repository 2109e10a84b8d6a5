/** Whatever a server does, a run against it ends with a verdict and a sound report. */
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { operationAt } from '../../cli/recording/exchange.ts'
import { validate } from '../../schemas/validate.ts'
import { judgeHostile } from '../hostile/judge-hostile.ts'
import { proveJunit, proveSound } from '../hostile/proof.ts'
import { hostilePieces } from '../reporters/hostile.ts'
import { anyCharacter } from '../support/any-character.ts'
import { type Asked, http, startRaw } from '../support/raw-server.ts'

/** How an answer is sent over HTTP. */
const framed = {
  length: (socket: Socket, whole: Whole) => socket.write(whole()),
  chunked(socket: Socket, whole: Whole, bytes: Buffer) {
    const size = bytes.length.toString(16)
    const chunk = bytes.length === 0 ? '' : `${size}\r\n${bytes.toString('latin1')}\r\n`
    const head = whole({ 'transfer-encoding': 'chunked' }, Buffer.of()).toString('latin1')
    return socket.write(`${head.replace(/content-length: 0\r\n/, '')}${chunk}0\r\n\r\n`, 'latin1')
  },
  close: (socket: Socket, whole: Whole) => socket.end(whole({ connection: 'close' })),
  gzip: (socket: Socket, whole: Whole, bytes: Buffer) =>
    socket.write(whole({ 'content-encoding': 'gzip' }, gzipSync(bytes))),
  'false gzip': (socket: Socket, whole: Whole) =>
    socket.write(whole({ 'content-encoding': 'gzip' })),
  short: (socket: Socket, whole: Whole, { length }: Buffer) =>
    socket.end(whole({ 'content-length': `${length + 9}` })),
  long: (socket: Socket, whole: Whole, { length }: Buffer) =>
    socket.write(whole({ 'content-length': `${Math.floor(length / 2)}` })),
  reset: (socket: Socket) => socket.resetAndDestroy(),
  silence: () => undefined,
}
type Socket = Asked['socket']
type Whole = (extra?: Record<string, string>, sent?: Uint8Array) => Buffer
type Framing = keyof typeof framed

const uuid = '7d1f2c3b-8a4e-4b5f-9c6d-7e8f90a1b2c3'
const job = { id: uuid, application_id: 'a', created_at: '2026-01-01T00:00:00Z' }
const errors = [{ description: 'd', key: 'fail.notFound.resource', extras: {} }]

const shapes: readonly object[] = [
  { ...job, status: 'in_progress' },
  { ...job, status: 'completed', data: { title: 'tea' } },
  { ...job, status: 'failed', error: 'no tea' },
  { content: 'tea' },
  { choices: [{ message: { content: '{"a": 1}', llm_data: { prompt: 'p', model: 'm' } } }] },
  { entities: [{ category: 'c', text: 't', score: 0.5, traits: [] }] },
  ...'BadRequest BadCredentials InvalidInputParameters InsufficientAccessRights ResourceNotFound'
    .split(' ')
    .map((tpe) => ({ tpe, errors, extras: {} })),
]

const odd = [
  '',
  '..',
  '__proto__',
  'constructor',
  uuid,
  uuid.toUpperCase(),
  '1e999',
  'x'.repeat(3000),
]
const members =
  'id status created_at application_id data error tpe errors extras content choices entities'.split(
    ' ',
  )
const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.constantFrom(...hostilePieces, ...odd),
)
const value = fc.oneof(
  text,
  fc.jsonValue({ depthSize: 'small' }),
  fc.constantFrom<unknown>(null, [], {}, 0, -0, 1e300, true, 'in_progress', 'completed', 'failed'),
)
/** A body that a right server could send, with other members, or without some. */
const mutated = fc
  .tuple(
    fc.constantFrom(...shapes),
    fc.dictionary(
      fc.oneof(fc.constantFrom(...members), text),
      fc.oneof(value, fc.constant(undefined)),
      { maxKeys: 2, noNullPrototype: true },
    ),
  )
  .map(([shape, own]) => JSON.stringify({ ...shape, ...own }))

const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })
const anyBytes = fc.uint8Array({ maxLength: 200 })
const broken = fc.constantFrom('', '[', 'null', '"', '<html>', '\ufeff{}', '[1'.repeat(3000))
const values = 'application/json text/html 0 1 99999 https://elsewhere.example/ -1 x'.split(' ')
const common = fc.constantFrom<Framing>('length', 'chunked')
const statuses = [200, 202, 400, 401, 403, 404, 409, 410, 413, 422, 500, 507]

const reply = fc.record({
  status: fc.oneof(
    weighted(6, fc.constantFrom(...statuses)),
    weighted(1, fc.constantFrom(204, 301, 307, 304, 429, 503)),
    weighted(1, fc.integer({ min: 200, max: 999 })),
  ),
  headers: fc.dictionary(
    fc.constantFrom(...'content-type location retry-after date x-note content-language'.split(' ')),
    fc.oneof(fc.constantFrom('', ...values), fc.stringMatching(/^[\x21-\x7e\x80-\xff]{0,40}$/)),
    { maxKeys: 3 },
  ),
  body: fc.oneof<fc.WeightedArbitrary<string | Uint8Array>[]>(
    weighted(8, mutated),
    weighted(2, fc.json()),
    weighted(1, anyBytes),
    weighted(1, broken),
  ),
  framing: fc.oneof(
    weighted(8, common),
    weighted(1, fc.constantFrom(...(Object.keys(framed) as Framing[]))),
  ),
  delayMs: fc.oneof(weighted(5, fc.constant(0)), fc.nat(30)),
})
type Reply = typeof reply extends fc.Arbitrary<infer One> ? One : never

function send({ socket }: Asked, { status, headers, body, framing }: Reply): void {
  const bytes = Buffer.from(body as string)
  const whole: Whole = (extra = {}, sent = bytes) => http(status, sent, { ...headers, ...extra })
  framed[framing](socket, whole, bytes)
}

const answers = fc.array(reply, { minLength: 1, maxLength: 4 })
const operationIds = fc.constantFrom(...operations.map(({ id }) => id))
/** A few answers for each operation, given in turn, and some for whatever has none of its own. */
const behaviour = fc.record({
  own: fc.dictionary(operationIds as fc.Arbitrary<string>, answers, { maxKeys: 8 }),
  others: answers,
})
type Behaviour = typeof behaviour extends fc.Arbitrary<infer One> ? One : never

function startFuzzed({ own, others }: Behaviour) {
  const turns = new Map<string, number>()
  return startRaw((asked) => {
    const operation = operationAt(asked.method, asked.path)?.operation ?? 'others'
    const replies = own[operation] ?? others
    const turn = turns.get(operation) ?? 0
    turns.set(operation, turn + 1)
    const chosen = replies[turn % replies.length]!
    setTimeout(() => send(asked, chosen), chosen.delayMs)
  })
}

/** `npm run fuzz` sets more, and a seed of its own where one is to be looked at again. */
const count = Number(process.env['FUZZ_RUNS'] ?? 24)
const seed = Number(process.env['FUZZ_SEED'] ?? 421)
const width = 8
const several = 48

/** Operations that take part: all of them in every fourth run, a few in the others. */
const selections = [
  ['*'],
  ['jobs.*', 'envelope/*'],
  ['pdf.parse/*', 'chat.create/*', 'envelope/*'],
  ['files.*', 'graphs.*', 'medical.*'],
]

async function prove(does: Behaviour, number: number): Promise<void> {
  const server = await startFuzzed(does)
  try {
    const outcome = await judgeHostile(server.url, {
      limits: { timeoutMs: 250, jobTimeoutMs: 400, concurrency: 32 },
      options: {
        only: selections[number % selections.length],
        seed: number,
        depth: number % 8 === 0 ? 'full' : 'quick',
      },
    })
    expect(outcome.report.requirements.map(({ outcome: found }) => found)).not.toContain(undefined)
    expect(validate('report', outcome.report)).toEqual({ valid: true })
    proveSound(outcome, `behaviour ${number}`)
  } catch (error) {
    throw new Error(`behaviour ${number} of seed ${seed}: ${fc.stringify(does)}`, { cause: error })
  } finally {
    await server.close()
  }
}

test(
  `whatever ${count} servers do, the judge ends with a verdict and a sound report`,
  { timeout: 30_000 * count },
  async () => {
    const behaviours = [...fc.sample(behaviour, { numRuns: count, seed }).entries()]
    for (let at = 0; at < count; at += several) {
      const some = behaviours.slice(at, at + several).values()
      const worker = async (): Promise<void> => {
        for (const [number, does] of some) await prove(does, number)
      }
      await Promise.all(Array.from({ length: width }, worker))
      await proveJunit()
    }
  },
)
