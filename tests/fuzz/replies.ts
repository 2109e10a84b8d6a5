import fc from 'fast-check'
import { hostilePieces } from '../reporters/hostile.ts'
import { anyCharacter } from '../support/any-character.ts'

/** How an answer is sent over HTTP. */
export const framings = [
  'length',
  'chunked',
  'close',
  'gzip',
  'false gzip',
  'short',
  'long',
  'reset',
  'silence',
] as const
export type Framing = (typeof framings)[number]

/** One answer of a fuzzed server. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  readonly framing: Framing
  readonly delayMs: number
}

const uuid = '7d1f2c3b-8a4e-4b5f-9c6d-7e8f90a1b2c3'

/** Bodies that a right server could send. */
const shapes: readonly object[] = [
  { id: uuid, status: 'in_progress', created_at: '2026-01-01T00:00:00Z' },
  {
    id: uuid,
    status: 'completed',
    application_id: 'a',
    created_at: '2026-01-01T00:00:00Z',
    data: { title: 'tea' },
  },
  {
    id: uuid,
    status: 'failed',
    application_id: 'a',
    created_at: '2026-01-01T00:00:00Z',
    error: 'no tea',
  },
  { content: 'tea' },
  { choices: [{ message: { content: '{"a": 1}', llm_data: { prompt: 'p', model: 'm' } } }] },
  { entities: [{ category: 'c', text: 't', score: 0.5, traits: [] }] },
  ...[
    'BadRequest',
    'BadCredentials',
    'InvalidInputParameters',
    'InsufficientAccessRights',
    'ResourceNotFound',
  ].map((tpe) => ({
    tpe,
    errors: [{ description: 'd', key: 'fail.notFound.resource', extras: {} }],
    extras: {},
  })),
]

const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.constantFrom(
    ...hostilePieces,
    '',
    '..',
    '__proto__',
    'constructor',
    uuid,
    uuid.toUpperCase(),
    '1e999',
    'x'.repeat(3000),
  ),
)
const value = fc.oneof(
  text,
  fc.jsonValue({ depthSize: 'small' }),
  fc.constantFrom<unknown>(null, [], {}, 0, -0, 1e300, true, 'in_progress', 'completed', 'failed'),
)

interface Mutation {
  readonly place: number
  readonly how: 'drop' | 'replace' | 'rename' | 'repeat'
  readonly name: string
  readonly value: unknown
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(20),
  how: fc.constantFrom('drop', 'replace', 'rename', 'repeat'),
  name: text,
  value,
})

/** Every object and array of a JSON value, itself included. */
function holders(json: unknown): (Record<string, unknown> | unknown[])[] {
  if (typeof json !== 'object' || json === null) return []
  return [json as Record<string, unknown>, ...Object.values(json).flatMap(holders)]
}

function mutate(json: unknown, { place, how, name, value: other }: Mutation): void {
  const places = holders(json).flatMap((holder) =>
    Object.keys(holder).map((key) => [holder, key] as const),
  )
  const chosen = places[place % Math.max(1, places.length)]
  if (!chosen) return
  const [holder, key] = chosen
  const inner = (holder as Record<string, unknown>)[key]
  // A member named __proto__ is to be one.
  const put = (at: string, given: unknown): unknown =>
    Object.defineProperty(holder, at, {
      value: given,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  if (how === 'replace') put(key, other)
  else if (how === 'repeat') put(key, [inner, inner])
  else {
    Reflect.deleteProperty(holder, key)
    if (how === 'rename' && !Array.isArray(holder)) put(name, inner)
  }
}

const mutated = fc
  .tuple(fc.constantFrom(...shapes), fc.array(mutation, { maxLength: 2 }))
  .map(([shape, mutations]) => {
    const json = structuredClone(shape)
    for (const one of mutations) mutate(json, structuredClone(one))
    return JSON.stringify(json)
  })

const body: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  { weight: 8, arbitrary: mutated },
  { weight: 2, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '[', 'null', '"', '<html>', '\ufeff{}', '[1'.repeat(3000)),
  },
)

const headers = fc.dictionary(
  fc.constantFrom('content-type', 'location', 'retry-after', 'date', 'x-note', 'content-language'),
  fc.oneof(
    fc.constantFrom(
      'application/json',
      'text/html',
      '0',
      '1',
      '99999',
      'https://elsewhere.example/',
      '',
      '-1',
      'x',
    ),
    fc.stringMatching(/^[\x21-\x7e\x80-\xff]{0,40}$/),
  ),
  { maxKeys: 3 },
)

const status = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(200, 202, 400, 401, 403, 404, 409, 410, 413, 422, 500, 507),
  },
  { weight: 1, arbitrary: fc.constantFrom(204, 301, 307, 304, 429, 503) },
  { weight: 1, arbitrary: fc.integer({ min: 200, max: 999 }) },
)

const framing = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<Framing>('length', 'chunked') },
  { weight: 1, arbitrary: fc.constantFrom<Framing>(...framings) },
)

export const reply: fc.Arbitrary<Reply> = fc.record({
  status,
  headers,
  body,
  framing,
  delayMs: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.nat(30)),
})
